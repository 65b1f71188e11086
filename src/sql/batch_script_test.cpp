#include <gtest/gtest.h>

#include "sql/database.h"
#include "tests/support/batches.h"

// Each trap of the engine's that gives wrong results without an error has a test here.
namespace aqueduck::sql {
namespace {

class BatchScriptTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Database::open({});
    ASSERT_TRUE(opened) << opened.error().message;
    database = std::move(*opened);
    session = database->connect().value();
    maker = database->connect().value();
  }

  // Rows made by SQL on another connection, as a source would hand them over.
  RecordBatch rows(const std::string& text) {
    auto result = maker->query(text);
    if (!result) {
      ADD_FAILURE() << result.error().error.message;
      return {};
    }
    RecordBatch all = (*result)->next().value();
    if (all.array == nullptr) {  // no rows: an empty array of the schema
      auto one = maker->query("SELECT * FROM (" + text + ") LIMIT 0");
      all.schema = (*one)->schema();
    }
    return all;
  }

  // First row's columns as text.
  std::vector<std::string> run(BatchScript& script, const RecordBatch& batch) {
    std::vector<std::string> out;
    auto done = script.run({batch}, [&](const RecordBatch& result) -> Result<void> {
      auto text = maker->script("SELECT CAST(COLUMNS(*) AS VARCHAR) FROM result", "result").value();
      auto inner = text->run({result}, [&](const RecordBatch& texts) -> Result<void> {
        for (std::size_t c = 0; c < texts.schema->size(); ++c) {
          const ArrowArray& column = *texts.array->raw()->children[c];
          const auto* offsets = static_cast<const std::int32_t*>(column.buffers[1]);
          const auto* data = static_cast<const char*>(column.buffers[2]);
          for (std::int64_t r = 0; r < texts.rows(); ++r) out.emplace_back(data + offsets[r], data + offsets[r + 1]);
        }
        return {};
      });
      EXPECT_TRUE(inner) << inner.error().error.message;
      return {};
    });
    EXPECT_TRUE(done) << done.error().error.message;
    return out;
  }

  std::unique_ptr<Database> database;
  std::unique_ptr<Session> session;
  std::unique_ptr<Session> maker;
};

using Texts = std::vector<std::string>;

TEST_F(BatchScriptTest, FiltersAreApplied) {
  auto script = session->script("SELECT count(*) FROM batch WHERE i < 999").value();
  EXPECT_EQ(run(*script, rows("SELECT range AS i FROM range(10000)")), Texts{"999"});
}

TEST_F(BatchScriptTest, ABatchCanBeScannedTwice) {
  auto script = session->script("SELECT count(*) FROM batch a JOIN batch b USING (i)").value();
  EXPECT_EQ(run(*script, rows("SELECT range AS i FROM range(100)")), Texts{"100"});
}

TEST_F(BatchScriptTest, PlansAreReusedForNewRows) {
  auto script = session->script("SELECT sum(i) FROM batch").value();
  for (int n = 1; n < 50; ++n) {
    EXPECT_EQ(run(*script, rows("SELECT range AS i FROM range(" + std::to_string(n) + ")")),
              Texts{std::to_string(n * (n - 1) / 2)});
  }
}

TEST_F(BatchScriptTest, AChangedTypeIsNoticed) {
  auto script = session->script("SELECT max(v) FROM batch").value();
  EXPECT_EQ(run(*script, rows("SELECT 41::BIGINT AS v")), Texts{"41"});
  EXPECT_EQ(run(*script, rows("SELECT 1.5::DOUBLE AS v")), Texts{"1.5"});
  EXPECT_EQ(run(*script, rows("SELECT 'x' AS v")), Texts{"x"});
}

TEST_F(BatchScriptTest, AJoinAfterAChangedTypeFindsItsRows) {
  ASSERT_TRUE(session->execute("CREATE TABLE dim AS SELECT 7 AS k, 'seven' AS name"));
  auto script = session->script("SELECT name FROM batch JOIN dim ON batch.k = dim.k").value();
  EXPECT_EQ(run(*script, rows("SELECT 7::BIGINT AS k")), Texts{"seven"});
  EXPECT_EQ(run(*script, rows("SELECT 7::DOUBLE AS k")), Texts{"seven"});
}

TEST_F(BatchScriptTest, AnAddedColumnAppears) {
  auto script = session->script("SELECT * FROM batch").value();
  EXPECT_EQ(run(*script, rows("SELECT 1 AS a")), Texts{"1"});
  EXPECT_EQ(run(*script, rows("SELECT 1 AS a, 2 AS b")), (Texts{"1", "2"}));
}

TEST_F(BatchScriptTest, HugeintKeepsItsDigits) {
  auto script = session->script("SELECT v FROM batch").value();
  EXPECT_EQ(run(*script, rows("SELECT 170141183460469231731687303715884105727::HUGEINT AS v")),
            Texts{"170141183460469231731687303715884105727"});
}

TEST_F(BatchScriptTest, TimeZoneIsUtc) {
  auto script = session->script("SELECT ts::VARCHAR FROM batch").value();
  EXPECT_EQ(run(*script, rows("SELECT '2026-01-02 03:04:05+02'::TIMESTAMPTZ AS ts")), Texts{"2026-01-02 01:04:05+00"});
}

TEST_F(BatchScriptTest, TheLastStatementsRowsGoOn) {
  ASSERT_TRUE(session->execute("CREATE TABLE seen (i BIGINT)"));
  auto script = session->script("INSERT INTO seen SELECT i FROM batch; SELECT count(*) FROM seen").value();
  EXPECT_EQ(run(*script, rows("SELECT range AS i FROM range(3)")), Texts{"3"});
  EXPECT_EQ(run(*script, rows("SELECT range AS i FROM range(3)")), Texts{"6"});
}

TEST_F(BatchScriptTest, AScriptThatOnlyInsertsYieldsNothing) {
  ASSERT_TRUE(session->execute("CREATE TABLE seen (i BIGINT)"));
  auto script = session->script("INSERT INTO seen SELECT i FROM batch").value();
  auto batch = rows("SELECT range AS i FROM range(3)");
  EXPECT_EQ(script->prepare(batch.schema).value(), nullptr);
  EXPECT_EQ(run(*script, batch), Texts{});
  auto check = session->script("SELECT count(*) FROM seen, batch").value();
  EXPECT_EQ(run(*check, rows("SELECT 1 AS one")), Texts{"3"});
}

TEST_F(BatchScriptTest, StatementsMayBuildOnOneAnother) {
  auto script =
      session->script("CREATE OR REPLACE TEMP TABLE t AS SELECT i * 2 AS d FROM batch; SELECT sum(d) FROM t").value();
  auto batch = rows("SELECT range AS i FROM range(4)");
  EXPECT_EQ(script->prepare(batch.schema).value()->name(0), "sum(d)");
  EXPECT_EQ(run(*script, batch), Texts{"12"});
  EXPECT_EQ(run(*script, batch), Texts{"12"});
}

TEST_F(BatchScriptTest, ErrorsSayWhereInTheWholeText) {
  const std::string text = "SELECT 1;\nSELECT nope FROM batch";
  auto script = session->script(text).value();
  auto prepared = script->prepare(rows("SELECT 1 AS a").schema);
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().error.kind, ErrorKind::config);
  ASSERT_TRUE(prepared.error().offset);
  EXPECT_EQ(*prepared.error().offset, text.find("nope"));
  EXPECT_EQ(prepared.error().error.message.find("LINE"), std::string::npos) << prepared.error().error.message;

  auto syntax = session->script("SELECT 1;\nSELEC 2");
  ASSERT_FALSE(syntax);
  EXPECT_EQ(syntax.error().offset.value(), 10U);
}

TEST_F(BatchScriptTest, AFailedBatchLeavesTheScriptUsable) {
  auto script = session->script("SELECT CAST(v AS INTEGER) FROM batch").value();
  auto bad = script->run({rows("SELECT 'x' AS v")}, [](const RecordBatch&) -> Result<void> { return {}; });
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().error.kind, ErrorKind::sql);
  EXPECT_EQ(run(*script, rows("SELECT '5' AS v")), Texts{"5"});
}

TEST_F(BatchScriptTest, ColumnsReadReachIntoStructs) {
  const auto schema = rows("SELECT {'city': 'x', 'zip': 1} AS p, 1 AS a, 2 AS b, [1] AS l").schema;
  const auto read = [&](const std::string& text) {
    auto script = session->script(text).value();
    EXPECT_TRUE(script->prepare(schema));
    return script->columns_read();
  };
  using Paths = std::vector<std::vector<std::string>>;
  EXPECT_EQ(read("SELECT p.city, count(*) FROM batch GROUP BY 1"), (Paths{{"p", "city"}}));
  EXPECT_EQ(read("SELECT a FROM batch WHERE b > 1"), (Paths{{"a"}, {"b"}}));
  EXPECT_EQ(read("SELECT p FROM batch WHERE p.zip = 1"), (Paths{{"p"}}));
  EXPECT_EQ(read("SELECT count(*) FROM batch").value().size(), 1U);  // any column will do
  EXPECT_EQ(read("SELECT * FROM batch").value().size(), 4U);
  EXPECT_EQ(read("SELECT #2 FROM batch"), std::nullopt);
}

TEST_F(BatchScriptTest, SeveralArraysAreOneBatch) {
  auto script = session->script("SELECT count(*), sum(i) FROM batch").value();
  std::vector<std::int64_t> seen;
  const auto a = rows("SELECT range AS i FROM range(3)");
  const auto b = rows("SELECT range + 10 AS i FROM range(2)");
  ASSERT_TRUE(script->run({a, b}, [&](const RecordBatch& result) -> Result<void> {
    seen.push_back(static_cast<const std::int64_t*>(result.array->raw()->children[0]->buffers[1])[0]);
    return {};
  }));
  EXPECT_EQ(seen, std::vector<std::int64_t>{5});
}

TEST_F(BatchScriptTest, AnEmptyBatchRuns) {
  auto script = session->script("SELECT count(*) FROM batch").value();
  EXPECT_EQ(run(*script, rows("SELECT 1 AS a WHERE false")), Texts{"0"});
}

TEST_F(BatchScriptTest, ArraysWithAnOffsetAreReadRight) {
  auto batch = rows("SELECT range AS i, 'v' || range AS s FROM range(10)");
  // The last four rows of the same buffers.
  ArrowArray raw = *batch.array->raw();
  raw.offset = 6;
  raw.length = 4;
  struct Keep {
    std::shared_ptr<const Array> owner;
  };
  raw.private_data = new Keep{batch.array};
  raw.release = [](ArrowArray* array) {
    delete static_cast<Keep*>(array->private_data);
    array->release = nullptr;
  };
  const RecordBatch tail{batch.schema, std::make_shared<const Array>(Array::adopt(&raw))};
  auto script = session->script("SELECT min(i), max(s), count(*) FROM batch").value();
  EXPECT_EQ(run(*script, tail), (Texts{"6", "v9", "4"}));
}

TEST_F(BatchScriptTest, NullsOfCutAndNestedRowsAreReadRight) {
  auto batch = rows(
      "SELECT CASE WHEN range % 3 = 0 THEN NULL ELSE range END AS i, "
      "CASE WHEN range % 4 = 0 THEN NULL ELSE [range, NULL, range] END AS l, "
      "{'a': CASE WHEN range % 5 = 0 THEN NULL ELSE range END} AS s FROM range(20)");
  ArrowArray raw = *batch.array->raw();
  raw.offset = 3;
  raw.length = 13;
  raw.private_data = new std::shared_ptr<const Array>(batch.array);
  raw.release = [](ArrowArray* array) {
    delete static_cast<std::shared_ptr<const Array>*>(array->private_data);
    array->release = nullptr;
  };
  const RecordBatch cut{batch.schema, std::make_shared<const Array>(Array::adopt(&raw))};
  auto script = session->script("SELECT sum(i), sum(list_sum(l)), count(s.a), count(*) FROM batch").value();
  // Rows 3 to 15: 72 less 3, 6, 9, 12, 15; twice what isn't 4, 8, 12; all but 5, 10, 15.
  EXPECT_EQ(run(*script, cut), (Texts{"72", "186", "10", "13"}));
}

TEST_F(BatchScriptTest, WhatIsKnownOfATableIsNotKeptFromBatchToBatch) {
  // A plan made when the table had one row took its count, its largest value and what it can't hold from there.
  ASSERT_TRUE(maker->execute("CREATE TABLE t AS SELECT 1::BIGINT AS id"));
  auto script = session
                    ->script(
                        "INSERT INTO t SELECT id FROM batch; SELECT (SELECT count(*) FROM t), (SELECT max(id) FROM t), "
                        "(SELECT count(*) FROM t WHERE id > 1) FROM batch")
                    .value();
  EXPECT_EQ(run(*script, rows("SELECT 2::BIGINT AS id")), (Texts{"2", "2", "1"}));
  EXPECT_EQ(run(*script, rows("SELECT 3::BIGINT AS id")), (Texts{"3", "3", "2"}));
  ASSERT_TRUE(maker->execute("INSERT INTO t VALUES (9)"));
  EXPECT_EQ(run(*script, rows("SELECT 4::BIGINT AS id")), (Texts{"5", "9", "4"}));
  EXPECT_TRUE(script->columns_read());  // projection is not lost by it
}

TEST_F(BatchScriptTest, FilesBesideTheBatchAreLookedForAgain) {
  const testing::TemporaryFolder folder;
  const auto add = [&](const std::string& file, const std::string& select) {
    ASSERT_TRUE(maker->execute("COPY (" + select + ") TO '" + (folder.path() / file).string() + "'"));
  };
  add("a.parquet", "SELECT 1 AS k");
  auto script =
      session->script("SELECT (SELECT count(*) FROM '" + (folder.path() / "*.parquet").string() + "') FROM batch")
          .value();
  EXPECT_EQ(run(*script, rows("SELECT 1 AS i")), Texts{"1"});
  add("b.parquet", "SELECT 2 AS k FROM range(2)");
  EXPECT_EQ(run(*script, rows("SELECT 1 AS i")), Texts{"3"});
}

TEST_F(BatchScriptTest, ConsumersErrorsEndTheRun) {
  auto script = session->script("SELECT * FROM batch").value();
  auto done = script->run({rows("SELECT 1 AS a")}, [](const RecordBatch&) -> Result<void> {
    return fail(ErrorKind::unavailable, "peer is gone");
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().error.kind, ErrorKind::unavailable);
}

TEST_F(BatchScriptTest, QuotedAndEqualColumnNames) {
  auto script = session->script(R"(SELECT "a b", "Ä" FROM batch)").value();
  EXPECT_EQ(run(*script, rows(R"(SELECT 1 AS x, 2 AS "a b", 3 AS "Ä")")), (Texts{"2", "3"}));
}

}  // namespace
}  // namespace aqueduck::sql
