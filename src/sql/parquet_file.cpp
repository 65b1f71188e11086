#include <algorithm>
#include <deque>
#include <duckdb/common/types/column/column_data_collection.hpp>
#include <duckdb/main/client_context.hpp>

#include "base/append_file.h"
#include "sql/append_file_system.h"
#include "sql/engine_error.h"
#include "sql/parquet_format.h"

namespace aqueduck::sql {
namespace {

using duckdb::idx_t;
using Rows = duckdb::ColumnDataCollection;

// Some of a chunk's rows, without the columns after those that are written.
void append_some(Rows& to, duckdb::DataChunk& from, const duckdb::SelectionVector& picked, idx_t count) {
  duckdb::DataChunk some;
  some.InitializeEmpty(to.Types());
  const bool all = count == from.size();
  for (idx_t column = 0; column < to.ColumnCount(); ++column) {
    if (all)
      some.data[column].Reference(from.data[column]);
    else
      some.data[column].Slice(from.data[column], picked, count);
  }
  some.SetCardinality(count);
  to.Append(some);
}

class EngineParquetFile : public ParquetFile {
 public:
  EngineParquetFile(std::shared_ptr<ParquetEncoder> encoder, std::filesystem::path path)
      : encoder_(std::move(encoder)), path_(std::move(path)) {}
  ~EngineParquetFile() override { state_.reset(); }  // it writes into file_

  void append(const ParquetPart& part) override {
    rows_ += part.rows;
    keep(guarded([&]() -> SqlResult<void> {
      take(part);
      return {};
    }));
  }

  void end_row_group() override {
    if (current_ != nullptr && current_->Count() > 0) complete_.push_back(std::move(current_));
    current_.reset();
  }

  Result<void> settle() override {
    if (broken_) return fail(*broken_);
    if (file_) AQ_TRY(file_->flush());
    while (!complete_.empty()) {
      AQ_TRY(open());
      AQ_TRY(encode());
      AQ_TRY(file_->flush());
    }
    return {};
  }

  Result<void> finish() override {
    end_row_group();
    AQ_TRY(settle());
    if (finished_) return {};
    AQ_TRY(open());
    if (state_ != nullptr) {
      keep(guarded([&]() -> SqlResult<void> {
        encoder_->function.copy_to_finalize(context(), *encoder_->bind, *state_);
        return {};
      }));
      if (broken_) return fail(*broken_);
      state_.reset();
    }
    auto synced = file_->sync();
    if (!synced && synced.error().kind != ErrorKind::limit) broken_ = synced.error();
    if (!synced) return synced;
    bytes_ = file_->size();
    file_.reset();
    finished_ = true;
    return {};
  }

  bool opened() const override { return file_ != nullptr; }
  std::uint64_t rows() const override { return rows_; }
  std::uint64_t waiting_rows() const override {
    std::uint64_t sum = current_ == nullptr ? 0 : current_->Count();
    for (const auto& rows : complete_) sum += rows->Count();
    return sum;
  }
  std::uint64_t memory() const override {
    std::uint64_t sum = current_ == nullptr ? 0 : current_->AllocationSize();
    for (const auto& rows : complete_) sum += rows->AllocationSize();
    return sum + (file_ ? file_->waiting() : 0);
  }
  std::uint64_t bytes() const override { return file_ ? file_->size() : bytes_; }

 private:
  duckdb::ClientContext& context() const { return *encoder_->connection->context; }

  // After an error within the engine nobody knows which rows its encoder has.
  void keep(SqlResult<void> done) {
    if (done || broken_) return;
    Error error = std::move(done).error().error;
    if (error.kind == ErrorKind::limit || error.kind == ErrorKind::unavailable) error.kind = ErrorKind::io;
    broken_ = with_context(std::move(error), "cannot write " + path_.string());
  }

  void take(const ParquetPart& part) {
    const EngineChunks& batch = *part.batch;
    std::size_t next = 0;
    for (std::size_t i = 0; i < batch.chunks.size(); ++i) {
      duckdb::DataChunk& chunk = *batch.chunks[i];
      const std::uint32_t start = batch.starts[i];
      duckdb::SelectionVector picked(chunk.size());
      idx_t count = 0;
      if (part.picked.empty()) {
        while (count < chunk.size()) picked.set_index(count, count), ++count;
      }
      while (next < part.picked.size() && part.picked[next] < start + chunk.size()) {
        picked.set_index(count++, part.picked[next++] - start);
      }
      take(chunk, picked, count);
    }
  }

  void take(duckdb::DataChunk& chunk, duckdb::SelectionVector& picked, idx_t count) {
    for (idx_t from = 0; from < count;) {
      if (current_ == nullptr) {
        current_ = duckdb::make_uniq<Rows>(duckdb::Allocator::DefaultAllocator(), encoder_->types);
      }
      const idx_t some = std::min<idx_t>(count - from, encoder_->row_group_rows - current_->Count());
      append_some(*current_, chunk, duckdb::SelectionVector(picked.data() + from), some);
      from += some;
      if (current_->Count() >= encoder_->row_group_rows) end_row_group();
    }
  }

  Result<void> open() {
    if (file_ != nullptr) return {};
    AQ_ASSIGN(auto created, AppendFile::create(path_));
    auto file = std::make_unique<AppendFile>(std::move(created));
    auto opened = guarded([&]() -> SqlResult<void> {
      const OfferedFile offered(path_.string(), *file);
      context().RunFunctionInTransaction(
          [&] { state_ = encoder_->function.copy_to_initialize_global(context(), *encoder_->bind, path_.string()); });
      return {};
    });
    if (!opened) {
      state_.reset();
      return fail(with_context(std::move(opened).error().error, "cannot write " + path_.string()));
    }
    file_ = std::move(file);
    return {};
  }

  Result<void> encode() {
    keep(guarded([&]() -> SqlResult<void> {
      auto rows = std::move(complete_.front());
      complete_.pop_front();
      auto group = encoder_->function.prepare_batch(context(), *encoder_->bind, *state_, std::move(rows));
      encoder_->function.flush_batch(context(), *encoder_->bind, *state_, *group);
      return {};
    }));
    if (broken_) return fail(*broken_);
    return {};
  }

  std::shared_ptr<ParquetEncoder> encoder_;
  std::filesystem::path path_;
  std::unique_ptr<AppendFile> file_;
  duckdb::unique_ptr<duckdb::GlobalFunctionData> state_;
  duckdb::unique_ptr<Rows> current_;               // the row group that is filling
  std::deque<duckdb::unique_ptr<Rows>> complete_;  // row groups to be encoded
  std::optional<Error> broken_;
  std::uint64_t rows_ = 0;
  std::uint64_t bytes_ = 0;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<ParquetFile> make_parquet_file(std::shared_ptr<ParquetEncoder> encoder, std::filesystem::path path) {
  return std::make_unique<EngineParquetFile>(std::move(encoder), std::move(path));
}

}  // namespace aqueduck::sql
