#pragma once

#include <filesystem>

#include "base/file.h"

namespace aqueduck {

/// A file that one holder at a time has locked (flock), with its process id in it for whoever comes second. The lock
/// ends with the object or its process, whichever way that ends; the file stays, since removing it would let two
/// holders lock two files of one name. Any thread.
class LockFile {
 public:
  LockFile() = default;

  /// Makes the file where it isn't there and locks it, without waiting. Kind conflict: somebody has it, in this process
  /// or another, which the message names.
  static Result<LockFile> take(const std::filesystem::path& path);

 private:
  explicit LockFile(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

/// Locks an open file against other writers that do the same, until the descriptor is closed. False: somebody has it.
Result<bool> lock_for_writing(int descriptor, const std::filesystem::path& path);

}  // namespace aqueduck
