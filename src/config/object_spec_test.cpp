#include "config/object_spec.h"

#include <gtest/gtest.h>

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
};
const ObjectSpec<Tls>& tls_spec() {
  static const ObjectSpec<Tls> spec("tls", "TLS.",
                                    {field("ca", &Tls::ca, "The CA."), field("verify", &Tls::verify, "Verify.")});
  return spec;
}
const ObjectSpec<Config>& config_spec() {
  static const ObjectSpec<Config> spec(
      "kafka", "Kafka.",
      {field("topics", &Config::topics, "Topics.").required().example("[events]"),
       field("port", &Config::port, "The port."),
       choice("start", &Config::start, {{"earliest", Start::earliest, "a"}, {"latest", Start::latest, "b"}}, "Start."),
       choice("maybe", &Config::maybe, {{"earliest", Start::earliest, "a"}}, "Maybe."),
       object("tls", &Config::tls, tls_spec(), "TLS."), object("more", &Config::more, tls_spec(), "TLS."),
       object("named", &Config::named, tls_spec(), "TLS."), field("wait", &Config::wait, "Wait."),
       field("size", &Config::size, "Size."), field("rows", &Config::rows, "Rows."),
       field("password", &Config::password, "Password."), field("raw", &Config::raw, "Raw."),
       field("columns", &Config::columns, "Columns.")});
  return spec;
}

TEST(ObjectSpec, Compiles) {
  Faults faults;
  config_spec().read(Node{}, faults);
  EXPECT_EQ(faults.to_error().message, "kafka needs 'topics': Topics. For example: topics: [events]");
}

}  // namespace
}  // namespace aqueduck::config
