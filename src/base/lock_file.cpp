#include "base/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace aqueduck {
namespace {

// Whoever has just locked it may not have written its number yet.
std::string holder_of(int descriptor) {
  char text[32];
  const ssize_t got = ::pread(descriptor, text, sizeof text, 0);
  long pid = 0;
  if (got <= 0 || std::from_chars(text, text + got, pid).ec != std::errc{} || pid <= 0) return "another process";
  return pid == ::getpid() ? "this process" : fmt::format("process {}", pid);
}

}  // namespace

Result<bool> lock_for_writing(int descriptor, const std::filesystem::path& path) {
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) return fail(system_error(errno, "lock", path));
  }
  return true;
}

Result<LockFile> LockFile::take(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file.open()) return fail(system_error(errno, "open", path));
  AQ_ASSIGN(const bool mine, lock_for_writing(file.get(), path));
  if (!mine) return fail(ErrorKind::conflict, "{} holds {}", holder_of(file.get()), path.string());
  if (::ftruncate(file.get(), 0) != 0) return fail(system_error(errno, "write", path));
  AQ_TRY(write_all(file.get(), fmt::format("{}\n", ::getpid()), path));
  return LockFile(std::move(file));
}

}  // namespace aqueduck
