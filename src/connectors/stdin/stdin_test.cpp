#include <gtest/gtest.h>
#include <unistd.h>

#include "connectors/stdin/stdin_source.h"
#include "tests/support/conformance_source.h"

namespace aqueduck {
namespace {

TEST(Stdin, GivesLinesAsTheyComeAndEnds) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  StdinConfig config;
  config.descriptor = ends[0];
  StdinSource source(config, true);
  ASSERT_TRUE(source.open());
  auto event = source.read(conformance::limits(std::chrono::milliseconds(20)));
  ASSERT_TRUE(event);
  EXPECT_TRUE(std::holds_alternative<Idle>(*event));
  ASSERT_EQ(::write(ends[1], "1\n2\n3", 5), 5);
  EXPECT_EQ(conformance::texts(conformance::drain(source, {}, 1, 1)), std::vector<std::string>{"1"});
  EXPECT_EQ(conformance::texts(conformance::drain(source, {}, 1, 1)), std::vector<std::string>{"2"});
  ::close(ends[1]);
  const auto run = conformance::drain(source);
  EXPECT_EQ(conformance::texts(run), std::vector<std::string>{"3"});
  EXPECT_TRUE(run.ended);
  ::close(ends[0]);
}

TEST(Stdin, HeedsARequestToStop) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  StdinConfig config;
  config.descriptor = ends[0];
  StdinSource source(config, true);
  std::stop_source stop;
  stop.request_stop();
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(source.read(conformance::limits(std::chrono::seconds(30), 1, stop.get_token())));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(1));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace aqueduck
