#include "connectors/parquet/commit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <set>

#include "base/failpoint.h"
#include "base/file.h"
#include "base/log.h"

namespace aqueduck {
namespace {

constexpr std::uint64_t kKept = 1'000;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 28;

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Result<void> write_synced(const std::filesystem::path& path, std::string_view content) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.open()) return fail(system_error(errno, "create", path));
  AQ_TRY(write_all(file.get(), content, path));
  if (::fsync(file.get()) != 0) return fail(system_error(errno, "sync", path));
  return {};
}

}  // namespace

std::filesystem::path CommitLog::path_of(std::uint64_t number) const { return own_ / fmt::format("{}.json", number); }

Result<std::optional<std::uint64_t>> CommitLog::newest() const {
  std::error_code error;
  std::uint64_t most = 0;
  auto entry = std::filesystem::directory_iterator(own_, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    most = std::max(most, manifest_number(entry->path().filename().string()));
  }
  if (error) return fail(system_error(error.value(), "list", own_));
  return most == 0 ? std::nullopt : std::optional(most);
}

Result<std::optional<Manifest>> CommitLog::settle() {
  for (;;) {
    AQ_ASSIGN(const auto number, newest());
    if (settled_ && number.value_or(0) < settled_->number) {
      return fail(ErrorKind::conflict, "commits in {} have vanished: {}.json was there", own_.string(),
                  settled_->number);
    }
    if (!number) return std::optional<Manifest>();
    if (settled_ && settled_->number == *number) return settled_;
    const auto path = path_of(*number);
    auto text = read_file(path, kLargest);
    if (!text) {
      if (!is_there(path)) continue;  // overtaken and removed meanwhile: a newer one is there
      return fail(std::move(text).error());
    }
    auto manifest = Manifest::from_json(*text);
    if (!manifest) return fail(with_context(std::move(manifest).error(), path.string() + " is damaged"));
    if (manifest->number != *number) {
      return fail(ErrorKind::conflict, "{} says that it is number {}: it has been copied or renamed", path.string(),
                  manifest->number);
    }
    AQ_TRY(place(*manifest));
    settled_ = std::move(*manifest);
    return settled_;
  }
}

Result<CommitLog::Outcome> CommitLog::add(const Manifest& manifest) {
  const auto aside = own_ / (manifest.writer + ".next");
  AQ_TRY(write_synced(aside, manifest.to_json()));
  const auto path = path_of(manifest.number);
  failpoint("parquet.before_link");
  const int linked = ::link(aside.c_str(), path.c_str()) == 0 ? 0 : errno;
  (void)::unlink(aside.c_str());
  if (linked == EEXIST) return Outcome{Added::taken, {}};
  if (linked == EIO) return Outcome{Added::unfinished, system_error(linked, "commit to", path)};
  if (linked != 0) return fail(system_error(linked, "commit to", path));
  failpoint("parquet.after_link");
  const auto unfinished = [](Error error) { return Outcome{Added::unfinished, std::move(error)}; };
  if (auto synced = sync_folder(own_); !synced) return unfinished(std::move(synced).error());
  // Where this number was used and removed long ago, the link proves nothing.
  auto last = newest();
  if (!last) return unfinished(std::move(last).error());
  if (last->value_or(0) > manifest.number) {
    (void)::unlink(path.c_str());
    return Outcome{Added::overtaken, {}};
  }
  failpoint("parquet.before_rename");
  if (auto placed = place(manifest); !placed) return unfinished(std::move(placed).error());
  settled_ = manifest;
  prune(manifest.number);
  return Outcome{};
}

Result<void> CommitLog::place(const Manifest& manifest) const {
  std::set<std::filesystem::path> touched;
  for (const auto& move : manifest.moves) {
    AQ_TRY(place_one(move));
    failpoint("parquet.after_rename");
    for (auto folder = std::filesystem::path(move.to).parent_path();; folder = folder.parent_path()) {
      touched.insert(output_ / folder);
      if (folder.empty()) break;
    }
  }
  for (const auto& folder : touched) AQ_TRY(sync_folder(folder));
  return {};
}

Result<void> CommitLog::place_one(const Manifest::Move& move) const {
  const auto from = own_ / move.from;
  const auto to = output_ / move.to;
  AQ_TRY(make_folders(to.parent_path()));
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  if (errno != ENOENT) return fail(system_error(errno, "rename " + from.string() + " to", to));
  // Files leave the pipeline's folder in no other way than by this rename: it was done before.
  if (!is_there(to)) log::warn("{} has been removed since it was committed", to.string());
  return {};
}

void CommitLog::prune(std::uint64_t newest) const {
  std::error_code error;
  if (newest <= kKept) return;
  if (newest % kKept != 0) {
    std::filesystem::remove(path_of(newest - kKept), error);
    return;
  }
  // Now and then, those that a crash left.
  auto entry = std::filesystem::directory_iterator(own_, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const auto number = manifest_number(entry->path().filename().string());
    std::error_code ignored;
    if (number != 0 && number <= newest - kKept) std::filesystem::remove(entry->path(), ignored);
  }
}

}  // namespace aqueduck
