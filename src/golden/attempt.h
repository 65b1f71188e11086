#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "component/registry.h"
#include "component/rehearsal.h"
#include "golden/case.h"
#include "golden/input.h"
#include "golden/memory_sink.h"
#include "pipeline/worker.h"

namespace aqueduck::golden {

/// What outlives the runs of one case: its sinks' stores, what a consumer group would keep, and a folder for the state
/// and, with `sink: real`, for a copy of the case. Removed with it. One thread.
class Workspace {
 public:
  static Result<std::unique_ptr<Workspace>> make(const Case& test);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  const std::filesystem::path& folder() const { return folder_; }  ///< where the pipeline's file is
  std::filesystem::path state() const { return root_ / "state"; }
  /// Where a case may let its pipeline write: `${SCRATCH}`.
  std::filesystem::path scratch() const { return root_ / "case"; }
  MemoryStore rows;
  MemoryStore dead_letters;
  Positions group;

 private:
  explicit Workspace(std::filesystem::path root) : root_(std::move(root)) {}

  std::filesystem::path root_;
  std::filesystem::path folder_;
};

/// How one run of a case's pipeline ended.
struct Attempt {
  std::optional<pipeline::Failure> failure;
  std::uint64_t messages = 0;
  SinkContents rows;                     ///< what the sink held in the end, or the case's query over it
  SinkContents dead_letters;             ///< … and the dead-letter sink
  bool keeps_state = false;              ///< the pipeline's file has a `state:`
  std::shared_ptr<const Schema> output;  ///< columns that go to the sink, where known without rows
};

/// Runs the pipeline once, in this thread; `input` is null where the pipeline's own source is to run. `messages_before`
/// were settled by an earlier run. The error is one of the case's own, like a run that takes too long.
Result<Attempt> run_once(const Case& test, const Input* input, Workspace& workspace, const Registry& registry,
                         StopPlan& plan, std::uint64_t messages_before = 0);

}  // namespace aqueduck::golden
