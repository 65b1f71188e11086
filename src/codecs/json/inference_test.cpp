#include "codecs/json/inference.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "codecs/json/json_decoder.h"
#include "tests/support/arrow_text.h"

namespace aqueduck::json {
namespace {

using aqueduck::testing::invalid;
using aqueduck::testing::row_text;
using aqueduck::testing::schema_text;
using Texts = std::vector<std::string>;

Decoded decode(JsonDecoder& decoder, const Texts& texts) {
  std::vector<Message> messages;
  for (const std::string& text : texts) messages.emplace_back().payload = text;
  EXPECT_TRUE(decoder.decode(messages));
  auto decoded = decoder.finish();
  EXPECT_TRUE(decoded);
  EXPECT_EQ(invalid(decoded->batch), "");
  return std::move(*decoded);
}

TEST(JsonInference, TypesOfTheFirstBatch) {
  struct Case {
    Texts values;
    std::string type;
    std::string last;
  };
  const std::vector<Case> cases = {
      {{"true", "null"}, "BOOLEAN", "NULL"},
      {{"null", "null", "7"}, "BIGINT", "7"},
      {{"1", "2.5"}, "DOUBLE", "2.5"},
      {{"1", "-0.0"}, "DOUBLE", "-0"},
      {{"18446744073709551615"}, "UBIGINT", "18446744073709551615"},
      {{"18446744073709551615", "-1"}, "DECIMAL(38,0)", "-1"},
      {{"18446744073709551616"}, "DECIMAL(38,0)", "18446744073709551616"},
      {{"1" + std::string(40, '0')}, "JSON", "`1" + std::string(40, '0') + "`"},
      {{"9007199254740993", "0.5"}, "JSON", "`0.5`"},
      {{"1e400"}, "JSON", "`1e400`"},
      {{"\"2024-01-01\""}, "DATE", "19723"},
      {{"\"1970-01-01T00:00:01Z\"", "\"1970-01-01T01:00:01+01:00\""}, "TIMESTAMPTZ", "1000000"},
      {{"\"1970-01-01T00:00:01\""}, "TIMESTAMP", "1000000"},
      {{"\"1970-01-01T00:00:01\"", "\"1970-01-01\""}, "VARCHAR", "'1970-01-01'"},
      {{"\"1970-01-01T00:00:01.0000001\""}, "VARCHAR", "'1970-01-01T00:00:01.0000001'"},
      {{"\"1970-01-01\"", "\"soon\""}, "VARCHAR", "'soon'"},
      {{"\"NaN\""}, "VARCHAR", "'NaN'"},
      {{"1", "\"x\""}, "JSON", "`\"x\"`"},
      {{"1", "true"}, "JSON", "`true`"},
      {{"[1]", "[null, 2.5]"}, "DOUBLE[]", "[NULL, 2.5]"},
      {{"[]", "[[1]]"}, "BIGINT[][]", "[[1]]"},
      {{"[1, \"x\"]"}, "JSON[]", "[`1`, `\"x\"`]"},
      {{"{}", "{\"a\": 1}", "{\"b\": [{\"c\": null}]}"},
       "STRUCT(a BIGINT, b STRUCT(c JSON)[])",
       "{a=NULL, b=[{c=NULL}]}"},
      {{"{}", "[]"}, "JSON", "`[]`"},
      {{"[null]"}, "JSON", "`[null]`"},
  };
  for (const Case& item : cases) {
    JsonDecoder decoder{JsonOptions{}};
    EXPECT_EQ(decoder.schema(), nullptr);
    Texts texts;
    for (const std::string& value : item.values) texts.push_back(R"({"c":)" + value + "}");
    const Decoded decoded = decode(decoder, texts);
    EXPECT_TRUE(decoded.schema_changed);
    EXPECT_TRUE(decoded.failures.empty());
    EXPECT_EQ(schema_text(*decoded.batch.schema), "c " + item.type) << item.values[0];
    EXPECT_EQ(row_text(decoded.batch, decoded.batch.rows() - 1), "c=" + item.last);
    // A restart knows the same columns.
    JsonDecoder restarted{JsonOptions{}};
    ASSERT_TRUE(restarted.restore(decoder.saved_schema()));
    EXPECT_EQ(restarted.schema()->fingerprint(), decoded.batch.schema->fingerprint());
    EXPECT_EQ(restarted.saved_schema(), decoder.saved_schema());
  }
}

TEST(JsonInference, ColumnsGrow) {
  JsonDecoder decoder{JsonOptions{}};
  EXPECT_TRUE(decode(decoder, {R"({"a":1,"p":null,"s":{"x":1}})", "broken"}).schema_changed);
  EXPECT_EQ(schema_text(*decoder.schema()), "a BIGINT, p JSON, s STRUCT(x BIGINT)");
  EXPECT_FALSE(decode(decoder, {R"({"p":{}})"}).schema_changed);

  const Decoded grown = decode(decoder, {R"({"a":2})", R"({"p":[1],"s":{"y":"z"},"n":true})"});
  EXPECT_TRUE(grown.schema_changed);
  EXPECT_EQ(row_text(grown.batch, 0), "a=2 p=NULL s=NULL n=NULL");
  EXPECT_EQ(row_text(grown.batch, 1), "a=NULL p=[1] s={x=NULL, y='z'} n=true");

  const Decoded misfit = decode(decoder, {R"({"a":1.5})"});
  EXPECT_FALSE(misfit.schema_changed);
  ASSERT_EQ(misfit.failures.size(), 1U);
  EXPECT_EQ(misfit.failures[0].reason, "column 'a': the value 1.5 doesn't fit BIGINT");
}

TEST(JsonInference, ColumnsAreBounded) {
  JsonOptions options;
  options.limits.max_columns = 3;
  JsonDecoder decoder{options};
  const Decoded first = decode(decoder, {R"({"a":1,"b":{"c":1}})", R"({"d":1})"});
  EXPECT_EQ(first.batch.rows(), 1);
  ASSERT_EQ(first.failures.size(), 1U);
  EXPECT_NE(first.failures[0].reason.find("max_columns"), std::string::npos);
  EXPECT_EQ(decode(decoder, {R"({"a":2})", R"({"e":1})"}).failures.size(), 1U);
}

TEST(JsonInference, OnlyWhatIsReadIsBuilt) {
  JsonDecoder decoder{JsonOptions{}};
  const std::string event = R"({"ip":"x","p":{"city":"Berlin","deep":{"k":[1,2]}},"t":[{"u":1}]})";
  decode(decoder, {event});
  decoder.restrict_to(std::vector<ColumnPath>{{"p", "city"}, {"t", "u"}});
  EXPECT_EQ(schema_text(*decoder.schema()), "p STRUCT(city VARCHAR), t STRUCT(u BIGINT)[]");
  EXPECT_EQ(row_text(decode(decoder, {event}).batch, 0), "p={city='Berlin'} t=[{u=1}]");

  // What is new is noticed, and built until the next restriction.
  const Decoded grown = decode(decoder, {R"({"new":1,"p":{"zip":"1","city":"Rome"}})"});
  EXPECT_TRUE(grown.schema_changed);
  EXPECT_EQ(row_text(grown.batch, 0), "p={city='Rome', zip='1'} t=NULL new=1");
  decoder.restrict_to(std::vector<ColumnPath>{{"p", "city"}});
  EXPECT_EQ(schema_text(*decoder.schema()), "p STRUCT(city VARCHAR)");

  decoder.restrict_to(std::vector<ColumnPath>{});
  const Decoded none = decode(decoder, {event, event});
  EXPECT_EQ(none.batch.rows(), 2);
  EXPECT_EQ(none.batch.schema->size(), 0U);
  decoder.restrict_to(std::nullopt);
  EXPECT_EQ(decoder.schema()->size(), 4U);
}

TEST(JsonInference, SavedColumnsOfOthersAreRefused) {
  for (const char* saved : {"x", "{}", R"({"version":2,"columns":[]})", R"({"version":1,"columns":[{"name":"a"}]})",
                            R"({"version":1,"columns":[{"name":"a","type":"LIST"}]})",
                            R"({"version":1,"columns":[{"name":"a","type":"WHAT"}]})"}) {
    JsonDecoder decoder{JsonOptions{}};
    const auto restored = decoder.restore(saved);
    ASSERT_FALSE(restored) << saved;
    EXPECT_EQ(restored.error().kind, ErrorKind::conflict);
  }
}

TEST(JsonInference, AddedFieldsOfDeclaredStructsAreSaved) {
  JsonOptions options;
  options.new_columns = NewColumns::extend;
  Column inner;
  inner.name = "x";
  inner.kind = ColumnKind::int32;
  Column outer;
  outer.name = "s";
  outer.kind = ColumnKind::structure;
  outer.children = {inner};
  options.declared = {outer, inner};
  JsonDecoder decoder{options};
  decode(decoder, {R"({"s":{"x":1,"y":2}})"});
  EXPECT_EQ(decoder.saved_schema(),
            R"({"columns":[{"children":[{"name":"y","type":"BIGINT"}],"name":"s","type":"STRUCT"}],"version":1})");
  JsonDecoder restarted{options};
  ASSERT_TRUE(restarted.restore(decoder.saved_schema()));
  EXPECT_EQ(schema_text(*restarted.schema()), "s STRUCT(x INTEGER, y BIGINT), x INTEGER");
}

// --- random documents, against another parser ---

using Json = nlohmann::json;

Json random_value(std::mt19937& random, int depth) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  switch (below(depth > 0 ? 7 : 5)) {
    case 0:
      return nullptr;
    case 1:
      return below(2) == 0;
    case 2:
      return static_cast<std::int64_t>(random()) * (below(2) == 0 ? 1 : -1000003);
    case 3:
      return static_cast<double>(below(100000)) / 64 - 500;
    case 4: {
      std::string text;
      constexpr const char* kParts[] = {"a",        "\"", "\\", "\n", "\xC3\xA9", "\xF0\x9F\xA6\x86",
                                        "12345678", "\t", "{",  ","};
      for (int n = below(6); n > 0; --n) text += kParts[below(10)];
      return text;
    }
    case 5: {
      Json out = Json::array();
      for (int n = below(4); n > 0; --n) out.push_back(random_value(random, depth - 1));
      return out;
    }
    default: {
      Json out = Json::object();
      for (int n = below(4); n > 0; --n)
        out[std::string("k\"") + std::to_string(below(6))] = random_value(random, depth - 1);
      return out;
    }
  }
}

/// Whether a cell is what the parser made of the same text.
bool same(const Column& column, const ArrowArray& array, std::int64_t i, const Json& expected) {
  const auto* validity = static_cast<const std::uint8_t*>(array.buffers[0]);
  if (validity != nullptr && ((validity[i / 8] >> (i % 8)) & 1) == 0) return expected.is_null();
  if (expected.is_null()) return false;
  const std::string text = aqueduck::testing::cell_text(column, array, i);
  switch (column.kind) {
    case ColumnKind::boolean:
    case ColumnKind::int64:
      return text == expected.dump();
    case ColumnKind::float64:
      return aqueduck::testing::buffer_value<double>(array, 1, i) == expected.get<double>();
    case ColumnKind::text:
      return text == "'" + expected.get<std::string>() + "'";
    case ColumnKind::json:
      return Json::parse(text.substr(1, text.size() - 2)) == expected;
    case ColumnKind::list: {
      const auto begin = aqueduck::testing::buffer_value<std::int32_t>(array, 1, i);
      const auto end = aqueduck::testing::buffer_value<std::int32_t>(array, 1, i + 1);
      if (!expected.is_array() || expected.size() != static_cast<std::size_t>(end - begin)) return false;
      for (auto j = begin; j < end; ++j) {
        if (!same(column.children[0], *array.children[0], j, expected[static_cast<std::size_t>(j - begin)]))
          return false;
      }
      return true;
    }
    case ColumnKind::structure: {
      for (const auto& [key, value] : expected.items()) {
        if (column.child(key) == nullptr) return false;
      }
      for (std::size_t c = 0; c < column.children.size(); ++c) {
        const auto found = expected.find(column.children[c].name);
        if (!same(column.children[c], *array.children[c], i, found == expected.end() ? Json() : *found)) return false;
      }
      return true;
    }
    default:
      return false;
  }
}

TEST(JsonOracle, RandomDocumentsAgreeWithAnotherParser) {
  std::mt19937 random(20261130);
  for (int round = 0; round < 400; ++round) {
    std::vector<Json> documents;
    Texts texts;
    for (int n = 0; n < 8; ++n) {
      Json document = Json::object();
      for (auto k = random() % 5; k > 0; --k) document["c" + std::to_string(random() % 6)] = random_value(random, 3);
      texts.push_back(document.dump(random() % 2 == 0 ? -1 : 2, ' ', random() % 2 == 0));
      documents.push_back(std::move(document));
    }
    JsonDecoder decoder{JsonOptions{}};
    const Decoded decoded = decode(decoder, texts);
    ASSERT_TRUE(decoded.failures.empty()) << decoded.failures[0].reason;
    ASSERT_EQ(decoded.batch.rows(), 8);
    const auto columns = columns_of(*decoded.batch.schema).value();
    for (std::int64_t row = 0; row < 8; ++row) {
      const Json& document = documents[static_cast<std::size_t>(row)];
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto found = document.find(columns[c].name);
        EXPECT_TRUE(
            same(columns[c], *decoded.batch.array->raw()->children[c], row, found == document.end() ? Json() : *found))
            << columns[c].name << " " << type_name(columns[c]) << "\n"
            << texts[static_cast<std::size_t>(row)];
      }
    }
    // Every cut of a document is a failure, and never a row.
    const std::string& whole = texts[0];
    Texts cut;
    for (std::size_t n = 0; n + 1 < whole.size() && n < 200; ++n) cut.push_back(whole.substr(0, n));
    EXPECT_EQ(decode(decoder, cut).batch.rows(), 0);
  }
}

}  // namespace
}  // namespace aqueduck::json
