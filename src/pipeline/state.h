#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "base/lock_file.h"
#include "base/result.h"
#include "component/token.h"

namespace aqueduck::pipeline {

/// What outlives a restart and has no better place: the decoder's schema, the source's resolved start positions, and,
/// for sinks that hold no token, the acknowledged positions. One file, `state.json`, replaced as a whole; format in
/// docs/internals/state.md. Owned by the run; thread-safe. A default one keeps everything in memory only.
class StateFile {
 public:
  static constexpr int kVersion = 1;

  StateFile() = default;
  /// Reads the folder's file if there is one. Kind conflict: it belongs to another pipeline, is of a later version or
  /// damaged. An empty `folder` keeps everything in memory only.
  static Result<std::unique_ptr<StateFile>> open(const std::filesystem::path& folder, const std::string& pipeline);

  std::string decoder_schema() const;
  /// What earlier runs saved: a partition without one is new since, not just unseen by this run's other workers.
  Positions earlier_starts() const { return earlier_starts_; }
  Positions acknowledged() const;

  /// These are durable when they return.
  Result<void> save_decoder_schema(std::string schema);
  Result<void> save_starts(const Positions& starts);           ///< beside those of other partitions
  Result<void> save_acknowledged(const Positions& positions);  ///< beside those of other partitions
  bool kept() const { return !folder_.empty(); }

 private:
  Result<void> save() const;

  std::filesystem::path folder_;
  std::string pipeline_;
  mutable std::mutex mutex_;
  std::string decoder_schema_;
  Positions starts_;
  Positions earlier_starts_;  // only open() writes it
  Positions acknowledged_;
};

/// Keeps a second run out of a state folder for as long as it lives; an empty `folder` needs no lock. Kind conflict: it
/// is in use, and by whom.
Result<LockFile> lock_state(const std::filesystem::path& folder);

}  // namespace aqueduck::pipeline
