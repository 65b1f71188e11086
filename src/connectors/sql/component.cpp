#include "connectors/sql/component.h"

#include "connectors/sql/sql_sink.h"

namespace aqueduck {
namespace {

constexpr std::string_view kDetails =
    "The script runs in the pipeline's engine at every commit (after every batch, unless the sink's `commit` says "
    "otherwise), over the rows of the relation `batch`, in one transaction. A transaction writes to one database: use "
    "a "
    "sink for each. Whatever the engine can attach can be written to; ATTACH it in the pipeline's `setup` or here.";

const config::ObjectSpec<SqlSinkConfig>& sql_spec() {
  static const config::ObjectSpec<SqlSinkConfig> spec = [] {
    config::ObjectSpec<SqlSinkConfig> out(
        "sql", "Runs any SQL over the rows, so that whatever DuckDB can attach is a sink.",
        {config::field("statement", &SqlSinkConfig::statement, "One or several statements over `batch`.")
             .required()
             .example("INSERT INTO pg.events SELECT * FROM batch"),
         config::field("setup", &SqlSinkConfig::setup, "Statements that run once, when the sink is opened.")
             .example("[\"ATTACH 'host=db user=me' AS pg (TYPE postgres)\"]")});
    out.details(std::string(kDetails));
    out.shorthand("statement");
    return out;
  }();
  return spec;
}

class SqlSinkFactory final : public SinkFactory {
 public:
  explicit SqlSinkFactory(SqlSinkConfig config) : config_(std::move(config)) {}
  std::unique_ptr<Sink> make(const ComponentContext& context) const override {
    return std::make_unique<SqlSink>(config_, context);
  }
  SinkTraits traits() const override { return sql_traits(); }
  Rehearsal rehearse(const std::filesystem::path& folder) const override {
    SqlSinkConfig inside = config_;
    inside.fence = folder;
    return {std::make_unique<SqlSinkFactory>(std::move(inside)), nullptr};
  }

 private:
  SqlSinkConfig config_;
};

std::unique_ptr<SinkFactory> parse(const config::Node& node, config::Faults& faults) {
  const std::size_t before = faults.all().size();
  auto config = sql_spec().read(node, faults);
  if (faults.all().size() != before) return nullptr;
  return std::make_unique<SqlSinkFactory>(std::move(config));
}

}  // namespace

const ComponentType<SinkFactory>& sql_sink() {
  static const ComponentType<SinkFactory> type{&sql_spec().info(), parse,
                                               "sql: {statement: INSERT INTO pg.events SELECT * FROM batch}\n"};
  return type;
}

}  // namespace aqueduck
