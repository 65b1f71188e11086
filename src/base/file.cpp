#include "base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace aqueduck {

Error system_error(int number, std::string_view what, const std::filesystem::path& path) {
  ErrorKind kind = ErrorKind::io;
  if (number == ENOSPC || number == EDQUOT || number == EFBIG) kind = ErrorKind::limit;
  if (number == EPIPE) kind = ErrorKind::cancelled;
  if (number == EACCES || number == EPERM || number == EROFS) kind = ErrorKind::denied;
  return make_error(kind, "cannot {} {}: {}", what, path.string(),
                    std::strerror(number));  // NOLINT(concurrency-mt-unsafe)
}

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}
Descriptor::~Descriptor() { close(); }
void Descriptor::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<void> write_all(int fd, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return fail(system_error(errno, "write", path));
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return fail(system_error(errno, "open", path));
  std::string content;
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(system_error(errno, "read", path));
    if (got == 0) return content;
    if (content.size() + static_cast<std::size_t>(got) > max_bytes) {
      return fail(ErrorKind::limit, "{} is larger than {} bytes", path.string(), max_bytes);
    }
    content.append(buffer, static_cast<std::size_t>(got));
  }
}

std::filesystem::path resolved_path(const std::filesystem::path& path) {
  std::error_code error;
  auto out = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  return error ? path.lexically_normal() : out;
}

Result<void> sync_folder(const std::filesystem::path& folder) {
  const Descriptor opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.open()) return fail(system_error(errno, "open", folder));
  if (::fsync(opened.get()) != 0) return fail(system_error(errno, "sync", folder));
  return {};
}

Result<void> make_folders(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(system_error(error.value(), "create folder", folder));
  return {};
}

Result<void> replace_file(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::path aside = path;
  aside += ".new";
  {
    const Descriptor file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file.open()) return fail(system_error(errno, "create", aside));
    AQ_TRY(write_all(file.get(), content, aside));
    if (::fsync(file.get()) != 0) return fail(system_error(errno, "sync", aside));
  }
  if (::rename(aside.c_str(), path.c_str()) != 0) return fail(system_error(errno, "rename to", path));
  return sync_folder(path.parent_path());
}

}  // namespace aqueduck
