#include "connectors/parquet/partition_files.h"

namespace aqueduck {
namespace {

std::string_view word(ParquetCompression compression) {
  switch (compression) {
    case ParquetCompression::zstd:
      return "zstd";
    case ParquetCompression::snappy:
      return "snappy";
    case ParquetCompression::gzip:
      return "gzip";
    case ParquetCompression::lz4:
      return "lz4_raw";
    case ParquetCompression::none:
      break;
  }
  return "uncompressed";
}

}  // namespace

Result<void> PartitionFiles::write(sql::Session& session, const RecordBatch& rows) {
  AQ_TRY(staging_.enter());
  AQ_TRY(settle());  // what an earlier call left
  AQ_TRY(fit_format(session, rows));
  AQ_ASSIGN(const auto parts, format_->split(rows));
  // From here on the rows are taken: what fails now fails again, and is answered, at the next call.
  writes_ += 1;
  seen_rows_ += static_cast<std::uint64_t>(rows.rows());
  seen_bytes_ += byte_size(rows);
  for (const auto& part : parts) take(part);
  (void)settle();
  recount();
  return {};
}

Result<void> PartitionFiles::fit_format(sql::Session& session, const RecordBatch& rows) {
  if (format_ != nullptr && (rows.schema == schema_ || rows.schema->fingerprint() == schema_->fingerprint())) return {};
  for (auto open = open_.begin(); open != open_.end();) open = close(open);
  AQ_TRY(settle());
  sql::ParquetOptions options;
  options.partition_by = config_.partition_by;
  options.compression = word(config_.compression);
  options.row_group_rows = config_.row_group_rows.value;
  AQ_ASSIGN(format_, session.parquet(rows.schema, options));
  schema_ = rows.schema;
  return {};
}

void PartitionFiles::take(const sql::ParquetPart& part) {
  auto found = open_.find(part.folder);
  if (found != open_.end() && found->second.file->rows() + part.rows > config_.roll.rows.value) {
    close(found);
    found = open_.end();
  }
  if (found == open_.end()) {
    const std::string path = staging_.next_name();
    found = open_.emplace(part.folder, Open{format_->file(staging_.whole(path)), path, part.folder, 0}).first;
  }
  found->second.file->append(part);
  found->second.used = writes_;
  if (row_bytes_ > 0 && size(*found->second.file) >= config_.roll.bytes.value) close(found);
}

PartitionFiles::OpenFiles::iterator PartitionFiles::close(OpenFiles::iterator open) {
  closing_.push_back(std::move(open->second));
  return open_.erase(open);
}

Result<void> PartitionFiles::finish_closing() {
  while (!closing_.empty()) {
    Open& next = closing_.front();
    AQ_TRY(next.file->finish());
    finished_.push_back({next.path, next.folder, next.file->bytes()});
    finished_rows_ += next.file->rows();
    finished_bytes_ += next.file->bytes();
    closing_.pop_front();
  }
  return {};
}

Result<void> PartitionFiles::settle() {
  AQ_TRY(finish_closing());
  for (auto& [folder, open] : open_) AQ_TRY(settle(open));
  for (;;) {
    std::uint64_t memory = 0;
    Open* largest = nullptr;
    for (auto& [folder, open] : open_) {
      memory += open.file->memory();
      if (largest == nullptr || open.file->memory() > largest->file->memory()) largest = &open;
    }
    if (memory <= config_.buffer.value) return {};
    largest->file->end_row_group();
    AQ_TRY(settle(*largest));
  }
}

Result<void> PartitionFiles::settle(Open& open) {
  const bool before = open.file->opened();
  AQ_TRY(open.file->settle());
  if (before || !open.file->opened()) return {};
  std::uint64_t count = 0;
  auto oldest = open_.end();
  for (auto other = open_.begin(); other != open_.end(); ++other) {
    if (!other->second.file->opened()) continue;
    count += 1;
    if (&other->second == &open) continue;
    if (oldest == open_.end() || other->second.used < oldest->second.used) oldest = other;
  }
  if (count <= config_.open_files.value) return {};
  close(oldest);
  return finish_closing();
}

Result<void> PartitionFiles::finish_all() {
  for (auto open = open_.begin(); open != open_.end();) open = close(open);
  auto done = finish_closing();
  recount();
  return done;
}

std::uint64_t PartitionFiles::size(const sql::ParquetFile& file) const {
  return file.bytes() + static_cast<std::uint64_t>(static_cast<double>(file.waiting_rows()) * row_bytes_);
}

void PartitionFiles::recount() {
  std::uint64_t rows = finished_rows_;
  std::uint64_t bytes = finished_bytes_;
  std::uint64_t waiting = 0;
  std::uint64_t unfinished = 0;
  const auto add = [&](const Open& open) {
    rows += open.file->rows() - open.file->waiting_rows();
    waiting += open.file->waiting_rows();
    unfinished += open.file->bytes();
  };
  for (const auto& [folder, open] : open_) add(open);
  for (const Open& open : closing_) add(open);
  bytes += unfinished;
  if (rows > 0) {
    row_bytes_ = static_cast<double>(bytes) / static_cast<double>(rows);
  } else if (seen_rows_ > 0) {
    row_bytes_ = static_cast<double>(seen_bytes_) / static_cast<double>(seen_rows_);
  }
  bytes_ = unfinished + static_cast<std::uint64_t>(static_cast<double>(waiting) * row_bytes_);
  for (const Finished& file : finished_) bytes_ += file.bytes;
}

void PartitionFiles::release() {
  finished_.clear();
  recount();
}

void PartitionFiles::drop(bool keep_finished) {
  const auto remove = [&](Open& open) {
    open.file.reset();
    staging_.remove(open.path);
  };
  for (auto& [folder, open] : open_) remove(open);
  for (Open& open : closing_) remove(open);
  open_.clear();
  closing_.clear();
  if (!keep_finished) {
    for (const Finished& file : finished_) staging_.remove(file.path);
  }
  release();
}

void PartitionFiles::disconnect() {
  format_.reset();
  schema_.reset();
}

}  // namespace aqueduck
