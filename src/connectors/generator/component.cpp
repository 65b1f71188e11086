#include "connectors/generator/component.h"

#include "connectors/generator/generator_source.h"

namespace aqueduck {

namespace {

struct GeneratorSettings {
  std::vector<std::pair<std::string, std::string>> columns;
  std::optional<config::Count> rows;
  double rate = 0;
  config::Count batch{8192};
  std::uint64_t seed = 42;
};

const config::ObjectSpec<GeneratorSettings>& generator_spec() {
  static const config::ObjectSpec<GeneratorSettings> spec = [] {
    config::ObjectSpec<GeneratorSettings> out(
        "generator", "Makes rows from SQL expressions, the same ones at every run.",
        {config::field("columns", &GeneratorSettings::columns,
                       "Columns and their SQL expressions over `i`, the row's number (from 0).")
             .required()
             .example("{id: i, city: \"['Rome', 'Oslo'][1 + i % 2]\", ms: random() * 100}"),
         config::field("rows", &GeneratorSettings::rows, "How many rows; without it they never end."),
         config::field("rate", &GeneratorSettings::rate, "Rows a second; 0 is as fast as possible."),
         config::field("batch", &GeneratorSettings::batch, "Rows made at once, at most 122,880."),
         config::field("seed", &GeneratorSettings::seed, "Another seed gives other values of `random()`.")});
    out.details(
        "`random()` depends on the row's number, its place in the expressions and the seed alone, and so does anything "
        "made from `i` and `hash(i)`: a restart gives exactly the rest. Functions that look elsewhere (`now()`, "
        "`uuid()`, `nextval()`) give other values each time.");
    return out;
  }();
  return spec;
}

class GeneratorFactory final : public SourceFactory {
 public:
  explicit GeneratorFactory(GeneratorConfig config) : config_(std::move(config)) {}
  std::unique_ptr<Source> make(const ComponentContext& context) const override {
    return std::make_unique<GeneratorSource>(config_, context);
  }
  bool gives_rows() const override { return true; }

 private:
  GeneratorConfig config_;
};

std::unique_ptr<SourceFactory> parse(const config::Node& node, config::Faults& faults) {
  constexpr std::uint64_t kMaxBatch = 122'880;
  const std::size_t before = faults.all().size();
  GeneratorSettings settings = generator_spec().read(node, faults);
  if (faults.all().size() != before) return nullptr;
  if (settings.columns.empty()) faults.add(node.where, "'columns' is empty: name at least one, like `id: i`");
  if (settings.batch.value == 0 || settings.batch.value > kMaxBatch) {
    faults.add(node.where, "'batch' is {}: it must be 1 to {}", settings.batch.value, kMaxBatch);
  }
  if (settings.rate < 0) faults.add(node.where, "'rate' is {}: it can't be negative", settings.rate);
  GeneratorConfig config;
  config.columns = std::move(settings.columns);
  if (settings.rows) config.rows = settings.rows->value;
  config.rate = settings.rate;
  config.batch = settings.batch.value;
  config.seed = settings.seed;
  return std::make_unique<GeneratorFactory>(std::move(config));
}

}  // namespace

const ComponentType<SourceFactory>& generator_source() {
  static const ComponentType<SourceFactory> type{&generator_spec().info(), parse,
                                                 "generator: {columns: {id: i, ms: random() * 100}, rows: 1000}\n"};
  return type;
}

}  // namespace aqueduck
