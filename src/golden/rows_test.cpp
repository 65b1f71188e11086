#include "golden/rows.h"

#include <gtest/gtest.h>

namespace aqueduck::golden {
namespace {

std::string canonical(std::string_view text) {
  const auto out = canonical_json(text);
  return out ? *out : "error: " + out.error().message;
}

std::vector<Row> rows(std::string_view text) {
  auto out = rows_of_json_lines(text, "rows");
  EXPECT_TRUE(out) << out.error().message;
  return out ? *out : std::vector<Row>();
}

TEST(CanonicalJson, TypesOfNumbersDiffer) {
  EXPECT_NE(canonical("1"), canonical("1.0"));
  EXPECT_NE(canonical("1"), canonical("\"1\""));
  EXPECT_NE(canonical("1"), canonical("true"));
  EXPECT_NE(canonical("0.0"), canonical("-0.0"));
  EXPECT_NE(canonical("null"), canonical("\"null\""));
}

TEST(CanonicalJson, SpellingsOfOneNumberAreEqual) {
  EXPECT_EQ(canonical("1.0"), canonical("1.00"));
  EXPECT_EQ(canonical("1e3"), canonical("1000.0"));
  EXPECT_EQ(canonical("0.00125"), canonical("1.25E-3"));
  EXPECT_EQ(canonical("-0.0"), canonical("-0e7"));
  EXPECT_NE(canonical("0.1"), canonical("0.10000000000000001"));
}

TEST(CanonicalJson, BigNumbersKeepEveryDigit) {
  EXPECT_EQ(canonical("170141183460469231731687303715884105727"), "170141183460469231731687303715884105727");
  EXPECT_NE(canonical("170141183460469231731687303715884105727"), canonical("170141183460469231731687303715884105728"));
}

TEST(CanonicalJson, KeysAreSortedAndTextsUnescaped) {
  EXPECT_EQ(canonical(R"({"b": 1, "a": {"z": [], "y": "\u0041"}})"), R"({"a":{"y":"A","z":[]},"b":1})");
  EXPECT_EQ(canonical(R"([1, [], {}])"), "[1,[],{}]");
  EXPECT_NE(canonical("[1,2]"), canonical("[2,1]"));
}

TEST(CanonicalJson, WhatIsNoJsonIsAnError) {
  EXPECT_TRUE(canonical("{\"a\":}").starts_with("error"));
  EXPECT_TRUE(canonical("1 2").starts_with("error"));
  EXPECT_TRUE(canonical("NaN").starts_with("error"));
  EXPECT_TRUE(canonical(std::string(100'000, '[')).starts_with("error"));
}

TEST(Rows, ErrorsNameTheLine) {
  const auto out = rows_of_json_lines("{}\n\nnope\n", "expected.jsonl");
  ASSERT_FALSE(out);
  EXPECT_TRUE(out.error().message.starts_with("expected.jsonl:3: ")) << out.error().message;
}

TEST(Rows, CsvRecordsMayHoldLineBreaks) {
  const auto out = rows_of_csv("a,b\r\n1,\"x\ny\"\n2,\"\"\n");
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[0].key, "a,b");
  EXPECT_EQ(out[1].key, "1,\"x\ny\"");
  EXPECT_EQ(out[2].key, "2,\"\"");
}

TEST(Difference, UnorderedComparesMultisets) {
  EXPECT_FALSE(difference(rows("{\"a\":1}\n{\"a\":2}\n"), rows("{\"a\":2}\n{\"a\":1}\n"), false));
  EXPECT_TRUE(difference(rows("{\"a\":1}\n{\"a\":2}\n"), rows("{\"a\":2}\n{\"a\":1}\n"), true));
  const auto twice = difference(rows("{\"a\":1}\n"), rows("{\"a\":1}\n{\"a\":1}\n"), false);
  ASSERT_TRUE(twice);
  EXPECT_NE(twice->find("0 missing (-), 1 not expected (+); 1 rows expected, 2 got"), std::string::npos) << *twice;
  EXPECT_NE(twice->find("+ {\"a\":1}"), std::string::npos) << *twice;
}

TEST(Difference, OrderedStartsAtTheFirstRowThatDiffers) {
  const auto found = difference(rows("{\"a\":1}\n{\"a\":2}\n"), rows("{\"a\":1}\n{\"a\":2.0}\n"), true);
  ASSERT_TRUE(found);
  EXPECT_NE(found->find("from row 2 on"), std::string::npos) << *found;
  EXPECT_NE(found->find("- {\"a\":2}\n"), std::string::npos) << *found;
  EXPECT_NE(found->find("+ {\"a\":2.0}\n"), std::string::npos) << *found;
}

TEST(Difference, ShowsFewRowsAndCutsLongOnes) {
  std::string many;
  for (int i = 0; i < 20; ++i) many += "{\"a\":" + std::to_string(i) + "}\n";
  const auto found = difference({}, rows(many), true);
  ASSERT_TRUE(found);
  EXPECT_NE(found->find("… and 15 more"), std::string::npos) << *found;
  const auto cut = difference({}, rows("{\"a\":\"" + std::string(5'000, 'x') + "\"}\n"), true);
  ASSERT_TRUE(cut);
  EXPECT_LT(cut->size(), 600U);
}

TEST(Difference, TheHeadingOfCsvIsNoRow) {
  EXPECT_FALSE(difference(rows_of_csv("z\n1\n2\n"), rows_of_csv("z\n2\n1\n"), false, true));
  EXPECT_TRUE(difference(rows_of_csv("z\n1\n2\n"), rows_of_csv("1\nz\n2\n"), false, true));
}

TEST(Narrowed, KeepsOnlyTheKeysOfThePattern) {
  const auto out = narrowed(rows("{\"a\":1,\"b\":2,\"c\":3}\n"), rows("{\"c\":0,\"a\":0}\n"));
  ASSERT_TRUE(out);
  ASSERT_EQ(out->size(), 1U);
  EXPECT_EQ(out->front().key, "{\"a\":1,\"c\":3}");
}

TEST(ChosenColumns, EmptyOnesAreLeftOut) {
  const auto out = chosen_columns("{\"a\":null,\"b\":1}\n{\"a\":null,\"b\":null}\n", {});
  ASSERT_TRUE(out);
  EXPECT_EQ(*out, "{\"b\":1}\n{\"b\":null}\n");
  const auto same = chosen_columns("{\"a\":null,\"b\":1}\n", rows("{\"a\":5}\n"));
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, "{\"a\":null}\n");
}

TEST(SortedText, KeepsTheHeadingFirst) {
  EXPECT_EQ(sorted_text(rows_of_csv("z\nb\na\n"), true), "z\na\nb\n");
  EXPECT_EQ(sorted_text(rows("{\"b\":1}\n{\"a\":1}\n"), false), "{\"a\":1}\n{\"b\":1}\n");
}

}  // namespace
}  // namespace aqueduck::golden
