#include <gtest/gtest.h>

#include "columnar/json_text.h"
#include "sql/database.h"
#include "tests/support/batches.h"

namespace aqueduck::sql {
namespace {

struct FolderFilesTest : ::testing::Test {
  testing::TemporaryFolder root;
  std::filesystem::path folder = root.path() / "a[1] 'b*";  // a name, not a pattern
  std::unique_ptr<Database> database;
  std::unique_ptr<Session> session;

  FolderFilesTest() {
    std::filesystem::create_directories(folder / "sub");
    open();
  }
  void open() {
    session.reset();
    database.reset();
    DatabaseOptions options;
    options.folder = folder;
    database = Database::open(options).value();
    session = database->connect().value();
  }
  void execute(const std::string& text) const {
    const auto done = session->execute(text);
    EXPECT_TRUE(done) << text << ": " << (done ? "" : done.error().error.message);
  }
  std::string query(const std::string& text) const {
    auto rows = session->query(text);
    if (!rows) return rows.error().error.message;
    std::string out;
    for (;;) {
      auto batch = (*rows)->next();
      if (!batch) return batch.error().error.message;
      if (batch->rows() == 0) return out;
      EXPECT_TRUE(append_json_lines(*batch, out));
    }
  }
};

TEST_F(FolderFilesTest, StatementsOfEveryKindStartThere) {
  execute("COPY (SELECT 1 AS a) TO 'x.csv'");
  EXPECT_EQ(testing::read_text(folder / "x.csv"), "a\n1\n");
  EXPECT_EQ(query("SELECT * FROM 'x.csv'"), "{\"a\":1}\n");
  execute("COPY (SELECT i, i % 2 AS p FROM range(4) t(i)) TO 'parts' (FORMAT parquet, PARTITION_BY (p))");
  EXPECT_EQ(query("SELECT p, count(*) AS n FROM 'parts/**/*.parquet' GROUP BY p ORDER BY p"),
            "{\"p\":0,\"n\":2}\n{\"p\":1,\"n\":2}\n");
  execute("COPY (SELECT 2 AS a) TO './sub/../sub/y.parquet'");
  EXPECT_EQ(query("SELECT a, filename FROM read_parquet('s*/*.parquet', filename = true)"),
            "{\"a\":2,\"filename\":\"sub/y.parquet\"}\n");
  EXPECT_EQ(query("SELECT content FROM read_text('x.csv')"), "{\"content\":\"a\\n1\\n\"}\n");
  EXPECT_NE(query("SELECT * FROM 'absent.csv'").find("absent.csv"), std::string::npos);
}

TEST_F(FolderFilesTest, AttachedFilesWithTheirLogsLiveThere) {
  execute("ATTACH 'sub/d.duckdb' AS d; CREATE TABLE d.t AS SELECT 1 AS a; INSERT INTO d.t VALUES (2)");
  EXPECT_TRUE(std::filesystem::exists(folder / "sub/d.duckdb"));
  EXPECT_TRUE(std::filesystem::exists(folder / "sub/d.duckdb.wal"));
  open();
  execute("ATTACH 'sub/d.duckdb' AS d (READ_ONLY); ATTACH ':memory:' AS m");
  EXPECT_EQ(query("SELECT sum(a)::BIGINT AS s FROM d.t"), "{\"s\":3}\n");
}

TEST_F(FolderFilesTest, OtherPathsStayAsTheyAre) {
  testing::write_text(root.path() / "x.csv", "a\n5\n");
  EXPECT_EQ(query("SELECT * FROM '" + (root.path() / "x.csv").string() + "'"), "{\"a\":5}\n");
  EXPECT_EQ(query("SELECT * FROM '../x.csv'"), "{\"a\":5}\n");
}

TEST_F(FolderFilesTest, RowsSpillThere) {
  session.reset();
  database.reset();
  DatabaseOptions options;
  options.folder = folder;
  options.memory_limit = std::uint64_t{60} << 20;
  options.temp_directory = "spilled";
  database = Database::open(options).value();
  session = database->connect().value();
  EXPECT_EQ(query("SELECT count(*) AS n FROM (SELECT repeat('x', 50) || i AS s FROM range(2_000_000) t(i) ORDER BY s)"),
            "{\"n\":2000000}\n");
  EXPECT_FALSE(std::filesystem::exists("spilled"));
}

}  // namespace
}  // namespace aqueduck::sql
