#include <algorithm>

#include "columnar/ipc.h"
#include "columnar/slice.h"
#include "connectors/file/file_bytes.h"
#include "connectors/file/part_reader.h"
#include "sql/database.h"

namespace aqueduck {

namespace {

std::string sql_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

Chunk chunk_of(const NamedFile& file, RecordBatch batch, std::uint64_t next) {
  Chunk chunk;
  chunk.next[file.name] = std::to_string(next);
  chunk.data = std::move(batch);
  return chunk;
}

/// Hands a batch out in pieces.
class Pieces {
 public:
  bool empty() const { return from_ >= batch_.rows(); }
  void put(RecordBatch batch, std::int64_t from) {
    batch_ = std::move(batch);
    from_ = from;
  }
  RecordBatch take(std::size_t most) {
    const std::int64_t left = batch_.rows() - from_;
    const std::int64_t count = most < static_cast<std::size_t>(left) ? static_cast<std::int64_t>(most) : left;
    RecordBatch piece = slice(batch_, from_, from_ + count);
    from_ += count;
    if (empty()) put({}, 0);
    return piece;
  }

 private:
  RecordBatch batch_;
  std::int64_t from_ = 0;
};

Error located(const NamedFile& file, Error error) { return with_context(std::move(error), file.path.string()); }

/// Rows of a Parquet file, through the engine.
class ParquetReader final : public PartReader {
 public:
  ParquetReader(NamedFile file, std::uint64_t row, std::uint64_t size)
      : file_(std::move(file)), row_(row), size_(size) {}

  Result<void> open(sql::Database& database) {
    AQ_ASSIGN(session_, database.connect());
    auto rows =
        session_->query(fmt::format("SELECT * FROM read_parquet({}) OFFSET {}", sql_text(file_.path.string()), row_));
    if (!rows) return fail(located(file_, std::move(rows).error().error));
    rows_ = std::move(*rows);
    return {};
  }
  Result<std::optional<Chunk>> next(std::size_t most) override {
    if (pieces_.empty() && rows_ != nullptr) {
      auto batch = rows_->next();
      if (!batch) return fail(located(file_, std::move(batch).error().error));
      if (batch->rows() == 0) rows_.reset();
      pieces_.put(std::move(*batch), 0);
    }
    if (pieces_.empty()) return std::nullopt;
    RecordBatch piece = pieces_.take(most);
    row_ += static_cast<std::uint64_t>(piece.rows());
    return chunk_of(file_, std::move(piece), row_);
  }
  std::uint64_t raw_bytes() const override { return rows_ == nullptr ? size_ : 0; }

 private:
  NamedFile file_;
  std::uint64_t row_;
  std::uint64_t size_;
  std::unique_ptr<sql::Session> session_;
  std::unique_ptr<sql::Rows> rows_;
  Pieces pieces_;
};

/// Rows of an Arrow IPC file or stream.
class ArrowReader final : public PartReader {
 public:
  ArrowReader(NamedFile file, std::uint64_t row) : file_(std::move(file)), skip_(row) {}

  Result<void> open() {
    AQ_ASSIGN(auto bytes, FileBytes::open(file_.path));
    bytes_ = std::make_shared<FileBytes>(std::move(bytes));
    auto reader = IpcReader::open([bytes = bytes_](std::span<char> into) -> Result<std::size_t> {
      std::size_t size = 0;
      while (size < into.size()) {
        AQ_ASSIGN(const std::size_t got, bytes->read(into.subspan(size)));
        if (got == 0) break;
        size += got;
      }
      return size;
    });
    if (!reader) return fail(located(file_, std::move(reader).error()));
    reader_.emplace(std::move(*reader));
    return {};
  }
  Result<std::optional<Chunk>> next(std::size_t most) override {
    while (pieces_.empty()) {
      auto batch = reader_->next();
      if (!batch) return fail(located(file_, std::move(batch).error()));
      if (batch->rows() == 0) break;
      const auto rows = static_cast<std::uint64_t>(batch->rows());
      const std::uint64_t head = std::min(rows, skip_ > row_ ? skip_ - row_ : 0);
      row_ += head;
      pieces_.put(std::move(*batch), static_cast<std::int64_t>(head));
    }
    if (!pieces_.empty()) {
      RecordBatch piece = pieces_.take(most);
      row_ += static_cast<std::uint64_t>(piece.rows());
      return chunk_of(file_, std::move(piece), row_);
    }
    if (skip_ > row_) {
      return fail(ErrorKind::conflict, "{} has {} rows, but the stored position is {}: it was replaced",
                  file_.path.string(), row_, skip_);
    }
    return std::nullopt;
  }
  std::uint64_t raw_bytes() const override { return bytes_->raw_bytes(); }

 private:
  NamedFile file_;
  std::uint64_t skip_;
  std::uint64_t row_ = 0;
  std::shared_ptr<FileBytes> bytes_;
  std::optional<IpcReader> reader_;
  Pieces pieces_;
};

}  // namespace

Result<std::unique_ptr<PartReader>> read_parquet(const NamedFile& file, const ComponentContext& context,
                                                 const std::string& position) {
  if (context.database == nullptr) return fail(ErrorKind::internal, "no engine to read {} with", file.name);
  AQ_ASSIGN(const std::uint64_t row, parse_position(file, position));
  std::error_code error;
  const auto size = std::filesystem::file_size(file.path, error);
  auto reader = std::make_unique<ParquetReader>(file, row, error ? 0 : size);
  AQ_TRY(reader->open(*context.database));
  return reader;
}

Result<std::unique_ptr<PartReader>> read_arrow(const NamedFile& file, const std::string& position) {
  AQ_ASSIGN(const std::uint64_t row, parse_position(file, position));
  auto reader = std::make_unique<ArrowReader>(file, row);
  AQ_TRY(reader->open());
  return reader;
}

}  // namespace aqueduck
