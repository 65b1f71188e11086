#include "connectors/sql/sql_sink.h"

#include <algorithm>

#include "columnar/cell.h"

namespace aqueduck {
namespace {

Error failed(sql::SqlError error, std::string_view what) {
  return with_context(std::move(error.error), fmt::format("sink sql: {}", what));
}

bool is_below(const std::filesystem::path& folder, const std::filesystem::path& path) {
  std::error_code error;
  const auto top = std::filesystem::weakly_canonical(folder, error);
  if (error) return false;
  const auto whole = std::filesystem::weakly_canonical(path, error);
  if (error || path.empty()) return false;
  return std::mismatch(top.begin(), top.end(), whole.begin(), whole.end()).first == top.end();
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
  AQ_TRY(check_fence());
  auto script = session_->script(config_.statement);
  if (!script) return fail(failed(std::move(script).error(), "statement"));
  script_ = std::move(*script);
  return Token{};
}

Result<void> SqlSink::write(const RecordBatch& batch) {
  if (batch.rows() > 0) waiting_.push_back(batch);
  return {};
}

Result<void> SqlSink::check_fence() const {
  if (config_.fence.empty()) return {};
  auto found = sql::collect(*session_,
                            "SELECT database_name, coalesce(path, '') AS path, type FROM duckdb_databases() "
                            "WHERE NOT internal AND NOT readonly AND (path IS NOT NULL OR type <> 'duckdb')");
  if (!found) return fail(failed(std::move(found).error(), "look at the attached databases"));
  for (const RecordBatch& batch : *found) {
    AQ_ASSIGN(auto cells, Cells::plan(batch.schema));
    cells.bind(batch);
    const auto& columns = cells.columns();
    const auto text = [&](std::size_t column, std::int64_t row) {
      return std::string(columns[column].bytes(cells.at(row)));
    };
    for (std::int64_t row = 0; row < cells.rows(); ++row) {
      if (is_below(config_.fence, text(1, row))) continue;
      return fail(ErrorKind::config,
                  "in a test the sink must write below {}, but the database '{}' ({}) lies elsewhere: put its place "
                  "into a variable that the case sets to a path below ${{SCRATCH}}, or attach it READ_ONLY",
                  config_.fence.string(), text(0, row), text(2, row));
    }
  }
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
  AQ_TRY(check_fence());
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
