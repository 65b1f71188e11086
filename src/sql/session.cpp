#include "sql/session.h"

#include <duckdb/main/client_context.hpp>
#include <duckdb/main/database_path_and_type.hpp>
#include <duckdb/main/prepared_statement_data.hpp>
#include <duckdb/parser/parsed_data/attach_info.hpp>
#include <duckdb/parser/parsed_data/create_info.hpp>
#include <duckdb/parser/statement/attach_statement.hpp>
#include <duckdb/parser/statement/create_statement.hpp>

#include "sql/arrow_bridge.h"
#include "sql/engine_error.h"
#include "sql/parquet_format.h"

namespace aqueduck::sql {
namespace {

class EngineRows : public Rows {
 public:
  EngineRows(ResultReader reader, std::shared_ptr<duckdb::Connection> connection)
      : connection_(std::move(connection)), reader_(std::move(reader)) {}
  const std::shared_ptr<const Schema>& schema() const override { return reader_.schema(); }
  SqlResult<RecordBatch> next() override {
    return guarded([&]() -> SqlResult<RecordBatch> {
      auto batch = reader_.next();
      return batch ? std::move(*batch) : RecordBatch{reader_.schema(), nullptr};
    });
  }

 private:
  std::shared_ptr<duckdb::Connection> connection_;
  ResultReader reader_;
};

// A statement keeps the whole text, so that the engine's error offsets count from its start.
std::unique_ptr<duckdb::QueryResult> run(duckdb::Connection& connection,
                                         duckdb::unique_ptr<duckdb::SQLStatement> statement, bool stream) {
  auto pending =
      connection.PendingQuery(std::move(statement), stream ? duckdb::QueryResultOutputType::ALLOW_STREAMING
                                                           : duckdb::QueryResultOutputType::FORCE_MATERIALIZED);
  if (pending->HasError()) pending->ThrowError();
  auto result = pending->Execute();
  if (result->HasError()) result->ThrowError();
  return result;
}

}  // namespace

EngineSession::EngineSession(std::shared_ptr<duckdb::DuckDB> database)
    : database_(std::move(database)), connection_(std::make_shared<duckdb::Connection>(*database_)) {}

SqlResult<void> EngineSession::execute(const std::string& text) {
  return guarded([&]() -> SqlResult<void> {
    for (auto& statement : connection_->ExtractStatements(text)) run(*connection_, std::move(statement), false);
    return {};
  });
}

SqlResult<std::unique_ptr<Rows>> EngineSession::query(const std::string& text) {
  return guarded([&]() -> SqlResult<std::unique_ptr<Rows>> {
    auto statements = connection_->ExtractStatements(text);
    if (statements.empty()) return tl::make_unexpected(SqlError{{ErrorKind::config, "there is no statement"}, {}});
    std::unique_ptr<duckdb::QueryResult> result;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      result = run(*connection_, std::move(statements[i]), i + 1 == statements.size());
    }
    return std::make_unique<EngineRows>(ResultReader(std::move(result), *connection_->context), connection_);
  });
}

SqlResult<std::unique_ptr<BatchScript>> EngineSession::script(const std::string& text, const std::string& relation) {
  return guarded(
      [&]() -> SqlResult<std::unique_ptr<BatchScript>> { return make_batch_script(connection_, text, relation); });
}

SqlResult<Schema> EngineSession::schema_of(const std::vector<std::pair<std::string, std::string>>& columns,
                                           std::size_t* column) {
  duckdb::vector<duckdb::LogicalType> types;
  duckdb::vector<duckdb::string> names;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (column != nullptr) *column = i;
    static const std::string kPrefix = "SELECT CAST(NULL AS ";
    auto type = guarded([&]() -> SqlResult<duckdb::LogicalType> {
      auto statements = connection_->ExtractStatements(kPrefix + columns[i].second + ")");
      if (statements.size() != 1) {
        return tl::make_unexpected(SqlError{{ErrorKind::config, "'" + columns[i].second + "' is not a type"}, {}});
      }
      auto prepared = connection_->Prepare(std::move(statements[0]));
      if (prepared->HasError()) prepared->GetErrorObject().Throw();
      if (prepared->ColumnCount() != 1) {
        return tl::make_unexpected(SqlError{{ErrorKind::config, "'" + columns[i].second + "' is not a type"}, {}});
      }
      return prepared->GetTypes()[0];
    });
    if (!type) {
      SqlError error = std::move(type).error();
      if (error.offset) error.offset = *error.offset < kPrefix.size() ? 0 : *error.offset - kPrefix.size();
      return tl::make_unexpected(std::move(error));
    }
    types.push_back(*type);
    names.push_back(columns[i].first);
  }
  return guarded([&]() -> SqlResult<Schema> { return to_schema(types, names, *connection_->context)->clone(); });
}

SqlResult<std::vector<std::string>> EngineSession::type_names(const Schema& schema) {
  return guarded([&]() -> SqlResult<std::vector<std::string>> {
    BatchSlot slot{std::make_shared<const Schema>(schema.clone()), {}};
    create_batch_view(*connection_, "aqueduck_types", slot);
    auto prepared = connection_->Prepare("SELECT * FROM aqueduck_types");
    if (prepared->HasError()) prepared->GetErrorObject().Throw();
    std::vector<std::string> out;
    for (const auto& type : prepared->GetTypes()) out.push_back(type.ToString());
    prepared.reset();
    connection_->Query("DROP VIEW temp.aqueduck_types");
    return out;
  });
}

SqlResult<std::vector<std::string>> EngineSession::connection_statements(const std::string& text) {
  return guarded([&]() -> SqlResult<std::vector<std::string>> {
    std::vector<std::string> out;
    for (const auto& statement : connection_->ExtractStatements(text)) {
      switch (statement->type) {
        case duckdb::StatementType::SET_STATEMENT:
        case duckdb::StatementType::VARIABLE_SET_STATEMENT:
        case duckdb::StatementType::PRAGMA_STATEMENT:
        case duckdb::StatementType::PREPARE_STATEMENT:
          out.push_back(text.substr(statement->stmt_location, statement->stmt_length));
          break;
        case duckdb::StatementType::CREATE_STATEMENT:
          if (statement->Cast<duckdb::CreateStatement>().info->temporary) {
            return tl::make_unexpected(SqlError{
                {ErrorKind::config,
                 "a temporary object is seen by one connection, and each worker has its own; leave TEMP out: the "
                 "engine's main database is in memory, too"},
                statement->stmt_location});
          }
          break;
        default:
          break;
      }
    }
    return out;
  });
}

SqlResult<std::vector<AttachedPath>> EngineSession::attached_paths(const std::string& text) {
  return guarded([&]() -> SqlResult<std::vector<AttachedPath>> {
    std::vector<AttachedPath> out;
    for (const auto& statement : connection_->ExtractStatements(text)) {
      if (statement->type != duckdb::StatementType::ATTACH_STATEMENT) continue;
      // A statement's place includes what stands before its first word.
      const std::size_t word = text.find_first_not_of(" \t\r\n", statement->stmt_location);
      std::string path = statement->Cast<duckdb::AttachStatement>().info->path;
      std::string type;
      duckdb::DBPathAndType::ExtractExtensionPrefix(path, type);
      out.push_back({std::move(path), word == std::string::npos ? statement->stmt_location : word});
    }
    return out;
  });
}

Result<std::shared_ptr<ParquetFormat>> EngineSession::parquet(std::shared_ptr<const Schema> schema,
                                                              const ParquetOptions& options) {
  AQ_ASSIGN(std::shared_ptr<ParquetFormat> format, EngineParquetFormat::make(connection_, std::move(schema), options));
  return format;
}

void EngineSession::interrupt() { connection_->Interrupt(); }

}  // namespace aqueduck::sql
