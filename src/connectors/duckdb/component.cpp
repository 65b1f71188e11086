#include "connectors/duckdb/component.h"

#include "connectors/duckdb/duckdb_sink.h"
#include "sql/quoted.h"

namespace aqueduck {
namespace {

constexpr std::string_view kDetails =
    "Rows are collected and appended in one transaction with the source's positions, which stand in the table "
    "`aqueduck_commits` of the same file. Columns are matched by name; one that the rows lack is NULL. Unless the "
    "sink's `commit` says otherwise, a transaction ends after 122,880 rows, 64MiB or 1s, whichever comes first: "
    "small transactions are several times slower.\n\n"
    "DuckDB lets one process open a file. With `hold: flush` the file is closed between commits, so that others can "
    "read it; while another process has it open, commits wait and are tried again. The pipeline's own SQL must not "
    "ATTACH it, not even READ_ONLY and whatever `hold` is: two instances of the engine in one process don't see each "
    "other's locks, and the reading one would see the rows of its start only. To read what the sink wrote, use another "
    "process (`aqueduck query`) and `hold: flush`.";

const config::ObjectSpec<DuckdbConfig>& duckdb_spec() {
  static const config::ObjectSpec<DuckdbConfig> spec = [] {
    config::ObjectSpec<DuckdbConfig> out(
        "duckdb", "Appends the rows to a table of a DuckDB file, exactly once.",
        {config::field("path", &DuckdbConfig::path, "The DuckDB file; made if it isn't there.")
             .required()
             .example("out.duckdb"),
         config::field("table", &DuckdbConfig::table, "The table.").required().example("events"),
         config::field("schema", &DuckdbConfig::schema, "The schema (namespace) that the table is in."),
         config::field("create", &DuckdbConfig::create,
                       "Makes the table, if there is none, from the columns of the first rows."),
         config::choice("columns", &DuckdbConfig::columns,
                        {{"fail", DuckdbColumns::fail, "a column that the table lacks ends the pipeline"},
                         {"extend", DuckdbColumns::extend, "it is added to the table"}},
                        "What happens to a new column."),
         config::choice("hold", &DuckdbConfig::hold,
                        {{"always", DuckdbHold::always, "from start to end: fastest"},
                         {"flush", DuckdbHold::flush, "only while a commit is made"}},
                        "How long the file is kept open."),
         config::field("memory", &DuckdbConfig::memory, "What the engine may use for this file.")});
    out.details(std::string(kDetails));
    return out;
  }();
  return spec;
}

Result<SinkContents> duckdb_contents(const DuckdbConfig& config) {
  SinkContents out;
  std::error_code ignored;
  if (!std::filesystem::exists(config.path, ignored)) return out;
  sql::DatabaseOptions options;
  options.path = config.path;
  options.read_only = true;
  AQ_ASSIGN(const auto database, sql::Database::open(options));
  AQ_ASSIGN(const auto session, database->connect());
  const auto table = sql::collect(
      *session,
      fmt::format("FROM duckdb_tables() WHERE lower(schema_name) = lower({}) AND lower(table_name) = lower({})",
                  sql::quoted_text(config.schema), sql::quoted_text(config.table)));
  if (!table) return fail(with_context(table.error().error, config.path.string()));
  if (table->empty()) return out;
  auto rows = sql::collect(*session,
                           fmt::format("FROM {}.{}", sql::quoted_name(config.schema), sql::quoted_name(config.table)));
  if (!rows) return fail(with_context(std::move(rows).error().error, config.path.string()));
  out.rows = std::move(*rows);
  return out;
}

class DuckdbFactory final : public SinkFactory {
 public:
  explicit DuckdbFactory(DuckdbConfig config) : config_(std::move(config)) {}
  std::unique_ptr<Sink> make(const ComponentContext& context) const override {
    return std::make_unique<DuckdbSink>(config_, context);
  }
  SinkTraits traits() const override { return duckdb_traits(); }
  std::filesystem::path database(const std::filesystem::path& directory) const override {
    return directory / config_.path;
  }
  Rehearsal rehearse(const std::filesystem::path& folder) const override {
    DuckdbConfig inside = config_;
    inside.path = rehearsal_path(folder, config_.path);
    auto contents = [inside] { return duckdb_contents(inside); };
    return {std::make_unique<DuckdbFactory>(std::move(inside)), std::move(contents)};
  }

 private:
  DuckdbConfig config_;
};

std::unique_ptr<SinkFactory> parse(const config::Node& node, config::Faults& faults) {
  const std::size_t before = faults.all().size();
  auto config = duckdb_spec().read(node, faults);
  if (faults.all().size() != before) return nullptr;
  if (config.path.empty()) faults.add(node.where, "'path' is empty");
  if (config.table.empty()) faults.add(node.where, "'table' is empty");
  if (config.table == "aqueduck_commits")
    faults.add(node.where, "'aqueduck_commits' holds the positions: use another table");
  if (faults.all().size() != before) return nullptr;
  return std::make_unique<DuckdbFactory>(std::move(config));
}

}  // namespace

const ComponentType<SinkFactory>& duckdb_sink() {
  static const ComponentType<SinkFactory> type{&duckdb_spec().info(), parse,
                                               "duckdb: {path: out.duckdb, table: events}\n"};
  return type;
}

}  // namespace aqueduck
