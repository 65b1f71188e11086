#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "pipeline/stats_snapshot.h"
#include "pipeline/worker.h"
#include "sql/database.h"

namespace aqueduck::pipeline {

/// Lets a test put its own components in the place of the file's.
struct Overrides {
  std::function<std::unique_ptr<Source>(const ComponentContext&)> source;
  std::function<std::unique_ptr<Sink>(const ComponentContext&)> sink;
  std::function<std::unique_ptr<Sink>(const ComponentContext&)> dead_letter;
  Clock* clock = nullptr;
};

/// A pipeline's engine after `setup:`, and the session that ran it (which has its temporary tables and settings).
struct Engine {
  std::unique_ptr<sql::Database> database;
  std::unique_ptr<sql::Session> session;
};
tl::expected<Engine, Failure> open_engine(const Definition& definition);

/// Runs a pipeline in this process: the engine, `setup:`, the worker, and the deadline of a stop. Owned by the command;
/// run() blocks, request_drain() and stats() are for other threads.
class Runner {
 public:
  Runner(const Definition& definition, RunLimits limits, Overrides overrides = {});
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Opens the engine, runs `setup:`, makes the components, parses the SQL and, where columns are known, plans it. All
  /// that `check` needs; no source or sink is opened.
  tl::expected<void, Failure> prepare();
  /// prepare() first. Blocks until the pipeline ends.
  tl::expected<void, Failure> run();
  /// Deliver what was read and stop, within the definition's `drain`. Any thread, any number of times.
  void request_drain();

  const Stats& stats() const { return stats_; }
  /// Every worker's counters together. Any thread.
  StatsSnapshot snapshot() const { return pipeline::snapshot(stats_); }
  /// Where the source's data end now, of the partitions that are ours. Any thread, blocks for as long as the source's
  /// peer does, never the worker. Kind cancelled: not running, or the peer is being waited for.
  Result<Positions> end_positions() const;
  /// The columns that go to the sink, where they are known before the first batch; null otherwise.
  std::shared_ptr<const Schema> output() const;
  const ComponentContext& context() const { return context_; }

 private:
  const Definition& definition_;
  RunLimits limits_;
  Overrides overrides_;
  Stats stats_;
  StateFile state_;
  std::unique_ptr<sql::Database> database_;
  ComponentContext context_;
  std::unique_ptr<Transform> transform_;
  std::unique_ptr<Worker> worker_;
  std::atomic<const Worker*> started_{nullptr};  ///< worker_, for other threads
  std::shared_ptr<const Schema> output_;
  std::stop_source drain_;
  std::stop_source abort_;
};

/// One sentence: what the pipeline guarantees, and why.
std::string guarantee(const Definition& definition);

}  // namespace aqueduck::pipeline
