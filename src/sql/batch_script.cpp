#include <duckdb/main/client_context.hpp>
#include <duckdb/main/prepared_statement_data.hpp>
#include <duckdb/parser/sql_statement.hpp>
#include <utility>

#include "sql/arrow_bridge.h"
#include "sql/engine_error.h"
#include "sql/plan_columns.h"
#include "sql/session.h"

namespace aqueduck::sql {
namespace {

// Ends a transaction that was only for looking, whatever happens.
class RolledBack {
 public:
  explicit RolledBack(duckdb::Connection& connection) : connection_(connection) { connection_.BeginTransaction(); }
  ~RolledBack() {
    try {
      connection_.Rollback();
    } catch (...) {  // the engine has rolled back by itself
      return;
    }
  }
  RolledBack(const RolledBack&) = delete;
  RolledBack& operator=(const RolledBack&) = delete;

 private:
  duckdb::Connection& connection_;
};

bool changes_catalog(const duckdb::SQLStatement& statement) {
  switch (statement.type) {
    case duckdb::StatementType::SELECT_STATEMENT:
    case duckdb::StatementType::INSERT_STATEMENT:
    case duckdb::StatementType::UPDATE_STATEMENT:
    case duckdb::StatementType::DELETE_STATEMENT:
    case duckdb::StatementType::MERGE_INTO_STATEMENT:
    case duckdb::StatementType::COPY_STATEMENT:
      return false;
    default:
      return true;
  }
}

class EngineScript : public BatchScript {
 public:
  EngineScript(std::shared_ptr<duckdb::Connection> connection, std::string text, std::string relation,
               duckdb::vector<duckdb::unique_ptr<duckdb::SQLStatement>> statements)
      : connection_(std::move(connection)),
        text_(std::move(text)),
        relation_(std::move(relation)),
        statements_(std::move(statements)) {
    for (const auto& statement : statements_) {
      fixed_ = fixed_ && !changes_catalog(*statement);
      writes_ = writes_ || statement->type != duckdb::StatementType::SELECT_STATEMENT;
    }
  }

  SqlResult<std::shared_ptr<const Schema>> prepare(std::shared_ptr<const Schema> schema) override {
    return guarded([&]() -> SqlResult<std::shared_ptr<const Schema>> {
      if (slot_.schema == nullptr || schema->fingerprint() != fingerprint_) bind(std::move(schema));
      return output_;
    });
  }

  bool writes() const override { return writes_; }
  std::optional<std::vector<Path>> columns_read() const override { return read_; }

  SqlResult<void> run(const std::vector<RecordBatch>& rows,
                      const std::function<Result<void>(const RecordBatch&)>& consume) override {
    return guarded([&]() -> SqlResult<void> {
      // The engine does not notice that a prepared statement's rows changed their types.
      const auto& schema = rows.at(0).schema;
      if (slot_.schema == nullptr || (schema != slot_.schema && schema->fingerprint() != fingerprint_)) bind(schema);
      slot_.rows = rows;
      std::erase_if(slot_.rows, [](const RecordBatch& batch) { return batch.rows() == 0; });
      const ClearSlot clear{slot_};
      for (std::size_t i = 0; i < statements_.size(); ++i) {
        const bool last = i + 1 == statements_.size();
        auto result = prepared_.empty() || prepared_[i] == nullptr ? start_text(i) : start(*prepared_[i]);
        if (!last || result->properties.return_type != duckdb::StatementReturnType::QUERY_RESULT) {
          while (auto chunk = result->Fetch()) {
            if (chunk->size() == 0) break;
          }
          if (result->HasError()) result->ThrowError();
          continue;
        }
        ResultReader reader(std::move(result), *connection_->context);
        while (auto result_rows = reader.next()) {
          if (auto taken = consume(*result_rows); !taken) return tl::make_unexpected(SqlError{taken.error(), {}});
        }
      }
      return {};
    });
  }

 private:
  struct ClearSlot {
    BatchSlot& slot;
    ~ClearSlot() { slot.rows.clear(); }
  };

  static std::unique_ptr<duckdb::QueryResult> start(duckdb::PreparedStatement& prepared) {
    duckdb::vector<duckdb::Value> none;
    auto result = prepared.Execute(none, true);
    if (result->HasError()) result->ThrowError();
    return result;
  }
  std::unique_ptr<duckdb::QueryResult> start_text(std::size_t i) {
    auto prepared = connection_->Prepare(statements_[i]->Copy());
    if (prepared->HasError()) prepared->GetErrorObject().Throw();
    return start(*prepared);
  }

  void bind(std::shared_ptr<const Schema> schema) {
    prepared_.clear();
    output_ = nullptr;
    read_.reset();
    slot_.schema = nullptr;
    fingerprint_ = schema->fingerprint();
    slot_ = BatchSlot{std::move(schema), {}};
    try {
      create_batch_view(*connection_, relation_, slot_);
      if (fixed_)
        plan();
      else
        plan_by_running();
    } catch (...) {
      slot_.schema = nullptr;
      throw;
    }
  }

  void plan() {
    std::vector<Path> read;
    for (const auto& statement : statements_) {
      auto prepared = connection_->Prepare(statement->Copy());
      if (prepared->HasError()) prepared->GetErrorObject().Throw();
      const auto paths = sql::columns_read(*prepared);
      read.insert(read.end(), paths.begin(), paths.end());
      describe(*prepared);
      // A plan keeps what the engine knew of a table or a list of files when it was made, and answers from that.
      if (plan_ages(*statement)) prepared = nullptr;
      prepared_.push_back(std::move(prepared));
    }
    if (!counts_positions()) read_ = std::move(read);
  }

  bool plan_ages(const duckdb::SQLStatement& statement) {
    struct Unoptimized {
      duckdb::ClientConfig& config;
      const bool before = std::exchange(config.enable_optimizer, false);
      ~Unoptimized() { config.enable_optimizer = before; }
    } const unoptimized{connection_->context->config};
    const auto prepared = connection_->Prepare(statement.Copy());
    if (prepared->HasError()) prepared->GetErrorObject().Throw();
    return reads_elsewhere(*prepared);
  }

  // Later statements need what earlier ones create: run them over no rows, and take everything back.
  void plan_by_running() {
    const RolledBack scope(*connection_);
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      auto prepared = connection_->Prepare(statements_[i]->Copy());
      if (prepared->HasError()) prepared->GetErrorObject().Throw();
      if (i + 1 == statements_.size())
        describe(*prepared);
      else
        start(*prepared);
    }
  }

  void describe(duckdb::PreparedStatement& last) {
    output_ = nullptr;
    if (last.GetStatementProperties().return_type != duckdb::StatementReturnType::QUERY_RESULT) return;
    output_ = to_schema(last.GetTypes(), last.GetNames(), *connection_->context);
  }

  // Columns and fields named by their position would be others once the unread ones are left out.
  bool counts_positions() const {
    for (std::size_t i = 0; i + 1 < text_.size(); ++i) {
      if (text_[i] == '#' && text_[i + 1] >= '0' && text_[i + 1] <= '9') return true;
    }
    return text_.find("extract_at") != std::string::npos || text_.find("EXTRACT_AT") != std::string::npos;
  }

  std::shared_ptr<duckdb::Connection> connection_;
  std::string text_;
  std::string relation_;
  duckdb::vector<duckdb::unique_ptr<duckdb::SQLStatement>> statements_;
  bool writes_ = false;
  bool fixed_ = true;  // no statement changes the catalog: plans are kept
  BatchSlot slot_;
  std::string fingerprint_;
  std::vector<duckdb::unique_ptr<duckdb::PreparedStatement>> prepared_;  // null: planned anew for each batch
  std::shared_ptr<const Schema> output_;
  std::optional<std::vector<Path>> read_;
};

}  // namespace

std::unique_ptr<BatchScript> make_batch_script(std::shared_ptr<duckdb::Connection> connection, const std::string& text,
                                               const std::string& relation) {
  auto statements = connection->ExtractStatements(text);
  if (statements.empty()) throw duckdb::ParserException("there is no statement");
  return std::make_unique<EngineScript>(std::move(connection), text, relation, std::move(statements));
}

}  // namespace aqueduck::sql
