#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sql/database.h"

namespace aqueduck::sql {
namespace {

TEST(Session, TypesAreParsedByTheEngine) {
  auto database = Database::open({}).value();
  auto session = database->connect().value();
  std::size_t column = 99;
  auto schema = session->schema_of({{"city", "VARCHAR"},
                                    {"props", "STRUCT(a INTEGER, tags VARCHAR[])"},
                                    {"at", "TIMESTAMPTZ"},
                                    {"d", "DECIMAL(18,3)"},
                                    {"doc", "JSON"},
                                    {"h", "HUGEINT"}},
                                   &column);
  ASSERT_TRUE(schema) << schema.error().error.message;
  EXPECT_EQ(session->type_names(*schema).value(),
            (std::vector<std::string>{"VARCHAR", "STRUCT(a INTEGER, tags VARCHAR[])", "TIMESTAMP WITH TIME ZONE",
                                      "DECIMAL(18,3)", "JSON", "HUGEINT"}));
  auto bad = session->schema_of({{"a", "INTEGER"}, {"b", "STRUCT(x INTEGR)"}}, &column);
  ASSERT_FALSE(bad);
  EXPECT_EQ(column, 1U);
  EXPECT_NE(bad.error().error.message.find("INTEGR"), std::string::npos);
  EXPECT_FALSE(session->schema_of({{"a", "INTEGER); SELECT 1; SELECT (1"}}, &column));
}

TEST(Session, QueriesStreamAndStatementsChain) {
  auto database = Database::open({}).value();
  auto session = database->connect().value();
  auto rows = session->query("CREATE TABLE t AS SELECT range AS i FROM range(300000); SELECT * FROM t").value();
  std::int64_t total = 0;
  while (true) {
    auto batch = rows->next().value();
    if (batch.rows() == 0) break;
    EXPECT_LE(batch.rows(), 125'000);
    total += batch.rows();
  }
  EXPECT_EQ(total, 300'000);
  EXPECT_FALSE(session->query(""));
  EXPECT_FALSE(session->execute("SELECT * FROM missing"));
}

TEST(Session, OneInstanceForAPath) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "aqueduck_one_instance";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  DatabaseOptions options;
  options.path = folder / "x.duckdb";
  auto first = Database::open(options).value();
  auto second = Database::open(options).value();
  ASSERT_TRUE(first->connect().value()->execute("CREATE TABLE t (i INTEGER)"));
  EXPECT_TRUE(second->connect().value()->execute("INSERT INTO t VALUES (1)"));
}

TEST(Session, NothingIsInstalledFromANetwork) {
  auto database = Database::open({}).value();
  auto session = database->connect().value();
  auto rows =
      session->query("SELECT current_setting('autoinstall_known_extensions'), current_setting('TimeZone')").value();
  auto batch = rows->next().value();
  EXPECT_EQ(static_cast<const std::uint8_t*>(batch.array->raw()->children[0]->buffers[1])[0] & 1U, 0U);
}

TEST(Session, EngineVersion) { EXPECT_EQ(engine_version(), "1.5.5"); }

}  // namespace
}  // namespace aqueduck::sql
