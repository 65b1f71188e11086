#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace aqueduck {

/// The whole content; an error of kind io that names the path and the reason, kind limit past `max_bytes`.
Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t max_bytes = 1ULL << 30U);

/// Puts `content` in the place of a file such that a crash at any point leaves the old or the new one, whole: written
/// beside it, synced, renamed, folder synced. Kind limit where the disk is full.
Result<void> replace_file(const std::filesystem::path& path, std::string_view content);

/// Absolute, links resolved as far as the path is there: two paths of one file compare equal.
std::filesystem::path resolved_path(const std::filesystem::path& path);

/// Makes renames, links and deletions within a folder survive a crash.
Result<void> sync_folder(const std::filesystem::path& folder);

/// Makes a folder and those above it; kind io.
Result<void> make_folders(const std::filesystem::path& folder);

/// The error of a failed system call (errno): ENOSPC, EDQUOT and EFBIG are of kind limit, EACCES, EPERM and EROFS
/// denied, EPIPE (its reader has gone) cancelled, else io.
Error system_error(int number, std::string_view what, const std::filesystem::path& path);

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

/// Writes all of it, however many calls it takes.
Result<void> write_all(int fd, std::string_view content, const std::filesystem::path& path);

}  // namespace aqueduck
