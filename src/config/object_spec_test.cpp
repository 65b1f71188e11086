#include "config/object_spec.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "config/json_schema.h"
#include "config/loader.h"
#include "config/markdown.h"

namespace aqueduck::config {
namespace {

enum class Start { earliest, latest };
struct Tls {
  std::string ca;
  bool verify = true;
};
struct Config {
  std::vector<std::string> topics;
  std::uint16_t port = 9092;
  std::int64_t big = -1;
  double ratio = 0.5;
  Start start = Start::latest;
  std::optional<Start> maybe;
  std::optional<Tls> tls;
  std::vector<Tls> more;
  std::map<std::string, Tls> named;
  Duration wait = std::chrono::seconds(5);
  Bytes size{64 << 20};
  std::optional<Count> rows;
  Secret password;
  Node raw;
  std::vector<std::pair<std::string, std::string>> columns;
  std::filesystem::path folder = "out";
  std::vector<Duration> waits = {std::chrono::seconds(1)};
};

const ObjectSpec<Tls>& tls_spec() {
  static const ObjectSpec<Tls> spec = ObjectSpec<Tls>("tls", "TLS.",
                                                      {field("ca", &Tls::ca, "The CA.").required().example("ca.pem"),
                                                       field("verify", &Tls::verify, "Checks the peer.")})
                                          .shorthand("ca");
  return spec;
}

const ObjectSpec<Config>& config_spec() {
  static const ObjectSpec<Config> spec(
      "kafka", "Reads topics.",
      {field("topics", &Config::topics, "Topics.").required().example("[events]"),
       field("port", &Config::port, "The port."), field("big", &Config::big, "Big."),
       field("ratio", &Config::ratio, "Ratio."),
       choice("start", &Config::start,
              {{"earliest", Start::earliest, "The oldest."}, {"latest", Start::latest, "New|est."}}, "Start."),
       choice("maybe", &Config::maybe, {{"earliest", Start::earliest, ""}}, "Maybe."),
       object("tls", &Config::tls, tls_spec(), "TLS."), object("more", &Config::more, tls_spec(), "More."),
       object("named", &Config::named, tls_spec(), "Named."), field("wait", &Config::wait, "Wait."),
       field("size", &Config::size, "Size."), field("rows", &Config::rows, "Rows."),
       field("password", &Config::password, "Password."), field("raw", &Config::raw, "Raw."),
       field("columns", &Config::columns, "Columns."), field("folder", &Config::folder, "Folder."),
       field("waits", &Config::waits, "Waits.")});
  return spec;
}

struct Read {
  Config config;
  std::string message;
};

Read read(std::string_view yaml, const Environment& environment = nullptr) {
  Faults faults;
  Read out;
  const auto node = load_text(yaml, "p.yml", environment, faults);
  if (node) out.config = config_spec().read(*node, faults);
  out.message = faults.to_error().message;
  return out;
}

TEST(ObjectSpec, ReadsEveryKind) {
  const auto [config, message] = read(
      "topics: [a, 010, yes, null-ish]\nport: 1_000\nbig: -9223372036854775808\nratio: 1e-3\nstart: earliest\n"
      "maybe: earliest\ntls: {ca: x, verify: false}\nmore: [{ca: a}, b]\nnamed: {one: {ca: c}}\nwait: 1m30s\n"
      "size: 1.5KiB\nrows: 5_000_000\npassword: hunter-2-x\nraw: {any: [thing]}\ncolumns: {z: INT, a: VARCHAR}\n"
      "folder: a/b\nwaits: [1s, 2s]\n");
  ASSERT_EQ(message, "");
  EXPECT_EQ(config.topics, (std::vector<std::string>{"a", "010", "yes", "null-ish"}));
  EXPECT_EQ(config.port, 1000);
  EXPECT_EQ(config.big, INT64_MIN);
  EXPECT_EQ(config.ratio, 1e-3);
  EXPECT_EQ(config.start, Start::earliest);
  EXPECT_EQ(config.maybe, Start::earliest);
  EXPECT_EQ(config.tls->ca, "x");
  EXPECT_FALSE(config.tls->verify);
  ASSERT_EQ(config.more.size(), 2U);
  EXPECT_EQ(config.more[1].ca, "b");
  EXPECT_EQ(config.named.at("one").ca, "c");
  EXPECT_EQ(config.wait, std::chrono::seconds(90));
  EXPECT_EQ(config.size.value, 1536U);
  EXPECT_EQ(config.rows->value, 5'000'000U);
  EXPECT_EQ(config.password.reveal(), "hunter-2-x");
  EXPECT_EQ(config.raw.find("any")->items[0].text, "thing");
  EXPECT_EQ(config.columns.front().first, "z");
  EXPECT_EQ(config.folder, "a/b");
  EXPECT_EQ(config.waits.size(), 2U);
}

TEST(ObjectSpec, OneStandsForAListAndNothingForTheDefault) {
  const auto [config, message] = read("topics: a\nport:\ntls: ~\nmore: {ca: x}\nstart:\nwaits:\n");
  ASSERT_EQ(message, "");
  EXPECT_EQ(config.topics, std::vector<std::string>{"a"});
  EXPECT_EQ(config.port, 9092);
  EXPECT_FALSE(config.tls);
  EXPECT_EQ(config.more.size(), 1U);
  EXPECT_EQ(config.waits.size(), 1U);
}

TEST(ObjectSpec, TellsAllFaultsWithTheirPlaces) {
  const auto message =
      read(
          "topcs: [a]\nport: 70000\nbig: 1.5\nratio: fast\nstart: erliest\ntls: {verify: yes, cert: x}\n"
          "more: [a, {cb: 1}]\nnamed: [x]\nwait: 5\nsize: 5 parsecs\nrows: -1\npassword: [x]\n"
          "columns: x\nwaits: [1s, 2]\nfolder: {a: b}\n")
          .message;
  EXPECT_EQ(message,
            "p.yml:1:1: kafka has no field 'topcs' (did you mean 'topics'?)\n"
            "p.yml:1:1: kafka needs 'topics': Topics. For example: topics: [events]\n"
            "p.yml:2:7: port: '70000' is out of range: it must be from 0 to 65535\n"
            "p.yml:3:6: big: wants a whole number, not '1.5'\n"
            "p.yml:4:8: ratio: wants a number, not 'fast'\n"
            "p.yml:5:8: start: wants one of earliest, latest, not 'erliest' (did you mean 'earliest'?)\n"
            "p.yml:6:6: tls needs 'ca': The CA. For example: ca: ca.pem\n"
            "p.yml:6:15: verify: wants true or false, not 'yes'\n"
            "p.yml:6:20: tls has no field 'cert'; it has ca, verify\n"
            "p.yml:7:11: tls needs 'ca': The CA. For example: ca: ca.pem\n"
            "p.yml:7:12: tls has no field 'cb' (did you mean 'ca'?)\n"
            "p.yml:8:8: wants a map (key: value), not a list\n"
            "p.yml:9:7: wait: wants a duration like 1s, 250ms, 5m or 1m30s, not '5'\n"
            "p.yml:10:7: size: wants a number of bytes like 64MiB, 512KiB or 4096, not '5 parsecs'\n"
            "p.yml:11:7: rows: wants a count like 5000 or 5_000_000, not '-1'\n"
            "p.yml:12:11: password: wants text, not a list\n"
            "p.yml:13:10: columns: wants a map (key: value), not 'x'\n"
            "p.yml:14:13: waits: wants a duration like 1s, 250ms, 5m or 1m30s, not '2'\n"
            "p.yml:15:9: folder: wants text, not a map");
}

TEST(ObjectSpec, SaysWhatIsMissing) {
  EXPECT_EQ(read("").message, "p.yml: kafka needs 'topics': Topics. For example: topics: [events]");
  EXPECT_EQ(read("topics:\n").message, "p.yml:1:1: topics: a value is needed here (Topics.)");
  EXPECT_EQ(read("[a]").message.substr(0, 45), "p.yml:1:1: kafka wants a map of fields (topic");
  EXPECT_EQ(read("topics: [a, ~]").message, "p.yml:1:13: topics: wants text, not nothing");
}

TEST(ObjectSpec, QuotesSayTextExceptAroundVariables) {
  const Environment environment = [](const std::string&) { return std::optional<std::string>("17"); };
  EXPECT_EQ(read("topics: a\nport: '5'\n").message, "p.yml:2:7: port: wants a whole number, not '5' in quotes");
  const auto [config, message] = read("topics: a\nport: \"${PORT}\"\n", environment);
  EXPECT_EQ(message, "");
  EXPECT_EQ(config.port, 17);
}

TEST(ObjectSpec, SecretsAreNotShown) {
  const Environment environment = [](const std::string&) { return std::optional<std::string>("s3cret-value"); };
  EXPECT_EQ(read("topics: a\nport: ${API_TOKEN}\n", environment).message,
            "p.yml:2:7: port: wants a whole number, not this value (not shown: it is secret)");
}

TEST(ObjectSpec, LongValuesAreCut) {
  const std::string message = read("topics: a\nport: " + std::string(500, 'x')).message;
  EXPECT_LT(message.size(), 150U);
}

TEST(ObjectSpec, JsonSchemaTellsTypesDefaultsAndChoices) {
  const auto schema = nlohmann::json::parse(json_schema(config_spec().info()));
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema["title"], "kafka");
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["required"], nlohmann::json::array({"topics"}));
  const auto& properties = schema["properties"];
  EXPECT_EQ(properties["port"]["default"], 9092);
  EXPECT_EQ(properties["waits"]["default"], nlohmann::json::array({"1s"}));
  EXPECT_EQ(properties["ratio"]["default"], 0.5);
  EXPECT_EQ(properties["start"]["default"], "latest");
  EXPECT_EQ(properties["start"]["anyOf"][0]["const"], "earliest");
  EXPECT_EQ(properties["topics"]["examples"][0], nlohmann::json::array({"events"}));
  EXPECT_EQ(properties["tls"]["anyOf"][0]["properties"]["verify"]["default"], true);
  EXPECT_EQ(properties["password"]["writeOnly"], true);
  EXPECT_FALSE(properties["tls"].contains("default"));
  EXPECT_EQ(properties["raw"], (nlohmann::json{{"description", "Raw."}}));
  EXPECT_EQ(nlohmann::json::parse(json_schema_part(tls_spec().info()))["title"], "tls");
}

TEST(ObjectSpec, MarkdownShowsAnExampleAndATable) {
  const std::string page = markdown(config_spec().info());
  constexpr std::string_view kBegin = R"(# kafka

Reads topics.

```yaml
kafka:
  topics: [events]  # required
# port: 9092
)";
  EXPECT_TRUE(page.starts_with(kBegin)) << page;
  for (const char* row :
       {"| `topics` | one or a list of text | required | Topics. |\n", "| `port` | integer | `9092` | The port. |\n",
        "| `start` | `earliest`, `latest` | `latest` | Start. `earliest`: The oldest. `latest`: New\\|est. |\n",
        "| `tls.verify` | true or false | `true` | Checks the peer. |\n",
        "| `more[].ca` | text | required | The CA. |\n", "| `named.*.ca` | text | required | The CA. |\n",
        "| `rows` | count | – | Rows. |\n"}) {
    EXPECT_NE(page.find(row), std::string::npos) << row << page;
  }
}

TEST(ObjectSpec, TheExampleOfThePageIsAConfiguration) {
  const std::string page = markdown(config_spec().info());
  const std::size_t begin = page.find("```yaml\nkafka:\n") + 15;
  std::string yaml = page.substr(begin, page.find("```\n", begin) - begin);
  for (const bool all : {false, true}) {
    std::string text;
    std::istringstream lines(yaml);
    for (std::string line; std::getline(lines, line);) {
      if (all && line.starts_with("# ")) line.replace(0, 2, "  ");
      text += line + "\n";
    }
    const Environment environment = [](const std::string&) { return std::optional<std::string>("x"); };
    const auto result = read(text, environment);
    EXPECT_EQ(result.message, "") << text;
    EXPECT_EQ(result.config.topics, std::vector<std::string>{"events"});
    EXPECT_EQ(result.config.more.size(), all ? 1U : 0U) << text;
  }
}

TEST(DidYouMean, NearestWithinAThird) {
  EXPECT_EQ(did_you_mean("tpoics", {"topics", "group"}), " (did you mean 'topics'?)");
  EXPECT_EQ(did_you_mean("Session-Timeout", {"session_timeout"}), " (did you mean 'session_timeout'?)");
  EXPECT_EQ(did_you_mean("xyz", {"topics", "group"}), "");
  EXPECT_EQ(did_you_mean(std::string(100'000, 'x'), {"topics"}), "");
}

TEST(Faults, AreToldInTheOrderOfTheFile) {
  const auto file = std::make_shared<const std::string>("p.yml");
  Faults faults;
  faults.add(Location{file, 9, 1}, "later");
  faults.add(Location{file, 2, 5}, "second");
  faults.add(Location{file, 2, 1}, "first {}", 1);
  faults.add(Location{}, "anywhere");
  EXPECT_EQ(faults.to_error().message, "anywhere\np.yml:2:1: first 1\np.yml:2:5: second\np.yml:9:1: later");
  EXPECT_EQ(faults.to_error().kind, ErrorKind::config);
}

}  // namespace
}  // namespace aqueduck::config
