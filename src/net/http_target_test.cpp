#include "net/http_target.h"

#include <gtest/gtest.h>

namespace aqueduck::net {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

TEST(HttpTarget, PathAndQuery) {
  const auto target = parse_target("/a%20b/%C3%A9?x=1&y=a+b%26c&flag&&=v&x=2");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/a b/é");
  EXPECT_EQ(target->query, (Query{{"x", "1"}, {"y", "a b&c"}, {"flag", ""}, {"", "v"}, {"x", "2"}}));
}

TEST(HttpTarget, PlusStaysInThePath) { EXPECT_EQ(parse_target("/a+b")->path, "/a+b"); }

TEST(HttpTarget, AnAbsoluteOneLosesItsOrigin) {
  EXPECT_EQ(parse_target("http://host:1/p?q=1")->path, "/p");
  EXPECT_EQ(parse_target("http://host")->path, "/");
  const auto target = parse_target("https://host?q=1");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/");
  EXPECT_EQ(target->query, (Query{{"q", "1"}}));
}

TEST(HttpTarget, RefusesWhatIsNone) {
  for (const char* text :
       {"", "*", "path", "?q", "/%", "/%4", "/%zz", "/a%00b", "/a%0d%0aSet-Cookie", "/?a=%g0", "/a#b", "ftp://host/"}) {
    const auto target = parse_target(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().kind, ErrorKind::decode);
  }
}

}  // namespace
}  // namespace aqueduck::net
