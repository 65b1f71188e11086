#include "connectors/duckdb/duckdb_sink.h"

#include <algorithm>
#include <map>

#include "base/failpoint.h"
#include "base/file.h"
#include "columnar/cell.h"
#include "sql/quoted.h"

namespace aqueduck {
namespace {

using sql::quoted_name;
using sql::quoted_text;

constexpr const char* kCommits = "main.aqueduck_commits";
// Not "batch": a view of that name would hide a table of the user's.
constexpr const char* kRelation = "aqueduck_batch";

// Two transactions of one process could both find no row of theirs and both insert one.
std::shared_ptr<std::mutex> turn_of(const std::filesystem::path& path) {
  static std::mutex guard;
  static std::map<std::string, std::shared_ptr<std::mutex>> turns;
  const std::lock_guard lock(guard);
  auto& turn = turns[path.string()];
  if (turn == nullptr) turn = std::make_shared<std::mutex>();
  return turn;
}

std::filesystem::path whole(const std::filesystem::path& path) {
  std::error_code error;
  auto out = std::filesystem::weakly_canonical(path, error);
  return error ? path : out;
}

// The engine compares the names of columns so.
std::string folded(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

SinkTraits duckdb_traits() {
  SinkTraits traits;
  traits.holds_token = true;
  traits.commit = {122'880, std::uint64_t{64} << 20, std::chrono::seconds(1)};
  traits.guarantee = "exactly-once: the positions are stored in the same transaction as the rows";
  return traits;
}

DuckdbSink::DuckdbSink(DuckdbConfig config, const ComponentContext& context)
    : config_(std::move(config)),
      path_(whole(context.directory / config_.path)),
      pipeline_(context.pipeline),
      directory_(context.directory),
      engine_(context.database),
      turn_(turn_of(path_)) {}

std::string DuckdbSink::table_name() const { return quoted_name(config_.schema) + "." + quoted_name(config_.table); }

Error DuckdbSink::failed(sql::SqlError error, std::string_view what) const {
  Error out = std::move(error.error);
  if (out.message.find("Conflicting lock") != std::string::npos) {
    out.kind = ErrorKind::unavailable;
    out.message.resize(std::min(out.message.size(), out.message.find(" See also")));
  } else if (out.message.find("No space left") != std::string::npos) {
    out.kind = ErrorKind::limit;
  }
  return with_context(std::move(out), fmt::format("cannot {} {}", what, path_.string()));
}

// Two instances in one process don't see each other's locks: both would write, and one of them over the other's rows.
Result<void> DuckdbSink::check_engine() const {
  if (engine_ == nullptr) return {};
  AQ_ASSIGN(const auto session, engine_->connect());
  const auto found =
      sql::collect(*session, "SELECT path, database_name FROM duckdb_databases() WHERE path IS NOT NULL");
  if (!found) return fail(found.error().error);
  for (const RecordBatch& batch : *found) {
    AQ_ASSIGN(auto cells, Cells::plan(batch.schema));
    cells.bind(batch);
    for (std::int64_t row = 0; row < cells.rows(); ++row) {
      const auto text = [&](std::size_t column) { return std::string(cells.columns()[column].bytes(cells.at(row))); };
      if (resolved_path(directory_ / text(0)) != resolved_path(path_)) continue;
      return fail(ErrorKind::config,
                  "{} is attached to the pipeline's own SQL, too, as '{}', and a process must not open a DuckDB file "
                  "twice, not even READ_ONLY: attach another file, or have the sink write to one",
                  path_.string(), text(1));
    }
  }
  return {};
}

Result<void> DuckdbSink::connect() {
  if (session_ != nullptr) return {};
  AQ_TRY(check_engine());
  sql::DatabaseOptions options;
  options.path = path_;
  options.memory_limit = config_.memory.value;
  auto database = sql::Database::open(options);
  if (!database) return fail(failed({std::move(database).error(), {}}, "open"));
  auto session = (*database)->connect();
  if (!session) return fail(failed({std::move(session).error(), {}}, "open"));
  database_ = std::move(*database);
  session_ = std::move(*session);
  // The log grows instead of being folded into the file every 16 MB, which costs more than the rows themselves.
  return execute("SET GLOBAL checkpoint_threshold = '256MiB'");
}

void DuckdbSink::disconnect() {
  session_.reset();
  database_.reset();
}

Result<void> DuckdbSink::execute(const std::string& text) {
  auto done = session_->execute(text);
  if (!done) return fail(failed(std::move(done).error(), "write to"));
  return {};
}

Result<std::vector<std::string>> DuckdbSink::texts(const std::string& query) {
  auto rows = session_->query(query);
  if (!rows) return fail(failed(std::move(rows).error(), "read"));
  AQ_ASSIGN(auto cells, Cells::plan((*rows)->schema()));
  std::vector<std::string> out;
  for (;;) {
    auto batch = (*rows)->next();
    if (!batch) return fail(failed(std::move(batch).error(), "read"));
    if (batch->rows() == 0) return out;
    cells.bind(*batch);
    for (std::int64_t row = 0; row < cells.rows(); ++row) {
      const Cell& cell = cells.columns().front();
      out.emplace_back(cell.is_null(cells.at(row)) ? std::string_view() : cell.bytes(cells.at(row)));
    }
  }
}

Result<Token> DuckdbSink::read_token() {
  AQ_ASSIGN(const auto tables, texts("SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() "
                                     "AND schema_name = 'main' AND table_name = 'aqueduck_commits'"));
  if (tables.empty()) return Token{};
  AQ_ASSIGN(const auto positions,
            texts(fmt::format("SELECT position FROM {} WHERE name = {}", kCommits, quoted_text(pipeline_))));
  if (positions.empty()) return Token{};
  if (positions.size() > 1) {
    return fail(ErrorKind::conflict,
                "{}: the table aqueduck_commits has {} rows for the pipeline '{}': it has been "
                "changed by hand; leave the one that is right",
                path_.string(), positions.size(), pipeline_);
  }
  auto token = Token::from_json(positions.front());
  if (!token) return fail(with_context(std::move(token).error(), path_.string() + ", table aqueduck_commits"));
  return token;
}

Result<Token> DuckdbSink::open() {
  close();
  return stored_token();
}

Result<Token> DuckdbSink::stored_token() {
  const std::lock_guard lock(*turn_);
  AQ_TRY(connect());
  auto token = read_token();
  if (token && doubt_ && !doubt_->empty() && token->merged(*doubt_).entries == token->entries) waiting_.clear();
  if (token) doubt_.reset();
  if (!token || config_.hold == DuckdbHold::flush) disconnect();
  return token;
}

Result<void> DuckdbSink::write(const RecordBatch& batch) {
  if (batch.rows() > 0) waiting_.push_back(batch);
  return {};
}

Result<CommitResult> DuckdbSink::commit(const Token& expected, const Token& next) {
  const std::lock_guard lock(*turn_);
  AQ_TRY(connect());
  auto result = transact(expected, next);
  const bool unknown = result && std::holds_alternative<Unknown>(*result);
  if (unknown || config_.hold == DuckdbHold::flush) disconnect();
  return result;
}

Result<CommitResult> DuckdbSink::transact(const Token& expected, const Token& next) {
  const auto roll_back = [this] { (void)session_->execute("ROLLBACK"); };
  AQ_TRY(execute("BEGIN TRANSACTION"));
  auto stored = read_token();
  if (!stored) {
    roll_back();
    return fail(std::move(stored).error());
  }
  if (!stored->matches(expected, next)) {
    roll_back();
    waiting_.clear();
    return Moved{std::move(*stored)};
  }
  Token merged = stored->merged(next);
  auto done = append_all();
  if (done) done = store(*stored, merged);
  if (!done) {
    roll_back();
    return fail(std::move(done).error());
  }
  failpoint("duckdb.before_commit");
  if (auto committed = session_->execute("COMMIT"); !committed) {
    doubt_ = next;
    return Unknown{failed(std::move(committed).error(), "commit to")};
  }
  failpoint("duckdb.after_commit");
  waiting_.clear();
  return Committed{std::move(merged)};
}

Result<void> DuckdbSink::append_all() {
  std::vector<std::vector<RecordBatch>> groups;
  std::string last;
  for (const RecordBatch& batch : waiting_) {
    const std::string fingerprint = batch.schema->fingerprint();
    if (groups.empty() || fingerprint != last) groups.emplace_back();
    groups.back().push_back(batch);
    last = fingerprint;
  }
  // The table first: changing it after rows went in would copy them.
  for (const auto& rows : groups) AQ_TRY(fit_table(rows.front()));
  for (const auto& rows : groups) AQ_TRY(append(rows));
  return {};
}

Result<void> DuckdbSink::fit_table(const RecordBatch& rows) {
  AQ_ASSIGN(auto there,
            texts(fmt::format("SELECT column_name FROM duckdb_columns() WHERE database_name = current_database() "
                              "AND lower(schema_name) = lower({}) AND lower(table_name) = lower({})",
                              quoted_text(config_.schema), quoted_text(config_.table))));
  const bool absent = there.empty();
  if (absent && !config_.create) {
    return fail(ErrorKind::config, "{} has no table {}: make it, or let `create: true` do so", path_.string(),
                table_name());
  }
  for (std::string& name : there) name = folded(name);
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < rows.schema->size(); ++i) {
    if (std::find(there.begin(), there.end(), folded(rows.schema->name(i))) == there.end()) unknown.push_back(i);
  }
  if (unknown.empty()) return {};
  if (!absent && config_.columns == DuckdbColumns::fail) {
    return fail(ErrorKind::config,
                "the rows have a column '{}', which the table {} in {} lacks: add it, leave it out in the SQL, or set "
                "`columns: extend`",
                rows.schema->name(unknown.front()), table_name(), path_.string());
  }
  auto types = session_->type_names(*rows.schema);
  if (!types) return fail(failed(std::move(types).error(), "find the columns' types for"));
  std::vector<std::string> columns;
  for (const std::size_t i : unknown) {
    // A column that has only been NULL so far has a type that no table can store.
    const std::string& type = (*types)[i] == "\"NULL\"" ? "VARCHAR" : (*types)[i];
    columns.push_back(quoted_name(rows.schema->name(i)) + " " + type);
  }
  if (absent) {
    AQ_TRY(execute("CREATE SCHEMA IF NOT EXISTS " + quoted_name(config_.schema)));
    return execute(fmt::format("CREATE TABLE {} ({})", table_name(), fmt::join(columns, ", ")));
  }
  for (const auto& column : columns) AQ_TRY(execute(fmt::format("ALTER TABLE {} ADD COLUMN {}", table_name(), column)));
  return {};
}

Result<void> DuckdbSink::append(const std::vector<RecordBatch>& rows) {
  std::vector<std::string> names;
  const Schema& schema = *rows.front().schema;
  names.reserve(schema.size());
  for (std::size_t i = 0; i < schema.size(); ++i) names.push_back(quoted_name(schema.name(i)));
  auto script = session_->script(
      fmt::format("INSERT INTO {0} ({1}) SELECT {1} FROM {2}", table_name(), fmt::join(names, ", "), kRelation),
      kRelation);
  if (!script) return fail(failed(std::move(script).error(), "write to"));
  auto done = (*script)->run(rows, [](const RecordBatch&) -> Result<void> { return {}; });
  if (!done) return fail(failed(std::move(done).error(), "write to"));
  // The view points into the script.
  return execute(fmt::format("DROP VIEW temp.{}", kRelation));
}

Result<void> DuckdbSink::store(const Token& before, const Token& after) {
  if (after.entries == before.entries) return {};
  AQ_TRY(execute(fmt::format("CREATE TABLE IF NOT EXISTS {} (name VARCHAR, position VARCHAR, committed_at TIMESTAMPTZ)",
                             kCommits)));
  const std::string name = quoted_text(pipeline_);
  const std::string position = quoted_text(after.to_json());
  if (before.empty()) {
    AQ_ASSIGN(const auto there, texts(fmt::format("SELECT name FROM {} WHERE name = {}", kCommits, name)));
    if (there.empty()) {
      return execute(fmt::format("INSERT INTO {} VALUES ({}, {}, now())", kCommits, name, position));
    }
  }
  return execute(
      fmt::format("UPDATE {} SET position = {}, committed_at = now() WHERE name = {}", kCommits, position, name));
}

Result<void> DuckdbSink::abort() {
  waiting_.clear();
  doubt_.reset();
  return {};
}

void DuckdbSink::close() {
  waiting_.clear();
  doubt_.reset();
  const std::lock_guard lock(*turn_);
  disconnect();
}

}  // namespace aqueduck
