#include "connectors/duckdb/component.h"

#include "connectors/duckdb/duckdb_sink.h"

namespace aqueduck {
namespace {

constexpr std::string_view kDetails =
    "Rows are collected and appended in one transaction with the source's positions, which stand in the table "
    "`aqueduck_commits` of the same file. Columns are matched by name; one that the rows lack is NULL. Unless the "
    "sink's `commit` says otherwise, a transaction ends after 122,880 rows, 64MiB or 1s, whichever comes first: "
    "small transactions are several times slower.\n\n"
    "DuckDB lets one process open a file. With `hold: flush` the file is closed between commits, so that others can "
    "read it; while another process has it open, commits wait and are tried again. Don't ATTACH the same file in "
    "`setup`.";

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

class DuckdbFactory final : public SinkFactory {
 public:
  explicit DuckdbFactory(DuckdbConfig config) : config_(std::move(config)) {}
  std::unique_ptr<Sink> make(const ComponentContext& context) const override {
    return std::make_unique<DuckdbSink>(config_, context);
  }
  SinkTraits traits() const override { return duckdb_traits(); }

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
