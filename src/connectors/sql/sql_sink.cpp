#include "connectors/sql/sql_sink.h"

#include <algorithm>

namespace aqueduck {
namespace {

Error failed(sql::SqlError error, std::string_view what) {
  return with_context(std::move(error.error), fmt::format("sink sql: {}", what));
}

}  // namespace

SinkTraits sql_traits() {
  SinkTraits traits;
  traits.guarantee =
      "at-least-once: the statement's target holds no positions, so rows may be written again after a crash; make the "
      "statement idempotent (INSERT OR REPLACE, MERGE INTO) where that matters";
  return traits;
}

SqlSink::SqlSink(SqlSinkConfig config, const ComponentContext& context)
    : config_(std::move(config)), shared_(context.database) {}

Result<Token> SqlSink::open() {
  close();
  if (shared_ == nullptr) {
    AQ_ASSIGN(database_, sql::Database::open({}));
  }
  AQ_ASSIGN(session_, (shared_ != nullptr ? shared_ : database_.get())->connect());
  for (const std::string& text : config_.setup) {
    auto done = session_->execute(text);
    if (!done) return fail(failed(std::move(done).error(), "setup: " + text));
  }
  auto script = session_->script(config_.statement);
  if (!script) return fail(failed(std::move(script).error(), "statement"));
  script_ = std::move(*script);
  return Token{};
}

Result<void> SqlSink::write(const RecordBatch& batch) {
  if (batch.rows() > 0) waiting_.push_back(batch);
  return {};
}

Result<void> SqlSink::run_all() {
  while (!waiting_.empty()) {
    const std::string fingerprint = waiting_.front().schema->fingerprint();
    const auto end = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const RecordBatch& batch) { return batch.schema->fingerprint() != fingerprint; });
    AQ_TRY(run(std::vector<RecordBatch>(waiting_.begin(), end)));
    waiting_.erase(waiting_.begin(), end);
  }
  return {};
}

Result<void> SqlSink::run(const std::vector<RecordBatch>& rows) {
  // Planning may need a transaction of its own, so it comes first.
  if (auto planned = script_->prepare(rows.front().schema); !planned) {
    return fail(failed(std::move(planned).error(), "statement"));
  }
  if (auto begun = session_->execute("BEGIN TRANSACTION"); !begun) {
    return fail(failed(std::move(begun).error(), "statement"));
  }
  auto done = script_->run(rows, [](const RecordBatch&) -> Result<void> { return {}; });
  if (done) done = session_->execute("COMMIT");
  if (done) return {};
  (void)session_->execute("ROLLBACK");
  return fail(failed(std::move(done).error(), "statement"));
}

Result<CommitResult> SqlSink::commit(const Token& /*expected*/, const Token& next) {
  if (session_ == nullptr) return fail(ErrorKind::internal, "the sql sink is not open");
  AQ_TRY(run_all());
  return Committed{next};
}

Result<void> SqlSink::abort() {
  waiting_.clear();
  return {};
}

void SqlSink::close() {
  waiting_.clear();
  script_.reset();
  session_.reset();
  database_.reset();
}

}  // namespace aqueduck
