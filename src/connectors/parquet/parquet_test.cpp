#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "columnar/json_text.h"
#include "connectors/parquet/parquet_sink.h"
#include "tests/support/conformance_sink.h"
#include "tests/support/file_size_limit.h"

namespace aqueduck {
namespace {

namespace fs = std::filesystem;
using conformance::check_sink;
using conformance::token_of;
using testing::FileSizeLimit;
using testing::id_name_batch;
using testing::read_text;
using testing::TemporaryFolder;
using testing::write_text;

struct ParquetTest : ::testing::Test {
  TemporaryFolder folder;
  ComponentContext context;
  ParquetConfig config;
  std::unique_ptr<sql::Database> engine = sql::Database::open({}).value();

  ParquetTest() {
    context.directory = folder.path();
    context.pipeline = "p";
    config.path = "out";
  }
  fs::path out() const { return folder.path() / "out"; }
  fs::path own() const { return out() / "_aqueduck" / "p"; }
  std::unique_ptr<Sink> sink() const { return std::make_unique<ParquetSink>(config, context); }
  RecordBatch rows_of(const std::string& text) const {
    return engine->connect().value()->query(text).value()->next().value();
  }
  std::vector<std::string> query(const std::string& text) const {
    auto session = engine->connect().value();
    auto rows = session->query(text);
    EXPECT_TRUE(rows) << rows.error().error.message;
    std::string lines;
    if (!rows) return {};
    for (;;) {
      auto batch = (*rows)->next();
      EXPECT_TRUE(batch);
      if (!batch || batch->rows() == 0) break;
      EXPECT_TRUE(append_json_lines(*batch, lines));
    }
    return testing::split_lines(lines);
  }
  std::vector<std::string> rows(const std::string& columns = "*") const {
    return query("SELECT " + columns + " FROM read_parquet('" + out().string() +
                 "/**/*.parquet', hive_partitioning = true, union_by_name = true) ORDER BY id");
  }
  conformance::SinkUnderTest under_test() const {
    const auto no_room = [] {
      auto limit = std::make_shared<FileSizeLimit>(0);
      return [limit]() mutable { limit.reset(); };
    };
    const auto file_in_its_place = [this] {
      write_text(out(), "");
      return [this] { fs::remove(out()); };
    };
    const auto folder_in_the_way = [this] {
      const fs::path target = out() / "part-p-000002-1.parquet";
      fs::create_directories(target / "in the way");
      return [target] { fs::remove_all(target); };
    };
    return {[this] { fs::remove_all(out()); },
            [this] { return sink(); },
            {[this] { return rows(); }},
            {{no_room, ErrorKind::limit}},
            {{file_in_its_place, ErrorKind::io}},
            {{folder_in_the_way, true}},
            true};
  }
  std::size_t visible_files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(out())) count += entry.path().extension() == ".parquet";
    return count;
  }
  std::vector<std::string> own_files() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(own())) found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }
  // Takes the first `count` renames of a commit back, as if its writer had been killed before them.
  void undo_renames(std::uint64_t number, std::size_t count) const {
    const auto manifest = Manifest::from_json(read_text(own() / (std::to_string(number) + ".json"))).value();
    ASSERT_LE(count, manifest.moves.size());
    for (std::size_t i = 0; i < count; ++i) {
      fs::create_directories((own() / manifest.moves[i].from).parent_path());
      fs::rename(out() / manifest.moves[i].to, own() / manifest.moves[i].from);
    }
    write_text(own() / (manifest.writer + ".lock"), "");
  }
  void commit_two_days() {
    config.partition_by = {"day"};
    auto s = sink();
    ASSERT_TRUE(s->open());
    ASSERT_TRUE(s->write(rows_of("SELECT i AS id, DATE '2026-11-30' + (i % 3)::INTEGER AS day FROM range(6) t(i)")));
    auto done = s->commit({}, token_of("1"));
    ASSERT_TRUE(done) << done.error().message;
  }
};

TEST_F(ParquetTest, Conforms) { check_sink(under_test()); }

TEST_F(ParquetTest, NothingStaysBesideTheCommits) {
  conformance::check_commits(under_test());
  EXPECT_EQ(own_files(), (std::vector<std::string>{"1.json", "2.json", "3.json", "4.json"}));
}

TEST_F(ParquetTest, PartitionsBecomeFolders) {
  commit_two_days();
  EXPECT_TRUE(fs::exists(out() / "day=2026-12-01" / "part-p-000001-2.parquet"));
  EXPECT_EQ(rows("id").size(), 6U);
}

TEST_F(ParquetTest, PartitionValuesOfEveryKind) {
  config.partition_by = {"a", "b"};
  auto s = sink();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(
      s->write(rows_of("SELECT 1 AS id, '../x/y=z %' AS a, 1 AS b UNION ALL SELECT 2, NULL, 2 UNION ALL "
                       "SELECT 3, 'it''s \"ü\"', NULL ORDER BY id")));
  auto done = s->commit({}, token_of("1"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(rows("id, a"), (std::vector<std::string>{R"({"id":1,"a":"../x/y=z %"})", R"({"id":2,"a":null})",
                                                     R"({"id":3,"a":"it's \"ü\""})"}));
}

TEST_F(ParquetTest, AMissingPartitionColumnIsAFaultOfTheConfiguration) {
  config.partition_by = {"day"};
  auto s = sink();
  ASSERT_TRUE(s->open());
  auto refused = s->write(id_name_batch(0, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::config) << refused.error().message;
  EXPECT_NE(refused.error().message.find("day"), std::string::npos) << refused.error().message;
}

TEST_F(ParquetTest, WideNumbersKeepTheirDigits) {
  auto s = sink();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(
      s->write(rows_of("SELECT 1 AS id, 12345678901234567890123456789::HUGEINT AS wide, "
                       "{'HUGEINT': [170::UHUGEINT]} AS st, 'x'::ENUM('x', 'HUGEINT') AS e")));
  auto done = s->commit({}, token_of("1"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(query("SELECT typeof(wide) AS t, wide::VARCHAR AS v FROM '" + out().string() + "/*.parquet'"),
            (std::vector<std::string>{R"j({"t":"DECIMAL(38,0)","v":"12345678901234567890123456789"})j"}));
}

TEST_F(ParquetTest, RowsOfOtherColumnsGoToAnotherFile) {
  auto s = sink();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->write(rows_of("SELECT 1 AS id")));
  ASSERT_TRUE(s->write(rows_of("SELECT 2 AS id")));
  ASSERT_TRUE(s->write(rows_of("SELECT 3.5::DOUBLE AS id, 'x' AS more")));
  ASSERT_TRUE(s->commit({}, token_of("1")));
  EXPECT_EQ(rows("id").size(), 3U);
  EXPECT_TRUE(fs::exists(out() / "part-p-000001-2.parquet"));
  EXPECT_FALSE(fs::exists(out() / "part-p-000001-3.parquet"));
}

TEST_F(ParquetTest, RollLimitsSplitACommit) {
  config.roll.rows.value = 10;
  auto s = sink();
  ASSERT_TRUE(s->open());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(s->write(id_name_batch(i * 4, 4)));
  ASSERT_TRUE(s->commit({}, token_of("1")));
  EXPECT_EQ(rows().size(), 20U);
  EXPECT_TRUE(fs::exists(out() / "part-p-000001-3.parquet"));
}

TEST_F(ParquetTest, RowsThatWaitForTheirCommitAreInFiles) {
  config.row_group_rows.value = 1'000;
  auto s = sink();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->write(id_name_batch(0, 10'500)));
  EXPECT_EQ(visible_files(), 0U);
  EXPECT_GT(s->uncommitted_bytes(), 10'000U);
  ASSERT_TRUE(s->commit({}, token_of("1")));
  EXPECT_EQ(s->uncommitted_bytes(), 0U);
  EXPECT_EQ(rows().size(), 10'500U);
  EXPECT_EQ(query("SELECT num_row_groups AS n FROM parquet_file_metadata('" + out().string() + "/*.parquet')"),
            std::vector<std::string>{R"({"n":11})"});
}

TEST_F(ParquetTest, RollBytesAreThoseOfTheFiles) {
  config.row_group_rows.value = 1'000;
  config.roll.bytes.value = 15'000;
  auto s = sink();
  ASSERT_TRUE(s->open());
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(s->write(rows_of("SELECT i AS id, md5(i::VARCHAR) AS name FROM range(" + std::to_string(i * 1'000) +
                                 ", " + std::to_string((i + 1) * 1'000) + ") t(i)")));
  }
  EXPECT_GT(s->uncommitted_bytes(), 150'000U);
  ASSERT_TRUE(s->commit({}, token_of("1")));
  EXPECT_EQ(rows("id").size(), 10'000U);
  EXPECT_GE(visible_files(), 9U);
}

TEST_F(ParquetTest, PastTheMemoryTheLargestIsWritten) {
  config.partition_by = {"k"};
  config.buffer.value = std::uint64_t{1} << 20;
  auto s = sink();
  ASSERT_TRUE(s->open());
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(
        s->write(rows_of("SELECT i AS id, repeat('x', 100) || i AS t, CASE WHEN i % 10 = 0 THEN 1 ELSE 0 END "
                         "AS k FROM range(" +
                         std::to_string(i * 4'000) + ", " + std::to_string((i + 1) * 4'000) + ") t(i)")));
  }
  ASSERT_TRUE(s->commit({}, token_of("1")));
  EXPECT_EQ(query("SELECT count(*) AS n, sum(id) AS s FROM '" + out().string() + "/**/*.parquet'"),
            std::vector<std::string>{R"({"n":32000,"s":511984000})"});
  const auto groups = [&](const char* k) {
    return query("SELECT num_row_groups > 1 AS many FROM parquet_file_metadata('" + out().string() + "/k=" + k +
                 "/*.parquet')");
  };
  EXPECT_EQ(groups("0"), std::vector<std::string>{R"({"many":true})"});
  EXPECT_EQ(groups("1"), std::vector<std::string>{R"({"many":false})"});
}

TEST_F(ParquetTest, PastTheOpenFilesTheOldestIsFinished) {
  config.partition_by = {"k"};
  config.row_group_rows.value = 10;
  config.open_files.value = 3;
  auto s = sink();
  ASSERT_TRUE(s->open());
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(s->write(rows_of("SELECT i AS id, i % 6 AS k FROM range(" + std::to_string(i * 120) + ", " +
                                 std::to_string((i + 1) * 120) + ") t(i)")));
  }
  std::size_t descriptors = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    descriptors += fs::read_symlink(entry.path(), error).string().find((own() / "tmp-").string()) == 0;
  }
  EXPECT_LE(descriptors, 4U) << "open files, and the lock";
  ASSERT_TRUE(s->commit({}, token_of("1")));
  EXPECT_EQ(query("SELECT count(*) AS n, count(DISTINCT id) AS d FROM '" + out().string() + "/**/*.parquet'"),
            std::vector<std::string>{R"({"n":480,"d":480})"});
  EXPECT_GT(visible_files(), 6U);
}

TEST_F(ParquetTest, AFullDiskLosesNothingAndRepeatsNothing) {
  config.row_group_rows.value = 1'000;
  config.partition_by = {"k"};
  auto s = sink();
  ASSERT_TRUE(s->open());
  const auto batch = [&](int i) {
    return rows_of("SELECT i AS id, md5(i::VARCHAR) AS name, i % 2 AS k FROM range(" + std::to_string(i * 3'000) +
                   ", " + std::to_string((i + 1) * 3'000) + ") t(i)");
  };
  int refusals = 0;
  for (int i = 0; i < 8; ++i) {
    auto limit = std::make_unique<FileSizeLimit>(i < 6 ? 60'000 : 220'000);
    for (int attempt = 0;; ++attempt) {
      auto done = s->write(batch(i));
      if (done) break;
      ASSERT_EQ(done.error().kind, ErrorKind::limit) << done.error().message;
      refusals += 1;
      if (attempt == 1) limit.reset();
    }
  }
  {
    const FileSizeLimit limit(100'000);
    auto refused = s->commit({}, token_of("1"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::limit) << refused.error().message;
    EXPECT_EQ(visible_files(), 0U);
  }
  {
    const FileSizeLimit limit(0);  // files are finished or not; the manifest isn't written either
    EXPECT_FALSE(s->commit({}, token_of("1")));
  }
  EXPECT_GT(refusals, 2);
  auto done = s->commit({}, token_of("1"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(
      query("SELECT count(*) AS n, count(DISTINCT id) AS d, sum(id) AS s FROM '" + out().string() + "/**/*.parquet'"),
      std::vector<std::string>{R"({"n":24000,"d":24000,"s":287988000})"});
  ASSERT_TRUE(s->write(batch(8)));
  ASSERT_TRUE(s->commit(token_of("1"), token_of("2")));
  EXPECT_EQ(rows("id").size(), 27'000U);
}

TEST_F(ParquetTest, WhatADeadWriterDidNotCommitIsRemoved) {
  commit_two_days();
  fs::create_directories(own() / "tmp-1-dead" / "1" / "day=2026-12-01");
  write_text(own() / "tmp-1-dead" / "1" / "day=2026-12-01" / "data_0.part", "torn");
  write_text(own() / "tmp-1-dead.lock", "");
  write_text(own() / "tmp-1-dead.next", "{\"v\":1");
  EXPECT_EQ(sink()->open()->entries, token_of("1").entries);
  EXPECT_EQ(own_files(), std::vector<std::string>{"1.json"});
  EXPECT_EQ(rows("id").size(), 6U);
}

TEST_F(ParquetTest, ACommitIsFinishedThatWasCutOffBeforeItsRenames) {
  commit_two_days();
  undo_renames(1, 3);
  EXPECT_EQ(sink()->open()->entries, token_of("1").entries);
  EXPECT_EQ(rows("id").size(), 6U);
  EXPECT_EQ(own_files(), std::vector<std::string>{"1.json"});
}

TEST_F(ParquetTest, ACommitIsFinishedThatWasCutOffAmongItsRenames) {
  commit_two_days();
  undo_renames(1, 2);
  EXPECT_EQ(rows("id").size(), 2U);
  EXPECT_EQ(sink()->open()->entries, token_of("1").entries);
  EXPECT_EQ(rows("id").size(), 6U);
}

TEST_F(ParquetTest, AnotherWriterFinishesBeforeItCommitsItsOwn) {
  config.partition_by = {"day"};
  auto running = sink();
  ASSERT_TRUE(running->open());
  commit_two_days();
  undo_renames(1, 3);
  ASSERT_TRUE(running->write(rows_of("SELECT 10 AS id, DATE '2026-11-30' AS day")));
  auto done = running->commit(token_of("1"), token_of("2"));
  ASSERT_TRUE(done);
  EXPECT_TRUE(std::holds_alternative<Committed>(*done));
  EXPECT_EQ(rows("id").size(), 7U);
}

TEST_F(ParquetTest, TheFilesOfALivingWriterStay) {
  config.roll.rows.value = 1;
  auto living = sink();
  ASSERT_TRUE(living->open());
  ASSERT_TRUE(living->write(id_name_batch(0, 1)));
  ASSERT_TRUE(living->write(id_name_batch(1, 1)));  // the first is in a file now
  ASSERT_TRUE(sink()->open());
  auto done = living->commit({}, token_of("1"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(rows().size(), 2U);
}

TEST_F(ParquetTest, AFailureAfterTheLinkIsUnknownAndHeals) {
  auto s = sink();
  ASSERT_TRUE(s->open());
  fs::create_directories(out() / "part-p-000001-1.parquet" / "in the way");
  ASSERT_TRUE(s->write(id_name_batch(0, 2)));
  auto result = s->commit({}, token_of("1"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(std::holds_alternative<Unknown>(*result));
  EXPECT_FALSE(s->stored_token());
  fs::remove_all(out() / "part-p-000001-1.parquet");
  EXPECT_EQ(s->stored_token()->entries, token_of("1").entries);
  EXPECT_EQ(rows().size(), 2U);
  ASSERT_TRUE(s->write(id_name_batch(2, 1)));
  ASSERT_TRUE(s->commit(token_of("1"), token_of("2")));
  EXPECT_EQ(rows().size(), 3U) << "rows of the commit in doubt, again";
}

TEST_F(ParquetTest, WhatIsInDoubtOutlivesItsWriter) {
  auto s = sink();
  ASSERT_TRUE(s->open());
  fs::create_directories(out() / "part-p-000001-1.parquet" / "in the way");
  ASSERT_TRUE(s->write(id_name_batch(0, 2)));
  ASSERT_TRUE(s->commit({}, token_of("1")));
  s->close();
  fs::remove_all(out() / "part-p-000001-1.parquet");
  EXPECT_EQ(sink()->open()->entries, token_of("1").entries);
  EXPECT_EQ(rows().size(), 2U);
}

TEST_F(ParquetTest, ANumberThatWasUsedLongAgoIsVoid) {
  commit_two_days();
  Manifest newer = Manifest::from_json(read_text(own() / "1.json")).value();
  newer.number = 1'500;
  write_text(own() / "1500.json", newer.to_json());
  fs::remove(own() / "1.json");
  write_text(own() / "file", "rows");
  CommitLog log(out(), own());
  auto outcome = log.add({1, "w", token_of("x"), {{"file", "part-x.parquet"}}});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->added, CommitLog::Added::overtaken);
  EXPECT_FALSE(fs::exists(own() / "1.json"));
  EXPECT_FALSE(fs::exists(out() / "part-x.parquet"));
}

TEST_F(ParquetTest, ANumberThatAnotherHasIsTaken) {
  commit_two_days();
  const std::string before = read_text(own() / "1.json");
  CommitLog log(out(), own());
  auto outcome = log.add({1, "w", token_of("x"), {}});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->added, CommitLog::Added::taken);
  EXPECT_EQ(read_text(own() / "1.json"), before);
}

TEST_F(ParquetTest, TheNewestThousandAreKept) {
  fs::create_directories(own());
  for (int i = 990; i <= 1'999; ++i) {
    write_text(own() / (std::to_string(i) + ".json"),
               Manifest{static_cast<std::uint64_t>(i), "w", token_of(std::to_string(i)), {}}.to_json());
  }
  auto s = sink();
  ASSERT_EQ(s->open()->entries, token_of("1999").entries);
  ASSERT_TRUE(s->commit(token_of("1999"), token_of("2000")));
  s->close();
  EXPECT_EQ(own_files().size(), 1'000U);
}

TEST_F(ParquetTest, DamagedCommitsAreAConflict) {
  commit_two_days();
  const std::string good = read_text(own() / "1.json");
  const auto kind = [&](const std::string& text) {
    write_text(own() / "1.json", text);
    auto opened = sink()->open();
    return opened ? "opened" : std::string(name(opened.error().kind));
  };
  EXPECT_EQ(kind(good.substr(0, good.size() / 2)), "conflict");
  EXPECT_EQ(kind(""), "conflict");
  EXPECT_EQ(kind("[]"), "conflict");
  EXPECT_EQ(kind(R"({"v":2})"), "conflict");
  EXPECT_EQ(kind(R"({"v":1,"number":7,"writer":"w","token":"{\"v\":1,\"entries\":{}}","files":[]})"), "conflict");
  EXPECT_EQ(
      kind(R"({"v":1,"number":1,"writer":"w","token":"{\"v\":1,\"entries\":{}}","files":[{"from":"a","to":"../b"}]})"),
      "conflict");
  EXPECT_EQ(kind(good), "opened");
}

TEST_F(ParquetTest, TwoPipelinesShareAFolder) {
  auto a = sink();
  context.pipeline = "q";
  auto b = sink();
  ASSERT_TRUE(a->open());
  ASSERT_TRUE(b->open());
  ASSERT_TRUE(a->write(id_name_batch(0, 1)));
  ASSERT_TRUE(b->write(id_name_batch(1, 1)));
  ASSERT_TRUE(a->commit({}, token_of("1")));
  ASSERT_TRUE(b->commit({}, token_of("1")));
  EXPECT_EQ(rows().size(), 2U);
}

}  // namespace
}  // namespace aqueduck
