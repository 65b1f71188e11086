#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "connectors/console/console_sink.h"
#include "tests/support/conformance_sink.h"

namespace aqueduck {
namespace {

struct ConsoleTest : ::testing::Test {
  testing::TemporaryFolder folder;
  ConsoleConfig config;
  ConsoleTest() { config.descriptor = ::open((folder.path() / "out").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600); }
  ~ConsoleTest() override { ::close(config.descriptor); }
  std::string printed() const { return testing::read_text(folder.path() / "out"); }
};

TEST_F(ConsoleTest, Conforms) {
  conformance::check_sink(
      {[&] { return std::make_unique<ConsoleSink>(config); }, [&] { return testing::split_lines(printed()); }});
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
