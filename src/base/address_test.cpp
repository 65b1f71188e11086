#include "base/address.h"

#include <gtest/gtest.h>

namespace aqueduck {
namespace {

TEST(Address, ReadsAndWrites) {
  for (const char* text : {"127.0.0.1:8080", "[::1]:8080", "example.org:1", "0.0.0.0:65535", "[2001:db8::1]:0"}) {
    const auto address = parse_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->to_string(), text);
  }
}

TEST(Address, ABarePortIsLoopback) { EXPECT_EQ(parse_address("8080")->to_string(), "127.0.0.1:8080"); }

TEST(Address, KnowsLoopback) {
  for (const char* text : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1", "1"}) {
    EXPECT_TRUE(parse_address(text)->loopback()) << text;
  }
  for (const char* text : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "example.org:1"}) {
    EXPECT_FALSE(parse_address(text)->loopback()) << text;
  }
}

TEST(Address, RefusesWhatIsNone) {
  for (const char* text : {"", ":8080", "localhost", "localhost:", "localhost:65536", "localhost:-1", "localhost:http",
                           "::1:8080", "[::1]", "[::1:8080", "[nonsense]:1", "http://localhost:1", "a b:1", "99999"}) {
    const auto address = parse_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().kind, ErrorKind::config);
    EXPECT_NE(address.error().message.find("127.0.0.1:8080"), std::string::npos);
  }
}

}  // namespace
}  // namespace aqueduck
