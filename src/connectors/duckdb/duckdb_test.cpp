#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "columnar/json_text.h"
#include "connectors/duckdb/duckdb_sink.h"
#include "tests/support/conformance_sink.h"
#include "tests/support/file_size_limit.h"

namespace aqueduck {
namespace {

using conformance::check_sink;
using conformance::token_of;
using testing::FileSizeLimit;
using testing::id_name_batch;
using testing::TemporaryFolder;

struct DuckdbTest : ::testing::Test {
  TemporaryFolder folder;
  ComponentContext context;
  DuckdbConfig config;
  std::unique_ptr<sql::Database> engine = sql::Database::open({}).value();

  DuckdbTest() {
    context.directory = folder.path();
    context.pipeline = "it's";
    config.path = "a.duckdb";
    config.table = "t";
  }
  std::unique_ptr<Sink> sink() const { return std::make_unique<DuckdbSink>(config, context); }
  std::vector<std::string> query(const std::string& text) const {
    sql::DatabaseOptions options;
    options.path = std::filesystem::canonical(folder.path()) / "a.duckdb";
    options.memory_limit = config.memory.value;
    auto database = sql::Database::open(options);
    EXPECT_TRUE(database) << database.error().message;
    auto session = (*database)->connect();
    EXPECT_TRUE(session);
    return lines(**session, text);
  }
  static std::vector<std::string> lines(sql::Session& session, const std::string& text) {
    auto rows = session.query(text);
    EXPECT_TRUE(rows) << rows.error().error.message;
    std::string out;
    if (!rows) return {};
    for (;;) {
      auto batch = (*rows)->next();
      EXPECT_TRUE(batch);
      if (!batch || batch->rows() == 0) break;
      EXPECT_TRUE(append_json_lines(*batch, out));
    }
    return testing::split_lines(out);
  }
  RecordBatch rows_of(const std::string& text) const {
    return engine->connect().value()->query(text).value()->next().value();
  }
  /// The engine's COMMIT fails where it writes its log.
  static conformance::Heal no_room() {
    auto limit = std::make_shared<FileSizeLimit>(0);
    return [limit]() mutable { limit.reset(); };
  }
  conformance::SinkUnderTest under_test() const {
    const auto path = folder.path() / "a.duckdb";
    const auto column_gone = [this] {
      query("CREATE TABLE IF NOT EXISTS t (id BIGINT, name VARCHAR)");
      query("ALTER TABLE t RENAME name TO gone");
      return [this] { query("ALTER TABLE t RENAME gone TO name"); };
    };
    const auto folder_in_its_place = [path] {
      std::filesystem::create_directories(path / "in the way");
      return [path] { std::filesystem::remove_all(path); };
    };
    return {[path] {
              std::filesystem::remove_all(path);
              std::filesystem::remove(path.string() + ".wal");
            },
            [this] { return sink(); },
            {[this] { return query("SELECT * FROM t ORDER BY rowid"); }},
            {{column_gone, ErrorKind::config}},
            {{folder_in_its_place, ErrorKind::io}},
            {{no_room, false}},
            true};
  }
};

TEST_F(DuckdbTest, Conforms) { check_sink(under_test()); }

TEST_F(DuckdbTest, ConformsWhileClosedBetweenCommits) {
  config.hold = DuckdbHold::flush;
  check_sink(under_test());
}

std::optional<CommitResult> commit_without_room(Sink& sink, const Token& expected, const Token& next) {
  const FileSizeLimit none(0);
  auto result = sink.commit(expected, next);
  return result ? std::optional(std::move(*result)) : std::nullopt;
}

TEST_F(DuckdbTest, ACommitThatFailedIsMadeAgain) {
  auto s = sink();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->write(id_name_batch(0, 2)));
  conformance::expect_committed(*s, {}, token_of("1"));
  ASSERT_TRUE(s->write(id_name_batch(2, 2)));
  const auto failed = commit_without_room(*s, token_of("1"), token_of("2"));
  ASSERT_TRUE(failed);
  ASSERT_TRUE(std::holds_alternative<Unknown>(*failed));
  EXPECT_NE(std::get<Unknown>(*failed).error.message.find("a.duckdb"), std::string::npos);
  const auto stored = s->stored_token();
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(stored->entries, token_of("1").entries);
  conformance::expect_committed(*s, token_of("1"), token_of("2"));
  EXPECT_EQ(query("SELECT id FROM t ORDER BY id"),
            (std::vector<std::string>{"{\"id\":0}", "{\"id\":1}", "{\"id\":2}", "{\"id\":3}"}));
}

TEST_F(DuckdbTest, TheTokenSaysThatACommitHappened) {
  auto s = sink();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->write(id_name_batch(0, 2)));
  conformance::expect_committed(*s, {}, token_of("1"));
  ASSERT_TRUE(s->write(id_name_batch(2, 2)));
  const auto failed = commit_without_room(*s, token_of("1"), token_of("2"));
  ASSERT_TRUE(failed && std::holds_alternative<Unknown>(*failed));
  // As if the answer alone had been lost.
  auto other = sink();
  ASSERT_TRUE(other->open());
  ASSERT_TRUE(other->write(id_name_batch(2, 2)));
  conformance::expect_committed(*other, token_of("1"), token_of("2"));
  other->close();
  EXPECT_EQ(s->stored_token().value().entries, token_of("2").entries);
  conformance::expect_committed(*s, token_of("2"), token_of("3"));
  EXPECT_EQ(query("SELECT count(*) AS n FROM t"), std::vector<std::string>{"{\"n\":4}"});
}

TEST_F(DuckdbTest, KeepsThePartitionsOfOthers) {
  auto a = sink();
  auto b = sink();
  ASSERT_TRUE(a->open());
  ASSERT_TRUE(b->open());
  ASSERT_TRUE(a->commit({}, Token{{{"p/0", "1"}}}));
  ASSERT_TRUE(b->commit({}, Token{{{"p/1", "5"}}}));
  EXPECT_EQ(a->stored_token()->entries, (Positions{{"p/0", "1"}, {"p/1", "5"}}));
  context.pipeline = "other";
  EXPECT_TRUE(sink()->open()->empty());
}

TEST_F(DuckdbTest, ColumnsGoByName) {
  auto s = sink();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->write(rows_of("SELECT 1 AS a, 'x' AS b, [{'k': 1.5::DECIMAL(9,2)}] AS c, NULL AS d")));
  ASSERT_TRUE(s->write(rows_of("SELECT 'y' AS \"B\", 2 AS a")));
  ASSERT_TRUE(s->commit({}, token_of("1")));
  EXPECT_EQ(query("SELECT a, b, c FROM t ORDER BY a"),
            (std::vector<std::string>{R"({"a":1,"b":"x","c":[{"k":1.50}]})", R"({"a":2,"b":"y","c":null})"}));
}

TEST_F(DuckdbTest, ANewColumnIsRefusedAndNothingIsWritten) {
  auto s = sink();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->write(rows_of("SELECT 1 AS a")));
  ASSERT_TRUE(s->commit({}, token_of("1")));
  ASSERT_TRUE(s->write(rows_of("SELECT 2 AS a")));
  ASSERT_TRUE(s->write(rows_of("SELECT 3 AS a, 'n' AS fresh")));
  auto refused = s->commit(token_of("1"), token_of("2"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::config);
  EXPECT_NE(refused.error().message.find("'fresh'"), std::string::npos) << refused.error().message;
  EXPECT_EQ(query("SELECT a FROM t").size(), 1U);
  EXPECT_EQ(s->stored_token()->entries, token_of("1").entries);
}

TEST_F(DuckdbTest, ANewColumnIsAddedOnRequest) {
  config.columns = DuckdbColumns::extend;
  auto s = sink();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->write(rows_of("SELECT 1 AS a")));
  ASSERT_TRUE(s->commit({}, token_of("1")));
  ASSERT_TRUE(s->write(rows_of("SELECT 2 AS a")));
  ASSERT_TRUE(s->write(rows_of("SELECT 3 AS a, 'n' AS fresh")));
  auto done = s->commit(token_of("1"), token_of("2"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(query("SELECT * FROM t ORDER BY a"),
            (std::vector<std::string>{R"({"a":1,"fresh":null})", R"({"a":2,"fresh":null})", R"({"a":3,"fresh":"n"})"}));
}

TEST_F(DuckdbTest, AFailedCommitKeepsItsRows) {
  auto s = sink();
  ASSERT_TRUE(s->open());
  query("CREATE TABLE t (id TINYINT, name VARCHAR)");
  ASSERT_TRUE(s->write(id_name_batch(127, 2)));  // 128 doesn't fit
  auto refused = s->commit({}, token_of("1"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::sql) << refused.error().message;
  query("ALTER TABLE t ALTER id TYPE INTEGER");
  ASSERT_TRUE(s->commit({}, token_of("1")));
  EXPECT_EQ(query("SELECT id FROM t ORDER BY id").size(), 2U);
}

TEST_F(DuckdbTest, AMissingTableIsNotMadeWhereItShouldBeThere) {
  config.create = false;
  auto s = sink();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->write(id_name_batch(0, 1)));
  auto refused = s->commit({}, token_of("1"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::config);
}

TEST_F(DuckdbTest, DamagedPositionsAreAConflict) {
  auto s = sink();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->commit({}, token_of("1")));
  query("INSERT INTO aqueduck_commits SELECT * FROM aqueduck_commits");
  EXPECT_EQ(s->stored_token().error().kind, ErrorKind::conflict);
}

TEST_F(DuckdbTest, AFileThatThePipelinesSqlHoldsIsRefused) {
  context.database = engine.get();
  const auto own = engine->connect().value();
  const std::string path = (folder.path() / "a.duckdb").string();
  ASSERT_TRUE(own->execute("ATTACH '" + path + "' AS o"));
  auto refused = sink()->open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::config);
  EXPECT_NE(refused.error().message.find("as 'o'"), std::string::npos) << refused.error().message;
  ASSERT_TRUE(own->execute("DETACH o; ATTACH '" + path + "' AS o (READ_ONLY)"));
  EXPECT_EQ(sink()->open().error().kind, ErrorKind::config);
  ASSERT_TRUE(own->execute("DETACH o"));
  EXPECT_TRUE(sink()->open());
}

TEST_F(DuckdbTest, AFileThatAnotherProcessHoldsIsUnavailable) {
  int ready[2];
  int release[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(release), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(release[1]);
    auto holder = sink();
    const bool opened = holder->open().has_value();
    char byte = opened ? 'y' : 'n';
    (void)!::write(ready[1], &byte, 1);
    (void)!::read(release[0], &byte, 1);
    ::_exit(0);
  }
  ::close(release[0]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  auto s = sink();
  auto refused = s->open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_NE(refused.error().message.find("PID " + std::to_string(child)), std::string::npos) << refused.error().message;
  ::close(release[1]);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(s->open());
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace aqueduck
