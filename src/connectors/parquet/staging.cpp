#include "connectors/parquet/staging.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>

namespace aqueduck {
namespace {

constexpr std::string_view kPrefix = "tmp-";
constexpr std::string_view kLock = ".lock";

std::string fresh_name() {
  std::random_device random;
  return fmt::format("{}{}-{:08x}{:08x}", kPrefix, ::getpid(), random(), random());
}

// False where somebody took the unlocked file for a dead writer's and removed it.
bool still_there(int descriptor) {
  struct stat found{};
  return ::fstat(descriptor, &found) == 0 && found.st_nlink > 0;
}

}  // namespace

Result<void> Staging::enter() {
  if (lock_.open()) return {};
  for (;;) {
    const std::string name = fresh_name();
    const auto path = own_ / (name + std::string(kLock));
    Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!lock.open()) {
      if (errno == EEXIST) continue;
      return fail(system_error(errno, "create", path));
    }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) continue;
      return fail(system_error(errno, "lock", path));
    }
    if (!still_there(lock.get())) continue;
    AQ_TRY(make_folders(own_ / name));
    AQ_TRY(sync_folder(own_));
    lock_ = std::move(lock);
    writer_ = name;
    next_ = 0;
    return {};
  }
}

void Staging::leave(bool keep_files) {
  if (!lock_.open()) return;
  if (!keep_files) remove(Orphan{writer_, {}});
  lock_.close();
  writer_.clear();
}

std::string Staging::next_name() { return fmt::format("{}/{}", writer_, ++next_); }

void Staging::remove(const std::string& name) const {
  std::error_code ignored;
  std::filesystem::remove_all(own_ / name, ignored);
}

Result<std::vector<Staging::Orphan>> Staging::orphans() const {
  std::vector<Orphan> found;
  std::error_code error;
  auto entry = std::filesystem::directory_iterator(own_, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kLock)) continue;
    Descriptor lock(::open(entry->path().c_str(), O_RDWR | O_CLOEXEC));
    if (!lock.open() || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
    found.push_back({name.substr(0, name.size() - kLock.size()), std::move(lock)});
  }
  if (error) return fail(system_error(error.value(), "list", own_));
  return found;
}

void Staging::remove(const Orphan& orphan) const {
  std::error_code error;
  std::filesystem::remove(own_ / (orphan.writer + ".next"), error);
  std::filesystem::remove_all(own_ / orphan.writer, error);
  // The lock goes last: without it nobody would look for the folder.
  if (!error) std::filesystem::remove(own_ / (orphan.writer + std::string(kLock)), error);
}

}  // namespace aqueduck
