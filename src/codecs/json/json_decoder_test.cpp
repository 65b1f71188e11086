#include "codecs/json/json_decoder.h"

#include <gtest/gtest.h>

#include "sql/database.h"
#include "sql/declared_columns.h"
#include "tests/support/arrow_text.h"

namespace aqueduck::json {
namespace {

using aqueduck::testing::invalid;
using aqueduck::testing::row_text;

Column column(std::string name, ColumnKind kind, std::vector<Column> children = {}) {
  Column out;
  out.name = std::move(name);
  out.kind = kind;
  out.children = std::move(children);
  return out;
}

JsonOptions declared(std::vector<Column> columns) {
  JsonOptions options;
  options.declared = std::move(columns);
  return options;
}

std::vector<Message> messages_of(const std::vector<std::string>& texts) {
  std::vector<Message> out;
  for (const std::string& text : texts) out.emplace_back().payload = text;
  return out;
}

/// Each row as text, then each failure as "message: reason".
std::vector<std::string> lines_of(const Decoded& decoded) {
  std::vector<std::string> out;
  EXPECT_EQ(invalid(decoded.batch), "");
  out.reserve(static_cast<std::size_t>(decoded.batch.rows()) + decoded.failures.size());
  for (std::int64_t row = 0; row < decoded.batch.rows(); ++row) out.push_back(row_text(decoded.batch, row));
  for (const DecodeFailure& failure : decoded.failures) {
    out.push_back(fmt::format("{}: {}", failure.message, failure.reason));
  }
  return out;
}

Decoded decode(JsonDecoder& decoder, const std::vector<std::string>& texts) {
  const auto messages = messages_of(texts);
  const auto taken = decoder.decode(messages);
  EXPECT_TRUE(taken) << (taken ? "" : taken.error().message);
  auto decoded = decoder.finish();
  EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().message);
  return std::move(*decoded);
}

using Lines = std::vector<std::string>;

// --- declared types: what a value becomes, or why it doesn't fit ---

struct DeclaredCase {
  std::string type;
  std::string value;
  std::string expected;  // the cell, or "!" and a part of the reason
};

class JsonDeclared : public ::testing::Test {
 protected:
  // Closed before the process ends: the engine's thread-local state is gone when statics are destroyed.
  static void SetUpTestSuite() { opened_ = sql::Database::open({}).value(); }
  static void TearDownTestSuite() { opened_.reset(); }
  static sql::Database& database() { return *opened_; }
  static std::vector<Column> columns(const std::string& type) {
    auto out = sql::declared_columns(&database(), {{"c", type, "p.yml:1:1"}});
    EXPECT_TRUE(out) << (out ? "" : out.error().message);
    return out ? *out : std::vector<Column>{};
  }
  static void check(const std::vector<DeclaredCase>& cases) {
    for (const DeclaredCase& item : cases) {
      JsonDecoder decoder(declared(columns(item.type)));
      // A row before and after: a failure must leave both alone.
      const Decoded decoded = decode(decoder, {"{}", R"({"c":)" + item.value + "}", R"({"c":null})"});
      const Lines lines = lines_of(decoded);
      SCOPED_TRACE(item.type + " <- " + item.value);
      if (item.expected[0] != '!') {
        EXPECT_EQ(lines, (Lines{"c=NULL", "c=" + item.expected, "c=NULL"}));
        continue;
      }
      ASSERT_EQ(lines.size(), 3U);
      EXPECT_EQ(lines[0], "c=NULL");
      EXPECT_EQ(lines[1], "c=NULL");
      EXPECT_NE(lines[2].find(item.expected.substr(1)), std::string::npos) << lines[2];
      EXPECT_EQ(decoded.row_message, (std::vector<std::uint32_t>{0, 2}));
    }
  }

 private:
  inline static std::unique_ptr<sql::Database> opened_;
};

TEST_F(JsonDeclared, BooleansAndIntegers) {
  check({{"BOOLEAN", "true", "true"},
         {"BOOLEAN", "false", "false"},
         {"BOOLEAN", "1", "!column 'c': the value 1 doesn't fit BOOLEAN"},
         {"BOOLEAN", "tru", "!tru is not a JSON value"},
         {"TINYINT", "-128", "-128"},
         {"TINYINT", "128", "!the value 128 doesn't fit TINYINT"},
         {"SMALLINT", "32767", "32767"},
         {"INTEGER", "2147483647", "2147483647"},
         {"INTEGER", "2147483648", "!doesn't fit INTEGER"},
         {"INTEGER", "1.0", "1"},
         {"INTEGER", "1e3", "1000"},
         {"INTEGER", "1.5", "!the value 1.5 doesn't fit INTEGER"},
         {"INTEGER", "\"1\"", "!the value \"1\" doesn't fit INTEGER"},
         {"INTEGER", "01", "!'01' is not a JSON value"},
         {"INTEGER", "-", "!'-' is not a JSON value"},
         {"INTEGER", "1e99999999999", "!doesn't fit INTEGER"},
         {"BIGINT", "9223372036854775807", "9223372036854775807"},
         {"BIGINT", "-9223372036854775808", "-9223372036854775808"},
         {"BIGINT", "9223372036854775808", "!doesn't fit BIGINT"},
         {"BIGINT", "-0", "0"},
         {"UTINYINT", "255", "255"},
         {"USMALLINT", "65535", "65535"},
         {"UINTEGER", "4294967295", "4294967295"},
         {"UBIGINT", "18446744073709551615", "18446744073709551615"},
         {"UBIGINT", "-1", "!doesn't fit UBIGINT"},
         {"HUGEINT", "-170141183460469231731687303715884105728", "-170141183460469231731687303715884105728"},
         {"HUGEINT", "170141183460469231731687303715884105728", "!doesn't fit HUGEINT"}});
}

TEST_F(JsonDeclared, FractionsAndDecimals) {
  check({{"DOUBLE", "1", "1"},
         {"DOUBLE", "-0.0", "-0"},
         {"DOUBLE", "1e-400", "0"},
         {"DOUBLE", "1e400", "!the value 1e400 doesn't fit DOUBLE"},
         {"DOUBLE", "\"NaN\"", "nan"},
         {"DOUBLE", "\"-Infinity\"", "-inf"},
         {"DOUBLE", "\"1.5\"", "!doesn't fit DOUBLE"},
         {"DOUBLE", "NaN", "!'NaN' is not a JSON value"},
         {"FLOAT", "0.5", "0.5"},
         {"FLOAT", "1e39", "!doesn't fit FLOAT"},
         {"DECIMAL(4,2)", "1.005", "101"},
         {"DECIMAL(4,2)", "-1.005", "-101"},
         {"DECIMAL(4,2)", "99.99", "9999"},
         {"DECIMAL(4,2)", "99.995", "!doesn't fit DECIMAL(4,2)"},
         {"DECIMAL(9,1)", "\"12.5\"", "125"},
         {"DECIMAL(18,3)", "1e3", "1000000"},
         {"DECIMAL(38,0)", "99999999999999999999999999999999999999", "99999999999999999999999999999999999999"},
         {"DECIMAL(38,0)", "100000000000000000000000000000000000000", "!doesn't fit DECIMAL(38,0)"},
         {"DECIMAL(38,10)", "1e100000", "!doesn't fit"}});
}

TEST_F(JsonDeclared, TextsAndVerbatim) {
  check({{"VARCHAR", R"("a\"b\\\/\b\f\n\r\té")", "'a\"b\\/\b\f\n\r\t\xC3\xA9'"},
         {"VARCHAR", R"("\ud83e\udd86")", "'\xF0\x9F\xA6\x86'"},
         {"VARCHAR", R"("\ud83e")", "!lone surrogate"},
         {"VARCHAR", R"("\udd86\ud83e")", "!lone surrogate"},
         {"VARCHAR", R"("\ud83eA")", "!lone surrogate"},
         {"VARCHAR", R"("\u12")", "!malformed escape"},
         {"VARCHAR", R"("\x")", "!malformed escape"},
         {"VARCHAR", "1.50", "'1.50'"},
         {"VARCHAR", "true", "'true'"},
         {"VARCHAR", R"({"a": [1, 2]})", R"('{"a": [1, 2]}')"},
         {"VARCHAR", R"({"a": [1, 2})", "!"},
         {"VARCHAR", "\"\"", "''"},
         {"JSON", R"({"a": [1,  2.50], "b\n": "\ud83e"})", R"(`{"a": [1,  2.50], "b\n": "\ud83e"}`)"},
         {"JSON", "\"x\"", "`\"x\"`"},
         {"JSON", "{}", "`{}`"},
         {"JSON", "[]", "`[]`"},
         {"JSON", "12", "`12`"},
         {"JSON", "[1,]", "!a value is expected"},
         {"JSON", R"(["\q"])", "!malformed escape"},
         {"JSON", "[1 2]", "!a comma or a closing bracket is expected"},
         {"BLOB", "\"aGk=\"", "6869"},
         {"BLOB", "\"aGk\"", "6869"},
         {"BLOB", "\"a*k=\"", "!doesn't fit BLOB"},
         {"UUID", "\"00112233-4455-6677-8899-aabbccddeeff\"", "00112233445566778899aabbccddeeff"},
         {"UUID", "\"00112233-4455-6677-8899-aabbccddeef\"", "!doesn't fit UUID"}});
}

TEST_F(JsonDeclared, Times) {
  check({{"DATE", "\"1970-01-02\"", "1"},
         {"DATE", "\"1969-12-31\"", "-1"},
         {"DATE", "\"2024-02-29\"", "19782"},
         {"DATE", "\"2023-02-29\"", "!the value \"2023-02-29\" doesn't fit DATE"},
         {"DATE", "\"1970-01-01T00:00:00\"", "!doesn't fit DATE"},
         {"DATE", "1", "!doesn't fit DATE"},
         {"TIME", "\"00:00:01.5\"", "1500000"},
         {"TIME", "\"24:00:00\"", "!doesn't fit TIME"},
         {"TIMESTAMP", "\"1970-01-01T00:00:01\"", "1000000"},
         {"TIMESTAMP", "\"1970-01-01 00:00:01.25\"", "1250000"},
         {"TIMESTAMP", "\"1970-01-01\"", "0"},
         {"TIMESTAMP", "\"1969-12-31T23:59:59.5Z\"", "-500000"},
         {"TIMESTAMP", "1700000000", "!doesn't fit TIMESTAMP"},
         {"TIMESTAMP_S", "\"1970-01-01T00:00:01.9\"", "1"},
         {"TIMESTAMP_MS", "\"1970-01-01T00:00:01.9999\"", "1999"},
         {"TIMESTAMP_NS", "\"1970-01-01T00:00:00.000000001\"", "1"},
         {"TIMESTAMP_NS", "\"2500-01-01T00:00:00\"", "!doesn't fit TIMESTAMP_NS"},
         {"TIMESTAMPTZ", "\"1970-01-01T01:00:00+01:00\"", "0"},
         {"TIMESTAMPTZ", "\"1970-01-01T00:00:00\"", "0"},
         {"TIMESTAMPTZ", "\"1969-12-31T19:00:00-0500\"", "0"},
         {"TIMESTAMPTZ", "\"1970-13-01T00:00:00Z\"", "!doesn't fit TIMESTAMPTZ"}});
}

TEST_F(JsonDeclared, Nested) {
  check(
      {{"STRUCT(a INTEGER, tags VARCHAR[])", R"({"tags":["x",null],"a":1,"more":[{}]})", "{a=1, tags=['x', NULL]}"},
       {"STRUCT(a INTEGER)", "{}", "{a=NULL}"},
       {"STRUCT(a INTEGER)", R"({"a":"x"})", "!column 'c.a': the value \"x\" doesn't fit INTEGER"},
       {"STRUCT(a INTEGER)", "[]", "!the value [] doesn't fit STRUCT(a INTEGER)"},
       {"INTEGER[]", "[]", "[]"},
       {"INTEGER[]", "[1,null,3]", "[1, NULL, 3]"},
       {"INTEGER[]", "[1,2.5]", "!column 'c[1]': the value 2.5 doesn't fit INTEGER"},
       {"STRUCT(x INTEGER)[]", R"([{"x":1},null,{"x":true}])", "!column 'c[2].x': the value true doesn't fit INTEGER"},
       {"STRUCT(x INTEGER)[]", R"([{"x":1},null,{}])", "[{x=1}, NULL, {x=NULL}]"},
       {"INTEGER[2]", "[1,2]", "[1, 2]"},
       {"INTEGER[2]", "[1]", "!the value [1] doesn't fit INTEGER[2]"},
       {"INTEGER[2]", "[1,2,3]", "!the value [1,2,3] doesn't fit INTEGER[2]"},
       {"MAP(VARCHAR, INTEGER)", R"({"a":1,"b\n":null})", "<'a': 1, 'b\n': NULL>"},
       {"MAP(VARCHAR, INTEGER)", "{}", "<>"},
       {"MAP(VARCHAR, INTEGER)", R"({"a":1,"a":2})", "!stands twice in a MAP"},
       {"MAP(VARCHAR, INTEGER[])", R"({"a":["x"]})", "!column 'c.a[0]'"},
       {"INTEGER[][]", "[[1],[],[2,3]]", "[[1], [], [2, 3]]"}});
}

TEST_F(JsonDeclared, TypesThatCannotBeDecodedAreNamed) {
  for (const char* type : {"ENUM('a', 'b')", "INTERVAL", "MAP(INTEGER, VARCHAR)"}) {
    const auto columns = sql::declared_columns(&database(), {{"c", type, "p.yml:3:5"}});
    ASSERT_FALSE(columns) << type;
    EXPECT_EQ(columns.error().kind, ErrorKind::config);
    EXPECT_NE(columns.error().message.find("p.yml:3:5"), std::string::npos);
    EXPECT_NE(columns.error().message.find("'c'"), std::string::npos);
  }
  EXPECT_FALSE(sql::declared_columns(&database(), {{"c", "INTEGRE", "p.yml:3:5"}}));
}

// --- whole messages ---

TEST(JsonMessages, WhatIsNotOneObject) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "the message is empty"},
      {"  \n", "the message contains only blanks"},
      {"\xEF\xBB\xBF", "the message is empty"},
      {"7", "a row must be an object, but this is 7"},
      {"\"x\"", "a row must be an object, but this is \"x\""},
      {"nul", "a value is expected"},
      {"{\"a\":1} x", "more text behind"},
      {"{\"a\":1}{\"a\":1}", "more text behind"},
      {"{\"a\":1", "a comma or a closing brace"},
      {"{\"a\":1,}", "a key and a colon"},
      {"{\"a\" 1}", "a key and a colon"},
      {"{a:1}", "a key and a colon"},
      {"{\"a\":}", "is not a JSON value"},
      {"{\"a\":\"x", "no closing quote"},
      {"{\"a\":1]", "a comma or a closing brace"},
      {"{\"a\":\"\x01\"}", "control character"},
      {"{\"a\":\"\xFF\"}", "not valid UTF-8"},
      {"{\"a\":\"\xED\xA0\x80\"}", "not valid UTF-8"},
      {std::string("{\"a\":1}\0", 8), "more text behind"},
      {std::string("{\"a\":1\0}", 8), "is not a JSON value"},
      {"[{\"a\":1},2]", "a row must be an object, but this is 2"},
      {"[{\"a\":1},{\"a\":true}]", "column 'a': the value true doesn't fit INTEGER"},
      {"[{\"a\":1}", "a comma or a closing bracket"},
      {"{\"\\ud800\":1}", "malformed escape"},
  };
  for (const auto& [text, reason] : cases) {
    JsonDecoder decoder(declared({column("a", ColumnKind::int32)}));
    const Lines lines = lines_of(decode(decoder, {R"({"a":1})", text, R"({"a":2})"}));
    ASSERT_EQ(lines.size(), 3U) << text;
    EXPECT_EQ(lines[0], "a=1");
    EXPECT_EQ(lines[1], "a=2");
    EXPECT_NE(lines[2].find(reason), std::string::npos) << text << " -> " << lines[2];
  }
}

TEST(JsonMessages, WhatIsAccepted) {
  JsonDecoder decoder(declared({column("a", ColumnKind::int32), column("b\\", ColumnKind::text)}));
  EXPECT_EQ(
      lines_of(decode(decoder, {"\xEF\xBB\xBF{\"a\":1}", " { \"a\" : 2 , \"b\\\\\" : \"x\" } \n", "{}",
                                "{\"\\u0061\":3}", "{\"a\":4,\"a\":5}", "{\"a\":4,\"a\":null}"})),
      (Lines{"a=1 b\\=NULL", "a=2 b\\='x'", "a=NULL b\\=NULL", "a=3 b\\=NULL", "a=5 b\\=NULL", "a=NULL b\\=NULL"}));
  EXPECT_EQ(lines_of(decode(decoder, {})), Lines{});
}

TEST(JsonMessages, ListsGiveARowAnElement) {
  JsonDecoder decoder(declared({column("a", ColumnKind::int32)}));
  const Decoded decoded = decode(decoder, {R"({"a":1})", R"([{"a":2},{"a":3}])", "[]", R"({"a":4})"});
  EXPECT_EQ(lines_of(decoded), (Lines{"a=1", "a=2", "a=3", "a=4"}));
  EXPECT_EQ(decoded.row_message, (std::vector<std::uint32_t>{0, 1, 1, 3}));
  EXPECT_TRUE(decode(decoder, {R"({"a":1})"}).row_message.empty());

  JsonOptions strict = declared({column("a", ColumnKind::int32)});
  strict.array = ArrayPolicy::fail;
  JsonDecoder refusing(strict);
  EXPECT_EQ(lines_of(decode(refusing, {"[]"})), (Lines{"0: the message is a list, and the setting is `array: fail`"}));
}

TEST(JsonMessages, Tombstones) {
  for (const auto& [policy, expected] : std::vector<std::pair<TombstonePolicy, Lines>>{
           {TombstonePolicy::skip, {"a=1"}},
           {TombstonePolicy::row, {"a=NULL", "a=1"}},
           {TombstonePolicy::fail, {"a=1", "0: the message is a tombstone"}}}) {
    JsonOptions options = declared({column("a", ColumnKind::int32)});
    options.tombstone = policy;
    JsonDecoder decoder(options);
    std::vector<Message> messages = messages_of({"", R"({"a":1})"});
    const std::string text = R"({"a":1})";
    messages[0].payload = {};
    messages[1].payload = text;
    ASSERT_TRUE(decoder.decode(messages));
    EXPECT_EQ(lines_of(decoder.finish().value()), expected);
  }
}

TEST(JsonMessages, DepthIsLimitedEverywhere) {
  JsonOptions options = declared({column("a", ColumnKind::json)});
  options.limits.max_depth = 4;
  options.new_columns = NewColumns::ignore;
  JsonDecoder decoder(options);
  const Lines lines = lines_of(decode(decoder, {R"({"a":[[[]]],"b":[[[]]]})", R"({"a":[[[[]]]]})", R"({"b":[[[[]]]]})",
                                                R"({"b":)" + std::string(5'000, '[') + "}"}));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "a=`[[[]]]`");
  for (std::size_t i = 1; i < 4; ++i) EXPECT_NE(lines[i].find("deeper than max_depth"), std::string::npos) << lines[i];
}

TEST(JsonMessages, LargeTextsAreKeptWholeAndCutInReasons) {
  std::string large;
  large.resize(10'000'000, 'x');
  JsonDecoder decoder(declared({column("a", ColumnKind::text), column("n", ColumnKind::int32)}));
  const Lines lines = lines_of(decode(decoder, {R"({"a":")" + large + "\"}", R"({"n":")" + large + "\"}", "{}"}));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "a='" + large + "' n=NULL");
  EXPECT_LT(lines[2].size(), 200U);
}

TEST(JsonMessages, NoRowsBeforeAnyColumnIsKnown) {
  JsonDecoder decoder{JsonOptions{}};
  const std::string reason = "it has no keys, and no column is known yet: declare a `schema`";
  EXPECT_EQ(lines_of(decode(decoder, {"{}", "x", "[{},{}]", "[]"})),
            (Lines{"0: " + reason, "1: a value is expected", "2: " + reason}));
  EXPECT_EQ(lines_of(decode(decoder, {"{}", R"({"a":1})"})), (Lines{"a=NULL", "a=1"}));
  EXPECT_EQ(lines_of(decode(decoder, {"{}"})), (Lines{"a=NULL"}));
}

TEST(JsonMessages, UnknownKeysByPolicy) {
  JsonOptions options = declared({column("a", ColumnKind::int32)});
  JsonDecoder ignoring(options);
  EXPECT_EQ(lines_of(decode(ignoring, {R"({"x":{"y":[1]},"a":1})"})), (Lines{"a=1"}));

  options.new_columns = NewColumns::fail;
  JsonDecoder failing(options);
  const Decoded refused = decode(failing, {R"({"a":1})", R"({"a":1,"x":2})"});
  ASSERT_EQ(refused.failures.size(), 1U);
  EXPECT_EQ(refused.failures[0].message, 1U);
  EXPECT_EQ(refused.failures[0].ends, ErrorKind::decode);
  EXPECT_NE(refused.failures[0].reason.find("'x'"), std::string::npos);

  options.new_columns = NewColumns::extend;
  JsonDecoder extending(options);
  const Decoded decoded = decode(extending, {R"({"a":1})", R"({"a":2,"x":"y"})"});
  EXPECT_TRUE(decoded.schema_changed);
  EXPECT_EQ(lines_of(decoded), (Lines{"a=1 x=NULL", "a=2 x='y'"}));
  EXPECT_FALSE(decode(extending, {R"({"x":"z"})"}).schema_changed);
}

}  // namespace
}  // namespace aqueduck::json
