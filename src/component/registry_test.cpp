#include "component/registry.h"

#include <gtest/gtest.h>

#include "config/loader.h"

namespace aqueduck {
namespace {

struct PathConfig {
  std::string path;
};
const config::ObjectSpec<PathConfig>& file_spec() {
  static const config::ObjectSpec<PathConfig> spec("file", "Writes a file.",
                                                   {config::field("path", &PathConfig::path, "Where.").required()});
  return spec;
}
const config::ObjectSpec<PathConfig>& console_spec() {
  static const config::ObjectSpec<PathConfig> spec("console", "Writes lines.",
                                                   {config::field("path", &PathConfig::path, "Where.")});
  return spec;
}

class NamedSink : public SinkFactory {
 public:
  explicit NamedSink(std::string path) : path_(std::move(path)) {}
  std::unique_ptr<Sink> make(const ComponentContext& /*context*/) const override { return nullptr; }
  SinkTraits traits() const override { return {false, {}, path_}; }

 private:
  std::string path_;
};

ComponentType<SinkFactory> sink_type(const config::ObjectSpec<PathConfig>& spec) {
  ComponentType<SinkFactory> type;
  type.info = &spec.info();
  type.parse = [&spec](const config::Node& node, config::Faults& faults) -> std::unique_ptr<SinkFactory> {
    return std::make_unique<NamedSink>(spec.read(node, faults).path);
  };
  return type;
}

struct Parsed {
  std::unique_ptr<SinkFactory> sink;
  std::string message;
};

Parsed parse_sink(std::string_view yaml) {
  Registry registry;
  registry.sinks = {sink_type(file_spec()), sink_type(console_spec())};
  config::Faults faults;
  const auto node = config::load_text(yaml, "p.yml", nullptr, faults);
  Parsed out;
  if (node) out.sink = registry.sink(*node, faults);
  out.message = faults.to_error().message;
  return out;
}

TEST(Registry, FindsByItsOneKey) {
  const auto parsed = parse_sink("file: {path: out.jsonl}");
  ASSERT_NE(parsed.sink, nullptr) << parsed.message;
  EXPECT_EQ(parsed.sink->traits().guarantee, "out.jsonl");
}

TEST(Registry, ABareNameNeedsNoSettings) {
  for (const char* yaml : {"console", "console:", "console: {}", "{console: }"}) {
    const auto parsed = parse_sink(yaml);
    EXPECT_NE(parsed.sink, nullptr) << yaml;
    EXPECT_EQ(parsed.message, "") << yaml;
  }
  EXPECT_EQ(parse_sink("file").message, "p.yml:1:1: file needs 'path': Where.");
}

TEST(Registry, NamesWhatExists) {
  EXPECT_EQ(parse_sink("consle: {}").message, "p.yml:1:1: there is no sink 'consle' (did you mean 'console'?)");
  EXPECT_EQ(parse_sink("elastic: {}").message, "p.yml:1:1: there is no sink 'elastic'; there is file, console");
  EXPECT_EQ(parse_sink("").message,
            "p.yml: a sink is written like '{file: {…}}', not as nothing; there is file, console");
  EXPECT_EQ(parse_sink("[console]").message.substr(0, 33), "p.yml:1:1: a sink is written like");
  EXPECT_EQ(parse_sink("file: {path: x}\nconsole:\n").message,
            "p.yml:2:1: a sink has one key, its kind; here are 2: file, console");
}

TEST(Registry, FaultsOfSettingsStandWhereTheyAre) {
  EXPECT_EQ(parse_sink("file: {pth: x}").message,
            "p.yml:1:7: file needs 'path': Where.\np.yml:1:8: file has no field 'pth' (did you mean 'path'?)");
}

}  // namespace
}  // namespace aqueduck
