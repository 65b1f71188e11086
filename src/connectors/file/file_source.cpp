#include "connectors/file/file_source.h"

#include <condition_variable>
#include <mutex>

namespace aqueduck {

namespace {

constexpr std::chrono::milliseconds kPollInterval{50};

/// Sleeps until the time has come or a stop is requested.
void wait_until(std::chrono::steady_clock::time_point time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_until(lock, stop, time, [] { return false; });
}

std::uint64_t size_of(const NamedFile& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file.path, error);
  return error ? 0 : size;
}

}  // namespace

SourceTraits FileSource::traits() const {
  SourceTraits traits;
  traits.finite = !config_.follow;
  traits.replayable = true;
  traits.total = total_;
  return traits;
}

FileFormat FileSource::format(const NamedFile& file) const {
  return config_.format == FileFormat::automatic ? format_of(file.name) : config_.format;
}

Result<void> FileSource::open() {
  close();
  AQ_ASSIGN(auto all, list_files(config_.path, context_.directory));
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (context_.workers > 1 && static_cast<int>(i % static_cast<std::size_t>(context_.workers)) != context_.worker) {
      continue;
    }
    total += size_of(all[i]);
    files_.push_back(std::move(all[i]));
  }
  if (!config_.follow) total_ = total;
  if (config_.follow && files_.size() > 1) {
    return fail(ErrorKind::config, "'follow' waits at the end of one file, but the paths name {}", files_.size());
  }
  phase_ = Phase::opened;
  return {};
}

Result<void> FileSource::start_at(const Positions& positions) {
  for (const auto& [name, position] : positions) starts_[name] = position;
  phase_ = Phase::reading;
  return {};
}

Result<std::unique_ptr<PartReader>> FileSource::open_part(const NamedFile& file) const {
  const auto stored = starts_.find(file.name);
  const std::string position = stored == starts_.end() ? "0" : stored->second;
  const FileFormat kind = format(file);
  if (kind == FileFormat::parquet) return read_parquet(file, context_, position);
  if (kind == FileFormat::arrow) return read_arrow(file, position);
  return read_lines(file, kind, config_, position);
}

Result<std::optional<Chunk>> FileSource::next_chunk(std::size_t most) {
  while (current_ < files_.size()) {
    if (reader_ == nullptr) {
      AQ_ASSIGN(reader_, open_part(files_[current_]));
    }
    AQ_ASSIGN(auto chunk, reader_->next(most));
    progress_ = finished_bytes_ + reader_->raw_bytes();
    if (chunk || config_.follow) return chunk;
    finished_bytes_ += size_of(files_[current_]);
    progress_ = finished_bytes_;
    reader_.reset();
    ++current_;
  }
  return std::nullopt;
}

Result<SourceEvent> FileSource::read(const ReadLimits& limits) {
  if (phase_ == Phase::opened) {
    phase_ = Phase::assigned;
    Assigned assigned;
    for (const NamedFile& file : files_) assigned.start[file.name] = "0";
    return assigned;
  }
  if (phase_ != Phase::reading) {
    wait_until(limits.deadline, limits.stop);
    return Idle{};
  }
  for (;;) {
    if (limits.stop.stop_requested()) return Idle{};
    AQ_ASSIGN(auto chunk, next_chunk(limits.max_messages));
    if (chunk) return std::move(*chunk);
    if (!config_.follow) return End{};
    const auto now = std::chrono::steady_clock::now();
    if (now >= limits.deadline) return Idle{};
    wait_until(std::min(limits.deadline, now + kPollInterval), limits.stop);
  }
}

Result<Positions> FileSource::position() {
  AQ_ASSIGN(const auto files, list_files(config_.path, context_.directory));
  Positions ends;
  for (const NamedFile& file : files) {
    std::error_code error;
    const auto time = std::filesystem::last_write_time(file.path, error).time_since_epoch().count();
    const bool bytes = !gives_rows(format(file)) && !file.name.ends_with(".gz") && !file.name.ends_with(".zst");
    ends[file.name] = bytes ? std::to_string(size_of(file)) : fmt::format("{} bytes, {}", size_of(file), time);
  }
  return ends;
}

void FileSource::close() {
  reader_.reset();
  files_.clear();
  starts_.clear();
  current_ = 0;
  finished_bytes_ = 0;
  progress_ = 0;
  phase_ = Phase::closed;
}

}  // namespace aqueduck
