#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace aqueduck {

/// The folder where one writer puts files that aren't committed, under a lock that lives as long as the writer: what a
/// dead one left can be told from what a stopped one still needs. One thread.
class Staging {
 public:
  explicit Staging(std::filesystem::path own) : own_(std::move(own)) {}

  /// Takes a new name and its lock; does nothing where that was done.
  Result<void> enter();
  /// Gives up the name; removes the folder, unless files in it may have been committed.
  void leave(bool keep_files);

  const std::string& writer() const { return writer_; }
  /// Relative to the pipeline's folder: a path that hasn't been given out yet.
  std::string next_name();
  std::filesystem::path whole(const std::string& name) const { return own_ / name; }
  /// The names of the files survive a crash.
  Result<void> sync() const { return sync_folder(own_ / writer_); }
  void remove(const std::string& name) const;

  /// Locks of writers that are gone, to be held while their files are removed.
  struct Orphan {
    std::string writer;
    Descriptor lock;
  };
  Result<std::vector<Orphan>> orphans() const;
  void remove(const Orphan& orphan) const;

 private:
  std::filesystem::path own_;
  std::string writer_;
  Descriptor lock_;
  std::uint64_t next_ = 0;
};

}  // namespace aqueduck
