#include "app/sql_excerpt.h"

#include <gtest/gtest.h>

namespace aqueduck::app {
namespace {

std::string at(std::string_view sql, std::optional<std::size_t> offset) {
  return with_excerpt(sql, sql::SqlError{{ErrorKind::config, "bad"}, offset});
}

TEST(SqlExcerpt, PutsACaretUnderThePlace) {
  EXPECT_EQ(at("SELECT nope", 7), "line 1, column 8: bad\n  SELECT nope\n         ^");
  EXPECT_EQ(at("SELECT 1;\n  nope;\n", 12), "line 2, column 3: bad\n    nope;\n    ^");
}

TEST(SqlExcerpt, CountsCharacters) {
  EXPECT_EQ(at("SELECT 'é', x", 13), "line 1, column 13: bad\n  SELECT 'é', x\n              ^");
}

TEST(SqlExcerpt, TakesPlacesAtAndPastTheEnd) {
  EXPECT_EQ(at("ab", 2), "line 1, column 3: bad\n  ab\n    ^");
  EXPECT_EQ(at("ab", 99), "line 1, column 3: bad\n  ab\n    ^");
  EXPECT_EQ(at("", 0), "line 1, column 1: bad\n  \n  ^");
  EXPECT_EQ(at("ab\n", 3), "line 2, column 1: bad\n  \n  ^");
}

TEST(SqlExcerpt, SaysNothingOfAnUnknownPlace) { EXPECT_EQ(at("SELECT 1", std::nullopt), "bad"); }

TEST(SqlExcerpt, CutsLongLinesBetweenCharacters) {
  std::string sql;
  for (int i = 0; i < 200; ++i) sql += "é";
  const std::string text = at(sql, 201);
  EXPECT_NE(text.find("\n  …é"), std::string::npos) << text;
  EXPECT_NE(text.find("é…\n"), std::string::npos) << text;
  EXPECT_LT(text.size(), 400U);
}

}  // namespace
}  // namespace aqueduck::app
