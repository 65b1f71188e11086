#pragma once

#include <duckdb.hpp>
#include <memory>
#include <string>

#include "sql/database.h"

namespace aqueduck::sql {

/// A Session over one connection of the engine. Internal to src/sql.
class EngineSession : public Session {
 public:
  EngineSession(std::shared_ptr<duckdb::DuckDB> database);

  SqlResult<void> execute(const std::string& text) override;
  SqlResult<std::unique_ptr<Rows>> query(const std::string& text) override;
  SqlResult<std::unique_ptr<BatchScript>> script(const std::string& text, const std::string& relation) override;
  SqlResult<Schema> schema_of(const std::vector<std::pair<std::string, std::string>>& columns,
                              std::size_t* column) override;
  SqlResult<std::vector<std::string>> type_names(const Schema& schema) override;
  SqlResult<std::vector<std::string>> connection_statements(const std::string& text) override;
  SqlResult<std::vector<AttachedPath>> attached_paths(const std::string& text) override;
  Result<std::shared_ptr<ParquetFormat>> parquet(std::shared_ptr<const Schema> schema,
                                                 const ParquetOptions& options) override;
  void interrupt() override;

 private:
  std::shared_ptr<duckdb::DuckDB> database_;  // outlives the connection
  std::shared_ptr<duckdb::Connection> connection_;
};

/// Makes the script over `relation`; throws the parser's errors. Shares the connection, which keeps its slot's view.
std::unique_ptr<BatchScript> make_batch_script(std::shared_ptr<duckdb::Connection> connection, const std::string& text,
                                               const std::string& relation);

}  // namespace aqueduck::sql
