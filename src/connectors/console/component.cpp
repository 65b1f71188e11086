#include "connectors/console/component.h"

#include "connectors/console/console_sink.h"

namespace aqueduck {

namespace {

const config::ObjectSpec<ConsoleConfig>& console_spec() {
  static const config::ObjectSpec<ConsoleConfig> spec(
      "console", "Prints the rows to stdout: a table on a terminal, JSON lines otherwise.",
      {config::choice("format", &ConsoleConfig::format,
                      {{"auto", ConsoleFormat::automatic, "a table on a terminal, `jsonl` otherwise"},
                       {"table", ConsoleFormat::table, "a table for each commit"},
                       {"jsonl", ConsoleFormat::jsonl, "one JSON object a line"},
                       {"csv", ConsoleFormat::csv, "CSV with a header line"}},
                      "How rows are printed.")});
  return spec;
}

class ConsoleFactory final : public SinkFactory {
 public:
  explicit ConsoleFactory(ConsoleConfig config) : config_(config) {}
  std::unique_ptr<Sink> make(const ComponentContext& /*context*/) const override {
    return std::make_unique<ConsoleSink>(config_);
  }
  SinkTraits traits() const override { return console_traits(); }

 private:
  ConsoleConfig config_;
};

}  // namespace

const ComponentType<SinkFactory>& console_sink() {
  static const ComponentType<SinkFactory> type{
      &console_spec().info(),
      [](const config::Node& node, config::Faults& faults) {
        return std::make_unique<ConsoleFactory>(console_spec().read(node, faults));
      },
      "console: {format: jsonl}\n"};
  return type;
}

}  // namespace aqueduck
