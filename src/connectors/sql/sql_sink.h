#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "component/sink.h"
#include "sql/database.h"

namespace aqueduck {

struct SqlSinkConfig {
  std::string statement;
  std::vector<std::string> setup;
  std::filesystem::path fence;  ///< in a rehearsal: a database that can be written must lie below this folder
};

SinkTraits sql_traits();

/// Runs a script over the rows of a commit, in the pipeline's engine, within a transaction. The rows wait in memory
/// until it has succeeded. Keeps no positions: a crash between the engine's commit and the source's acknowledgement
/// writes rows again, and so may a commit without a clean answer.
class SqlSink final : public Sink {
 public:
  SqlSink(SqlSinkConfig config, const ComponentContext& context);
  ~SqlSink() override { close(); }

  SinkTraits traits() const override { return sql_traits(); }
  Result<Token> open() override;
  Result<void> write(const RecordBatch& batch) override;
  Result<CommitResult> commit(const Token& expected, const Token& next) override;
  Result<void> abort() override;
  Result<Token> stored_token() override { return Token{}; }
  void close() override;

 private:
  Result<void> check_fence() const;
  Result<void> run_all();
  /// Rows of one schema, in one transaction.
  Result<void> run(const std::vector<RecordBatch>& rows);

  SqlSinkConfig config_;
  sql::Database* shared_;
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<sql::Session> session_;
  std::unique_ptr<sql::BatchScript> script_;  ///< destroyed before its session
  std::vector<RecordBatch> waiting_;
};

}  // namespace aqueduck
