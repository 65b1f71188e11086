#include "base/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace aqueduck {
namespace {

// Small pieces are put together: Parquet's come column by column.
constexpr std::size_t kPiece = std::size_t{256} << 10;

}  // namespace

Result<AppendFile> AppendFile::create(std::filesystem::path path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.open()) return fail(system_error(errno, "create", path));
  return AppendFile(std::move(path), std::move(file));
}

std::string_view AppendFile::write(std::string_view bytes) {
  refused_ = 0;
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      refused_ = errno;
      break;
    }
    written_ += static_cast<std::uint64_t>(count);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return bytes;
}

void AppendFile::append(std::string_view bytes) {
  if (refused_ == 0 && waiting_.size() + bytes.size() >= kPiece) {
    waiting_.erase(0, waiting_.size() - write(waiting_).size());
    if (refused_ == 0) bytes = write(bytes);
  }
  waiting_ += bytes;
}

Result<void> AppendFile::flush() {
  if (unsynced_) return fail(ErrorKind::io, "{} could not be synced: what it holds isn't known", path_.string());
  waiting_.erase(0, waiting_.size() - write(waiting_).size());
  if (refused_ != 0) return fail(system_error(refused_, "write", path_));
  waiting_ = {};  // many are open at once, most of them idle
  return {};
}

Result<void> AppendFile::sync() {
  AQ_TRY(flush());
  if (::fsync(file_.get()) != 0) {
    Error error = system_error(errno, "sync", path_);
    error.kind = ErrorKind::io;
    unsynced_ = true;
    return fail(std::move(error));
  }
  return {};
}

}  // namespace aqueduck
