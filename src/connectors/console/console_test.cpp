#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "connectors/console/console_sink.h"
#include "tests/support/conformance_sink.h"

namespace aqueduck {
namespace {

struct ConsoleTest : ::testing::Test {
  testing::TemporaryFolder folder;
  ConsoleConfig config;
  ConsoleTest() { config.descriptor = ::open((folder.path() / "out").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600); }
  ~ConsoleTest() override { ::close(config.descriptor); }
  /// Another file stands in for stdout until it heals.
  std::function<conformance::Heal()> replaced_by(std::function<int()> open_other) const {
    return [this, open_other = std::move(open_other)] {
      const int before = ::dup(config.descriptor);
      const int other = open_other();
      ::dup2(other, config.descriptor);
      ::close(other);
      return [this, before] {
        ::dup2(before, config.descriptor);
        ::close(before);
      };
    };
  }
  std::string printed() const { return testing::read_text(folder.path() / "out"); }
};

TEST_F(ConsoleTest, Conforms) {
  (void)std::signal(SIGPIPE, SIG_IGN);
  const auto pipe_without_reader = [] {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    return ends[1];
  };
  const conformance::Inapplicable no_token{"stdout holds no token: a commit has printed its rows or says why not"};
  conformance::check_sink({[&] { EXPECT_EQ(::ftruncate(config.descriptor, 0), 0); },
                           [&] { return std::make_unique<ConsoleSink>(config); },
                           {[&] { return testing::split_lines(printed()); }},
                           {{replaced_by([] { return ::open("/dev/full", O_WRONLY); }), ErrorKind::io}},
                           {{replaced_by(pipe_without_reader), ErrorKind::cancelled}},
                           no_token,
                           true});
}

TEST_F(ConsoleTest, PrintsTheCsvHeaderOnce) {
  config.format = ConsoleFormat::csv;
  ConsoleSink sink(config);
  ASSERT_TRUE(sink.open());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(sink.write(testing::id_name_batch(i, 1)));
    ASSERT_TRUE(sink.commit({}, {}));
  }
  EXPECT_EQ(printed(), "id,name\n0,n0\n1,n1\n");
}

TEST_F(ConsoleTest, FailedFlushKeepsItsRows) {
  ConsoleConfig broken = config;
  broken.descriptor = ::open("/dev/full", O_WRONLY);
  ConsoleSink sink(broken);
  ASSERT_TRUE(sink.open());
  ASSERT_TRUE(sink.write(testing::id_name_batch(7, 1)));
  auto result = sink.commit({}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::io);
  ::dup2(config.descriptor, broken.descriptor);
  ASSERT_TRUE(sink.commit({}, {}));
  EXPECT_EQ(printed(), "{\"id\":7,\"name\":\"n7\"}\n");
  ::close(broken.descriptor);
}

}  // namespace
}  // namespace aqueduck
