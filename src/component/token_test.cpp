#include "component/token.h"

#include <gtest/gtest.h>

namespace aqueduck {
namespace {

TEST(Token, MatchesComparesItsOwnEntriesOnly) {
  const Token stored{{{"t/0", "10"}, {"t/1", "20"}}};
  EXPECT_TRUE(stored.matches(Token{{{"t/0", "10"}}}, Token{{{"t/0", "15"}}}));
  EXPECT_FALSE(stored.matches(Token{{{"t/0", "9"}}}, Token{{{"t/0", "15"}}}));
  EXPECT_FALSE(stored.matches(Token{{{"t/2", "1"}}}, Token{}));
  EXPECT_TRUE(stored.matches(Token{}, Token{{{"t/2", "1"}}}));
}

TEST(Token, SomebodyElsesFirstCommitIsSeen) {
  const Token stored{{{"t/0", "10"}}};
  EXPECT_FALSE(stored.matches(Token{}, Token{{{"t/0", "5"}}}));
  EXPECT_TRUE(Token{}.matches(Token{}, Token{{{"t/0", "5"}}}));
}

TEST(Token, MergedKeepsWhatOthersMoved) {
  const Token merged = Token{{{"t/0", "10"}, {"t/1", "20"}}}.merged(Token{{{"t/0", "15"}, {"t/2", "1"}}});
  EXPECT_EQ(merged.entries, (Positions{{"t/0", "15"}, {"t/1", "20"}, {"t/2", "1"}}));
}

TEST(Token, ReadsBackWhatItWrote) {
  const Token token{{{"a \"quoted\"\n/0", "10"}, {"ä", ""}}};
  EXPECT_EQ(token.to_json(), R"({"v":1,"entries":{"a \"quoted\"\n/0":"10","ä":""}})");
  EXPECT_EQ(Token::from_json(token.to_json())->entries, token.entries);
  EXPECT_EQ(Token{}.to_json(), R"({"v":1,"entries":{}})");
  EXPECT_TRUE(Token::from_json(Token{}.to_json())->empty());
}

TEST(Token, NamesThatAreNotUtf8AreRefusedOnlyWhenReadBack) {
  const Token token{{{"\xff", "1"}}};
  EXPECT_NE(token.to_json().find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(Token, DamageIsAConflict) {
  for (const char* text :
       {"", "{", "null", "[]", "{}", R"({"v":1})", R"({"v":"1","entries":{}})", R"({"v":1,"entries":[]})",
        R"({"v":1,"entries":{"a":1}})", R"({"v":1,"entries":{"a":"1"},"x":1})",
        R"({"v":1,"entries":{"a":"1","a":"2"}})", R"({"v":1,"entries":{"a":{"b":{"c":1}}}})",
        R"({"v":1,"entries":{}} tail)", "{\"v\":1,\"entries\":{\"\xff\":\"\"}}"}) {
    const auto read = Token::from_json(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().kind, ErrorKind::conflict) << text;
    EXPECT_NE(read.error().message.find("damaged"), std::string::npos) << text;
  }
  EXPECT_FALSE(Token::from_json(std::string(1 << 20, '[')));
}

TEST(Token, ANewerVersionIsNamed) {
  const auto read = Token::from_json(R"({"v":2,"entries":{}})");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("version 2, this program knows version 1"), std::string::npos);
}

}  // namespace
}  // namespace aqueduck
