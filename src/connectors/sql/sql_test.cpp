#include <gtest/gtest.h>

#include "columnar/json_text.h"
#include "connectors/sql/sql_sink.h"
#include "tests/support/conformance_sink.h"

namespace aqueduck {
namespace {

using conformance::token_of;
using testing::id_name_batch;

struct SqlSinkTest : ::testing::Test {
  std::unique_ptr<sql::Database> engine = sql::Database::open({}).value();
  ComponentContext context;
  testing::TemporaryFolder folder;
  SqlSinkConfig config{
      "INSERT INTO t SELECT id, name FROM batch", {"CREATE TABLE IF NOT EXISTS t (id BIGINT, name VARCHAR)"}, {}};

  SqlSinkTest() { context.database = engine.get(); }
  std::unique_ptr<Sink> sink() const { return std::make_unique<SqlSink>(config, context); }
  conformance::SinkUnderTest under_test() {
    const auto say = [this](const std::string& text) {
      auto done = engine->connect().value()->execute(text);
      EXPECT_TRUE(done) << done.error().error.message;
    };
    const auto table_gone = [say] {
      say("ALTER TABLE t RENAME TO gone");
      return [say] { say("ALTER TABLE gone RENAME TO t"); };
    };
    const auto file_gone = [this] {
      const std::string path = (folder.path() / "a.duckdb").string();
      config.setup.push_back("ATTACH IF NOT EXISTS '" + path + "' AS a (READ_ONLY)");
      return [path] {
        auto made = sql::Database::open({}).value();
        EXPECT_TRUE(
            made->connect().value()->execute("ATTACH '" + path + "' AS a; CREATE TABLE a.t (i INTEGER); DETACH a"));
      };
    };
    return {[say] { say("DROP TABLE IF EXISTS t"); },
            [this] { return sink(); },
            {[this] { return rows(); }},
            {{table_gone, ErrorKind::config}},
            {{file_gone, ErrorKind::io}},
            conformance::Inapplicable{"it keeps no token: a COMMIT that failed is an error, and made again"},
            true};
  }
  std::vector<std::string> rows() const {
    auto found = engine->connect().value()->query("SELECT * FROM t ORDER BY id").value();
    std::string lines;
    for (auto batch = found->next(); batch && batch->rows() > 0; batch = found->next()) {
      EXPECT_TRUE(append_json_lines(*batch, lines));
    }
    return testing::split_lines(lines);
  }
};

TEST_F(SqlSinkTest, Conforms) { conformance::check_sink(under_test()); }

TEST_F(SqlSinkTest, StatementsThatCreateConform) {
  config.statement = "CREATE OR REPLACE TEMP TABLE s AS SELECT * FROM batch; INSERT INTO t SELECT id, name FROM s";
  conformance::check_sink(under_test());
}

TEST_F(SqlSinkTest, AFailureWritesNothingAndKeepsTheRows) {
  config.statement += "; INSERT INTO t SELECT 1000 // (id - 1), error('no 7') FROM batch WHERE id = 7";
  auto s = sink();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->write(id_name_batch(6, 2)));
  auto refused = s->commit({}, token_of("1"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::sql) << refused.error().message;
  EXPECT_TRUE(rows().empty());
  ASSERT_TRUE(s->abort());
  ASSERT_TRUE(s->write(id_name_batch(8, 2)));
  ASSERT_TRUE(s->commit({}, token_of("1")));
  EXPECT_EQ(rows().size(), 2U);
}

TEST_F(SqlSinkTest, FaultsOfTheScriptAreFaultsOfTheConfiguration) {
  config.statement = "INSERT INTO";
  EXPECT_EQ(sink()->open().error().kind, ErrorKind::config);
}

TEST_F(SqlSinkTest, AFenceKeepsOtherDatabasesOut) {
  const auto attach = [&](const std::string& name, const std::string& options) {
    return "ATTACH '" + (folder.path() / (name + ".duckdb")).string() + "' AS " + name + options;
  };
  std::filesystem::create_directories(folder.path() / "in");
  config.fence = folder.path() / "in";
  ASSERT_TRUE(engine->connect().value()->execute(attach("other", "") + "; DETACH other"));
  config.setup.push_back("ATTACH IF NOT EXISTS '" + (config.fence / "mine.duckdb").string() + "' AS mine");
  config.setup.push_back(attach("other", " (READ_ONLY)"));
  auto s = sink();
  ASSERT_TRUE(s->open());
  s->close();
  ASSERT_TRUE(engine->connect().value()->execute("DETACH other"));

  config.setup.back() = attach("other", "");
  const auto opened = sink()->open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::config);
  EXPECT_NE(opened.error().message.find("'other' (duckdb)"), std::string::npos) << opened.error().message;
}

}  // namespace
}  // namespace aqueduck
