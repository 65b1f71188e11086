#include <gtest/gtest.h>

#include "columnar/csv_text.h"
#include "columnar/ipc.h"
#include "columnar/json_text.h"
#include "columnar/slice.h"
#include "columnar/table_text.h"
#include "sql/database.h"

// Every type of the engine in every form of output. They stand here because columnar itself doesn't know the engine.
namespace aqueduck {
namespace {

struct OutputForms : ::testing::Test {
  std::unique_ptr<sql::Database> database;
  std::unique_ptr<sql::Session> session;

  OutputForms() {
    database = std::move(*sql::Database::open({}));
    session = std::move(*database->connect());
  }
  RecordBatch rows(const std::string& text) {
    auto result = session->query(text);
    EXPECT_TRUE(result) << (result ? "" : result.error().error.message);
    if (!result) return {};
    auto batch = (*result)->next();
    EXPECT_TRUE(batch) << (batch ? "" : batch.error().error.message);
    return batch ? *batch : RecordBatch{};
  }
  std::string json(const std::string& expression) {
    std::string out;
    const auto done = append_json_lines(rows("SELECT " + expression + " AS x"), out);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    constexpr std::size_t kAround = 7;  // {"x": and }\n
    return out.size() < kAround ? out : out.substr(5, out.size() - kAround);
  }
};

TEST_F(OutputForms, JsonOfEveryType) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"true", "true"},
      {"NULL", "null"},
      {"(-128)::TINYINT", "-128"},
      {"255::UTINYINT", "255"},
      {"(-9223372036854775808)::BIGINT", "-9223372036854775808"},
      {"18446744073709551615::UBIGINT", "18446744073709551615"},
      {"170141183460469231731687303715884105727::HUGEINT", "170141183460469231731687303715884105727"},
      {"(-170141183460469231731687303715884105728)::HUGEINT", "-170141183460469231731687303715884105728"},
      {"340282366920938463463374607431768211455::UHUGEINT", "340282366920938463463374607431768211455"},
      {"'-123456789012345678901234567890'::BIGNUM", "-123456789012345678901234567890"},
      {"'0'::BIGNUM", "0"},
      {"1.5::FLOAT", "1.5"},
      {"0.1::DOUBLE", "0.1"},
      {"1::DOUBLE", "1.0"},
      {"'-0.0'::DOUBLE", "-0.0"},
      {"1e300::DOUBLE", "1e+300"},
      {"'nan'::DOUBLE", "\"NaN\""},
      {"'-inf'::FLOAT", "\"-Infinity\""},
      {"(-0.05)::DECIMAL(4,2)", "-0.05"},
      {"12345678901234567890.123::DECIMAL(38,3)", "12345678901234567890.123"},
      {"0::DECIMAL(9,0)", "0"},
      {"'a\"b\\\\c' || chr(10) || chr(1) || 'é😀'", "\"a\\\"b\\\\\\\\c\\n\\u0001é😀\""},
      {"''", "\"\""},
      {"'{\"a\":\n [1, 2]}'::JSON", "{\"a\":  [1, 2]}"},
      {"'\\x00\\xFFab'::BLOB", "\"AP9hYg==\""},
      {"DATE '2026-02-28'", "\"2026-02-28\""},
      {"DATE '0001-01-01' - 366", "\"0000-01-01\""},
      {"'infinity'::DATE", "\"infinity\""},
      {"DATE '20000-02-29'", "\"20000-02-29\""},
      {"TIME '01:02:03.04'", "\"01:02:03.04\""},
      {"TIMETZ '10:00:00.5-02:30'", "\"10:00:00.5-02:30\""},
      {"TIMESTAMP '1969-12-31 23:59:59.999999'", "\"1969-12-31T23:59:59.999999\""},
      {"TIMESTAMP_S '2026-01-02 03:04:05'", "\"2026-01-02T03:04:05\""},
      {"TIMESTAMP_MS '2026-01-02 03:04:05.120'", "\"2026-01-02T03:04:05.12\""},
      {"TIMESTAMP_NS '2026-01-02 03:04:05.123456789'", "\"2026-01-02T03:04:05.123456789\""},
      {"TIMESTAMPTZ '2026-01-02 03:04:05+01'", "\"2026-01-02T02:04:05Z\""},
      {"'-infinity'::TIMESTAMP", "\"-infinity\""},
      {"INTERVAL '14 months 3 days 04:05:06.7'", "\"1 year 2 months 3 days 04:05:06.7\""},
      {"INTERVAL '-1 second'", "\"-00:00:01\""},
      {"INTERVAL '0 days'", "\"00:00:00\""},
      {"UUID '00112233-4455-6677-8899-aabbccddeeff'", "\"00112233-4455-6677-8899-aabbccddeeff\""},
      {"'0101101011'::BIT", "\"0101101011\""},
      {"'b'::ENUM('a', 'b')", "\"b\""},
      {"{a: 1, b: {c: NULL, d: [NULL, 'x']}}", "{\"a\":1,\"b\":{\"c\":null,\"d\":[null,\"x\"]}}"},
      {"[]::INTEGER[]", "[]"},
      {"[[1], NULL, [2, 3]]", "[[1],null,[2,3]]"},
      {"[1, NULL, 3]::INTEGER[3]", "[1,null,3]"},
      {"MAP {'a': 1, 'b': NULL}", "{\"a\":1,\"b\":null}"},
      {"MAP {1: {x: 2}}", "{\"1\":{\"x\":2}}"},
      {"MAP {DATE '2026-01-01': 1}", "{\"2026-01-01\":1}"},
      {"union_value(k := 1)", "{\"k\":1}"},
      {"NULL::UNION(k INTEGER, s VARCHAR)", "null"},
  };
  for (const auto& [expression, expected] : cases) EXPECT_EQ(json(expression), expected) << expression;
}

constexpr const char* kMixed =
    "SELECT i, CASE WHEN i % 3 = 0 THEN NULL ELSE 'text' || i END AS s, i % 2 = 0 AS b, [i, NULL, i + 1] AS l, "
    "{a: i, b: ['x' || i]} AS st, [i, i + 1]::INTEGER[2] AS f, MAP {'k' || i: i} AS m, "
    "(CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END)::ENUM('even', 'odd') AS e, "
    "CASE WHEN i % 2 = 0 THEN union_value(n := i)::UNION(n BIGINT, t VARCHAR) ELSE 'u'::UNION(n BIGINT, t VARCHAR) END "
    "AS u, i::HUGEINT AS h, (i % 5 = 0)::BOOLEAN AS b2, i::DECIMAL(30, 2) AS d FROM range(100) t(i)";

TEST_F(OutputForms, SlicesAreRightInJsonAndIpc) {
  const RecordBatch batch = rows(kMixed);
  ASSERT_EQ(batch.rows(), 100);
  std::string whole;
  ASSERT_TRUE(append_json_lines(batch, whole));
  for (const auto& [from, to] :
       {std::pair(0, 100), std::pair(1, 100), std::pair(8, 9), std::pair(13, 77), std::pair(50, 50)}) {
    std::string expected;
    std::size_t at = 0;
    for (int i = 0; i < to; ++i) {
      const std::size_t end = whole.find('\n', at) + 1;
      if (i >= from) expected += whole.substr(at, end - at);
      at = end;
    }
    const RecordBatch part = slice(slice(batch, from / 2, to), from - from / 2, to);
    std::string text;
    ASSERT_TRUE(append_json_lines(part, text));
    EXPECT_EQ(text, expected);

    std::string stream;
    auto writer = IpcWriter::open(*batch.schema, [&](std::string_view bytes) -> Result<void> {
      stream += bytes;
      return {};
    });
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->write(part));
    ASSERT_TRUE(writer->finish());
    std::size_t read = 0;
    auto reader = IpcReader::open([&](std::span<char> into) -> Result<std::size_t> {
      const std::size_t size = std::min(into.size(), stream.size() - read);
      std::copy_n(stream.data() + read, size, into.data());
      read += size;
      return size;
    });
    ASSERT_TRUE(reader) << reader.error().message;
    std::string back;
    for (;;) {
      auto next = reader->next();
      ASSERT_TRUE(next) << next.error().message;
      if (next->rows() == 0) break;
      ASSERT_TRUE(append_json_lines(*next, back));
    }
    EXPECT_EQ(back, expected) << from << " to " << to;
    EXPECT_LE(byte_size(part), byte_size(batch));
  }
}

TEST_F(OutputForms, CsvQuotesWhatNeedsIt) {
  const RecordBatch batch =
      rows("SELECT 'a,b' AS \"x,y\", NULL AS n, '' AS e, 'q\"\n' AS q, [1] AS l, 1.0::DOUBLE AS d");
  auto csv = CsvText::plan(batch.schema);
  ASSERT_TRUE(csv);
  std::string out;
  csv->append_header(out);
  csv->append_rows(batch, out);
  EXPECT_EQ(out, "\"x,y\",n,e,q,l,d\n\"a,b\",,\"\",\"q\"\"\n\",[1],1.0\n");
}

TEST_F(OutputForms, TableFitsTheTerminal) {
  const RecordBatch batch = rows("SELECT i AS id, 'naïve 東' AS s, chr(27) || '[31m' AS c FROM range(3) t(i)");
  auto table = table_text({batch}, {});
  ASSERT_TRUE(table);
  EXPECT_EQ(*table,
            "┌────────┬──────────┬──────────┐\n"
            "│ id     │ s        │ c        │\n"
            "│ bigint │ varchar  │ varchar  │\n"
            "├────────┼──────────┼──────────┤\n"
            "│      0 │ naïve 東 │ \\x1b[31m │\n"
            "│      1 │ naïve 東 │ \\x1b[31m │\n"
            "│      2 │ naïve 東 │ \\x1b[31m │\n"
            "└────────┴──────────┴──────────┘\n"
            "3 rows\n");
  TableStyle narrow;
  narrow.width = 30;
  narrow.rows = 2;
  table = table_text({rows("SELECT i AS id, repeat('x', 50) AS long, 1 AS a, 2 AS b FROM range(9) t(i)")}, narrow);
  ASSERT_TRUE(table);
  EXPECT_NE(table->find("9 rows (2 shown), 4 columns ("), std::string::npos) << *table;
  EXPECT_NE(table->find("…"), std::string::npos) << *table;
}

TEST_F(OutputForms, DamagedIpcIsAnError) {
  std::string stream;
  const RecordBatch batch = rows(kMixed);
  auto writer = IpcWriter::open(*batch.schema, [&](std::string_view bytes) -> Result<void> {
    stream += bytes;
    return {};
  });
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->write(batch));
  // Every cut and many flipped bytes: an error or some rows, but never a crash.
  for (std::size_t n = 0; n < stream.size(); n += 37) {
    for (const bool cut : {true, false}) {
      std::string bytes = cut ? stream.substr(0, n) : stream;
      if (!cut) bytes[n] = static_cast<char>(~bytes[n]);
      std::size_t read = 0;
      auto reader = IpcReader::open([&](std::span<char> into) -> Result<std::size_t> {
        const std::size_t size = std::min(into.size(), bytes.size() - read);
        std::copy_n(bytes.data() + read, size, into.data());
        read += size;
        return size;
      });
      if (!reader) continue;
      auto next = reader->next();
      std::string text;
      if (next && next->rows() > 0) {
        ASSERT_TRUE(append_json_lines(*next, text));
      }
    }
  }
}

}  // namespace
}  // namespace aqueduck
