#include "connectors/stdin/component.h"

#include "connectors/stdin/stdin_source.h"

namespace aqueduck {

namespace {

struct StdinSettings {
  StdinFormat format = StdinFormat::jsonl;
  config::Bytes max_line{std::uint64_t{64} << 20};
};

const config::ObjectSpec<StdinSettings>& stdin_spec() {
  static const config::ObjectSpec<StdinSettings> spec(
      "stdin", "Reads lines from standard input until it ends.",
      {config::choice("format", &StdinSettings::format,
                      {{"jsonl", StdinFormat::jsonl, "a JSON value a line"},
                       {"csv", StdinFormat::csv, "CSV records; line breaks within quotes belong to the record"},
                       {"lines", StdinFormat::lines, "a message a line, empty ones too"}},
                      "What the lines are."),
       config::field("max_line", &StdinSettings::max_line, "A longer line ends the pipeline.")});
  return spec;
}

class StdinFactory final : public SourceFactory {
 public:
  explicit StdinFactory(StdinConfig config) : config_(config) {}
  std::unique_ptr<Source> make(const ComponentContext& context) const override {
    return std::make_unique<StdinSource>(config_, context.worker == 0);
  }
  bool divisible() const override { return false; }
  std::string default_decoder() const override {
    if (config_.format == StdinFormat::csv) return "csv";
    return config_.format == StdinFormat::lines ? "raw" : "json";
  }

 private:
  StdinConfig config_;
};

}  // namespace

const ComponentType<SourceFactory>& stdin_source() {
  static const ComponentType<SourceFactory> type{&stdin_spec().info(),
                                                 [](const config::Node& node, config::Faults& faults) {
                                                   const StdinSettings settings = stdin_spec().read(node, faults);
                                                   StdinConfig config;
                                                   config.format = settings.format;
                                                   config.max_line = settings.max_line.value;
                                                   return std::make_unique<StdinFactory>(config);
                                                 },
                                                 "stdin: {format: jsonl}\n"};
  return type;
}

}  // namespace aqueduck
