#include <fcntl.h>
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

/// Pipes with everything already in them, as one descriptor each that lives as long as the test.
struct StdinTest : ::testing::Test {
  std::vector<int> open;
  ~StdinTest() override {
    for (const int descriptor : open) ::close(descriptor);
  }
  std::unique_ptr<StdinSource> over(std::string_view text, bool ends) {
    int pipe[2];
    EXPECT_EQ(::pipe(pipe), 0);
    EXPECT_EQ(::write(pipe[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    open.push_back(pipe[0]);
    if (ends) {
      ::close(pipe[1]);
    } else {
      open.push_back(pipe[1]);
    }
    config.descriptor = pipe[0];
    return std::make_unique<StdinSource>(config, true);
  }
  StdinConfig config;
};

TEST_F(StdinTest, Conforms) {
  const auto folder_in_its_place = [this] {
    const int descriptor = config.descriptor;
    const int before = ::dup(descriptor);
    const int folder = ::open("/", O_RDONLY | O_DIRECTORY);
    ::dup2(folder, descriptor);
    ::close(folder);
    return [descriptor, before] {
      ::dup2(before, descriptor);
      ::close(before);
    };
  };
  conformance::check_source({[this] { return over("1\n2\n3\n4\n5", true); },
                             {"1", "2", "3", "4", "5"},
                             conformance::Inapplicable{"what was read of a pipe is gone; and it has no positions"},
                             {{folder_in_its_place, ErrorKind::io}},
                             {{folder_in_its_place, ErrorKind::io}},
                             {[this] { return over("", false); }}});
}

}  // namespace
}  // namespace aqueduck
