#pragma once

#include <filesystem>
#include <string>

#include "base/lock_file.h"
#include "base/result.h"
#include "component/token.h"

namespace aqueduck::pipeline {

/// What outlives a restart and has no better place: the decoder's schema, the source's resolved start positions, and,
/// for sinks that hold no token, the acknowledged positions. One file, `state.json`, replaced as a whole; format in
/// docs/internals/state.md. One thread.
class StateFile {
 public:
  static constexpr int kVersion = 1;

  /// Reads the folder's file if there is one. Kind conflict: it belongs to another pipeline, is of a later version or
  /// damaged. An empty `folder` keeps everything in memory only.
  static Result<StateFile> open(const std::filesystem::path& folder, const std::string& pipeline);

  std::string decoder_schema;
  Positions starts;
  Positions acknowledged;

  /// Durable when it returns.
  Result<void> save() const;
  bool kept() const { return !folder_.empty(); }

 private:
  std::filesystem::path folder_;
  std::string pipeline_;
};

/// Keeps a second run out of a state folder for as long as it lives; an empty `folder` needs no lock. Kind conflict: it
/// is in use, and by whom.
Result<LockFile> lock_state(const std::filesystem::path& folder);

}  // namespace aqueduck::pipeline
