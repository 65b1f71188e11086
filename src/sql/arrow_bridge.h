#pragma once

#include <duckdb.hpp>
#include <memory>
#include <optional>

#include "sql/database.h"

/// Arrow to the engine and back. Internal to src/sql.
namespace aqueduck::sql {

/// Rows of one thread's making that a plan scans: the table function `aqueduck_batch` reads whatever stands here when
/// the plan starts, as often as it is scanned, and only the columns that the plan asks for. The engine's own
/// arrow_scan drops filters silently and can be scanned once.
struct BatchSlot {
  std::shared_ptr<const Schema> schema;
  std::vector<RecordBatch> rows;
};

/// Registers the table function with an instance. Once, before any session.
void register_batch_scan(duckdb::DatabaseInstance& instance);
/// The name under which scans show in plans.
inline constexpr char kBatchScan[] = "aqueduck_batch";
/// Makes a temporary view over the slot, which must outlive the connection's use of it. Throws.
void create_batch_view(duckdb::Connection& connection, const std::string& name, BatchSlot& slot);

/// Turns the engine's result into record batches. Throws the engine's exceptions.
class ResultReader {
 public:
  ResultReader(std::unique_ptr<duckdb::QueryResult> result, duckdb::ClientContext& context);
  const std::shared_ptr<const Schema>& schema() const { return schema_; }
  /// The next rows; nullopt at the end.
  std::optional<RecordBatch> next();

 private:
  std::unique_ptr<duckdb::QueryResult> result_;
  duckdb::ClientProperties properties_;
  duckdb::unordered_map<duckdb::idx_t, const duckdb::shared_ptr<duckdb::ArrowTypeExtensionData>> extensions_;
  std::shared_ptr<const Schema> schema_;
  bool variable_size_ = false;
  bool done_ = false;
};

std::shared_ptr<const Schema> to_schema(const duckdb::vector<duckdb::LogicalType>& types,
                                        const duckdb::vector<duckdb::string>& names, duckdb::ClientContext& context);

}  // namespace aqueduck::sql
