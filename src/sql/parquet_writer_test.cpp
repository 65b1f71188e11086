#include "sql/parquet_writer.h"

#include <gtest/gtest.h>

#include "columnar/json_text.h"
#include "sql/database.h"
#include "tests/support/batches.h"
#include "tests/support/file_size_limit.h"

namespace aqueduck::sql {
namespace {

using testing::FileSizeLimit;
using testing::TemporaryFolder;

struct ParquetWriter : ::testing::Test {
  TemporaryFolder folder;
  std::unique_ptr<Database> database = Database::open({}).value();
  std::unique_ptr<Session> session = database->connect().value();
  std::filesystem::path path = folder.path() / "f";

  RecordBatch rows_of(const std::string& text) const {
    return database->connect().value()->query(text).value()->next().value();
  }
  std::vector<std::string> query(const std::string& text) const {
    auto other = database->connect().value();
    auto rows = other->query(text);
    EXPECT_TRUE(rows) << rows.error().error.message;
    std::string lines;
    while (rows) {
      auto batch = (*rows)->next();
      EXPECT_TRUE(batch);
      if (!batch || batch->rows() == 0) break;
      EXPECT_TRUE(append_json_lines(*batch, lines));
    }
    return testing::split_lines(lines);
  }
  std::shared_ptr<ParquetFormat> format(const RecordBatch& rows, const ParquetOptions& options = {}) const {
    auto made = session->parquet(rows.schema, options);
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(nullptr);
  }
  std::string read() const { return "read_parquet('" + path.string() + "')"; }
};

TEST_F(ParquetWriter, RowGroupsAreExactWhateverTheBatches) {
  const auto batch = rows_of("SELECT i AS id, 'n' || i AS name FROM range(700) t(i)");
  ParquetOptions options;
  options.row_group_rows = 1'000;
  auto columns = format(batch, options);
  auto file = columns->file(path);
  for (int i = 0; i < 5; ++i) {
    file->append(columns->split(batch).value().front());
    ASSERT_TRUE(file->settle());
  }
  EXPECT_EQ(file->rows(), 3'500U);
  EXPECT_EQ(file->waiting_rows(), 500U);
  EXPECT_TRUE(file->opened());
  const auto before = file->bytes();
  ASSERT_TRUE(file->finish());
  EXPECT_GT(file->bytes(), before);
  EXPECT_EQ(file->bytes(), std::filesystem::file_size(path));
  EXPECT_EQ(file->memory(), 0U);
  EXPECT_EQ(query("SELECT DISTINCT row_group_num_rows AS n FROM parquet_metadata('" + path.string() + "') ORDER BY n"),
            (std::vector<std::string>{R"({"n":500})", R"({"n":1000})"}));
  EXPECT_EQ(query("SELECT count(*) AS n, sum(id) AS s, count(DISTINCT name) AS d FROM " + read()),
            std::vector<std::string>{R"({"n":3500,"s":1223250,"d":700})"});
}

TEST_F(ParquetWriter, NothingIsMadeBeforeTheFirstRowGroup) {
  const auto batch = rows_of("SELECT 1 AS id");
  auto columns = format(batch);
  auto file = columns->file(path);
  file->append(columns->split(batch).value().front());
  ASSERT_TRUE(file->settle());
  EXPECT_FALSE(file->opened());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_GT(file->memory(), 0U);
  file->end_row_group();
  ASSERT_TRUE(file->settle());
  EXPECT_TRUE(file->opened());
  EXPECT_EQ(file->memory(), 0U);
}

TEST_F(ParquetWriter, AFullDiskIsWaitedFor) {
  const auto batch = rows_of("SELECT i AS id, md5(i::VARCHAR) AS name FROM range(20000) t(i)");
  ParquetOptions options;
  options.row_group_rows = 5'000;
  auto columns = format(batch, options);
  auto file = columns->file(path);
  {
    const FileSizeLimit limit(100'000);
    file->append(columns->split(batch).value().front());
    for (int i = 0; i < 3; ++i) {
      auto refused = file->settle();
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().kind, ErrorKind::limit) << refused.error().message;
    }
  }
  {
    const FileSizeLimit limit(200'000);
    EXPECT_EQ(file->finish().error().kind, ErrorKind::limit);
    EXPECT_EQ(file->finish().error().kind, ErrorKind::limit);
  }
  ASSERT_TRUE(file->finish());
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(query("SELECT count(*) AS n, count(DISTINCT name) AS d, sum(id) AS s FROM " + read()),
            std::vector<std::string>{R"({"n":20000,"d":20000,"s":199990000})"});
}

TEST_F(ParquetWriter, AFullDiskAtTheFooterIsWaitedFor) {
  const auto batch = rows_of("SELECT i AS id FROM range(1000) t(i)");
  auto columns = format(batch);
  auto file = columns->file(path);
  file->append(columns->split(batch).value().front());
  file->end_row_group();
  ASSERT_TRUE(file->settle());
  {
    const FileSizeLimit limit(file->bytes() + 10);
    EXPECT_EQ(file->finish().error().kind, ErrorKind::limit);
  }
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(query("SELECT count(*) AS n FROM " + read()), std::vector<std::string>{R"({"n":1000})"});
}

TEST_F(ParquetWriter, SeveralFilesAreOpenAtOnce) {
  const auto batch =
      rows_of("SELECT i AS id, CASE WHEN i % 3 < 2 THEN i % 3 END AS k, i % 2 AS j FROM range(5000) t(i)");
  ParquetOptions options;
  options.partition_by = {"K", "j"};
  auto columns = format(batch, options);
  auto parts = columns->split(batch);
  ASSERT_TRUE(parts) << parts.error().message;
  ASSERT_EQ(parts->size(), 6U);
  EXPECT_EQ((*parts)[0].folder, "k=0/j=0");
  EXPECT_EQ((*parts)[2].folder, "k=__HIVE_DEFAULT_PARTITION__/j=0");
  std::vector<std::unique_ptr<ParquetFile>> files;
  for (std::size_t i = 0; i < parts->size(); ++i) files.push_back(columns->file(folder.path() / std::to_string(i)));
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < parts->size(); ++i) {
      files[i]->append((*parts)[i]);
      files[i]->end_row_group();
      ASSERT_TRUE(files[i]->settle());
    }
  }
  for (auto& file : files) ASSERT_TRUE(file->finish());
  EXPECT_EQ(query("SELECT count(*) AS n, min(id) AS a, max(id) AS b, bool_and(id % 6 = 4) AS same FROM read_parquet('" +
                  (folder.path() / "4").string() + "')"),
            std::vector<std::string>{R"({"n":1666,"a":4,"b":4996,"same":true})"});
}

TEST_F(ParquetWriter, ColumnsKeepTheirNamesAndTypes) {
  const auto batch = rows_of(
      "SELECT 1 AS id, 2 AS \"ID\", [{'a': 5::HUGEINT}] AS li, MAP {'k': 'v'} AS m, NULL::VARCHAR AS none, "
      "TIMESTAMPTZ '2026-11-30 10:00:00+00' AS at, 'x'::ENUM('x', 'y') AS e, [1, 2]::INTEGER[2] AS arr");
  auto columns = format(batch);
  auto file = columns->file(path);
  file->append(columns->split(batch).value().front());
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(
      query("SELECT * FROM " + read()),
      std::vector<std::string>{
          R"j({"id":1,"ID_1":2,"li":[{"a":5}],"m":{"k":"v"},"none":null,"at":"2026-11-30T10:00:00Z","e":"x","arr":[1,2]})j"});
}

TEST_F(ParquetWriter, AValueThatDoesNotFitIsRefusedWithItsBatch) {
  const auto batch = rows_of("SELECT 170141183460469231731687303715884105727::HUGEINT AS wide");
  auto parts = format(batch)->split(batch);
  ASSERT_FALSE(parts);
  EXPECT_EQ(parts.error().kind, ErrorKind::sql) << parts.error().message;
}

TEST_F(ParquetWriter, FaultsOfTheConfiguration) {
  const auto batch = rows_of("SELECT 1 AS a, 2 AS b");
  for (const std::vector<std::string>& by : {std::vector<std::string>{"c"}, {"a", "A"}, {"a", "b"}}) {
    ParquetOptions options;
    options.partition_by = by;
    auto refused = session->parquet(batch.schema, options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::config) << refused.error().message;
  }
}

TEST_F(ParquetWriter, AFileThatIsGivenUpLeavesTheSessionWhole) {
  const auto batch = rows_of("SELECT 1 AS id");
  {
    auto columns = format(batch);
    auto file = columns->file(path);
    columns->split(batch).value();
    file->append(columns->split(batch).value().front());
    file->end_row_group();
    ASSERT_TRUE(file->settle());
  }
  EXPECT_EQ(session->query("SELECT count(*) FROM duckdb_views() WHERE NOT internal").value()->next()->rows(), 1);
  auto columns = format(batch);
  auto file = columns->file(path);
  file->append(columns->split(batch).value().front());
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(query("SELECT id FROM " + read()), std::vector<std::string>{R"({"id":1})"});
}

}  // namespace
}  // namespace aqueduck::sql
