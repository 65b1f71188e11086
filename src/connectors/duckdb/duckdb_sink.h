#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "connectors/duckdb/duckdb_config.h"
#include "sql/database.h"

namespace aqueduck {

/// Appends rows to a table of a DuckDB file, in one transaction with the token, which is compared before it is stored.
/// Rows wait in memory, within the commit policy, until a commit has succeeded, so that it can be repeated. The
/// engine's file lock keeps other processes out; sinks of this process take turns by a mutex a path. A COMMIT that
/// failed is Unknown and closes the file; every error before it rolled the transaction back.
class DuckdbSink final : public Sink {
 public:
  DuckdbSink(DuckdbConfig config, const ComponentContext& context);
  ~DuckdbSink() override { close(); }

  SinkTraits traits() const override { return duckdb_traits(); }
  Result<Token> open() override;
  Result<void> write(const RecordBatch& batch) override;
  Result<CommitResult> commit(const Token& expected, const Token& next) override;
  Result<void> abort() override;
  Result<Token> stored_token() override;
  void close() override;

 private:
  struct Column {
    std::string name;
    std::string type;
  };

  Result<void> connect();
  Result<void> check_engine() const;
  void disconnect();
  Result<void> execute(const std::string& text);
  Result<std::vector<std::string>> texts(const std::string& query);
  Result<Token> read_token();
  Result<CommitResult> transact(const Token& expected, const Token& next);
  Result<void> append_all();
  Result<void> fit_table(const RecordBatch& rows);
  Result<void> append(const std::vector<RecordBatch>& rows);
  Result<void> store(const Token& before, const Token& after);
  Error failed(sql::SqlError error, std::string_view what) const;
  std::string table_name() const;

  DuckdbConfig config_;
  std::filesystem::path path_;
  std::string pipeline_;
  std::filesystem::path directory_;
  sql::Database* engine_;  ///< the pipeline's, which must not have the file open; null where there is none
  std::shared_ptr<std::mutex> turn_;
  std::vector<RecordBatch> waiting_;
  std::optional<Token> doubt_;  ///< of a commit of which it isn't known whether it happened
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<sql::Session> session_;
};

}  // namespace aqueduck
