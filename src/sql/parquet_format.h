#pragma once

#include <duckdb.hpp>
#include <duckdb/function/copy_function.hpp>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sql/arrow_bridge.h"
#include "sql/parquet_writer.h"

/// What ParquetFormat and ParquetFile are made of. Internal to src/sql.
namespace aqueduck::sql {

/// A batch as the engine holds it: first the columns that are written, then those that choose the file.
struct EngineChunks {
  std::vector<duckdb::unique_ptr<duckdb::DataChunk>> chunks;
  std::vector<std::uint32_t> starts;  ///< the number of each chunk's first row
};

/// The engine's encoder with the options and columns of one format.
struct ParquetEncoder {
  std::shared_ptr<duckdb::Connection> connection;
  duckdb::CopyFunction function{"parquet"};
  duckdb::unique_ptr<duckdb::FunctionData> bind;
  duckdb::vector<duckdb::LogicalType> types;
  std::uint64_t row_group_rows = 0;
};

std::unique_ptr<ParquetFile> make_parquet_file(std::shared_ptr<ParquetEncoder> encoder, std::filesystem::path path);

class EngineParquetFormat : public ParquetFormat {
 public:
  /// Errors: config where a column to partition by is missing, or none is left to write.
  static Result<std::shared_ptr<EngineParquetFormat>> make(std::shared_ptr<duckdb::Connection> connection,
                                                           std::shared_ptr<const Schema> schema,
                                                           const ParquetOptions& options);
  ~EngineParquetFormat() override;

  Result<std::vector<ParquetPart>> split(const RecordBatch& rows) override;
  std::unique_ptr<ParquetFile> file(std::filesystem::path path) override {
    return make_parquet_file(encoder_, std::move(path));
  }

 private:
  EngineParquetFormat(std::shared_ptr<duckdb::Connection> connection, std::shared_ptr<const Schema> schema);
  Result<void> find_keys(const std::vector<std::string>& names);
  void plan(const ParquetOptions& options);
  std::shared_ptr<EngineChunks> load(const RecordBatch& rows);
  std::vector<ParquetPart> by_folder(const std::shared_ptr<EngineChunks>& rows) const;

  std::shared_ptr<ParquetEncoder> encoder_;
  std::string view_;
  BatchSlot slot_;
  std::vector<std::size_t> keys_;  // columns of the batch, in the order of the folders
  duckdb::unique_ptr<duckdb::PreparedStatement> load_;
};

}  // namespace aqueduck::sql
