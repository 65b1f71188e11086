#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace aqueduck {

/// A new file that only grows. What the disk doesn't take waits in memory, in order: append() never fails, and flush()
/// may be called again after an error, until there is room. For writers that can't be stopped in the middle of a write
/// and go on later. One thread.
class AppendFile {
 public:
  /// Empties what stands there.
  static Result<AppendFile> create(std::filesystem::path path);

  void append(std::string_view bytes);
  /// Writes what waits; kind limit where the disk is full.
  Result<void> flush();
  /// Flushes, and waits until it is on the disk. A failed sync can't be repeated (the kernel may have dropped the bytes
  /// and say yes the next time): from then on every call fails, never with kind limit.
  Result<void> sync();

  /// Bytes appended, whether they are written or wait.
  std::uint64_t size() const { return written_ + waiting_.size(); }
  std::uint64_t waiting() const { return waiting_.size(); }

 private:
  AppendFile(std::filesystem::path path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  /// What is left of `bytes`; `refused_` says why.
  std::string_view write(std::string_view bytes);

  std::filesystem::path path_;
  Descriptor file_;
  std::string waiting_;
  std::uint64_t written_ = 0;
  int refused_ = 0;  // errno of the write that failed last; none is tried again before flush()
  bool unsynced_ = false;
};

}  // namespace aqueduck
