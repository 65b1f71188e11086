#include <gtest/gtest.h>

#include "connectors/generator/generator_source.h"
#include "connectors/generator/seeded_random.h"
#include "sql/database.h"
#include "tests/support/conformance_source.h"

namespace aqueduck {
namespace {

struct GeneratorTest : ::testing::Test {
  std::unique_ptr<sql::Database> database;
  ComponentContext context;
  GeneratorConfig config;

  GeneratorTest() {
    auto opened = sql::Database::open({});
    EXPECT_TRUE(opened);
    database = std::move(*opened);
    context.database = database.get();
  }
  std::unique_ptr<Source> source() const { return std::make_unique<GeneratorSource>(config, context); }
};

TEST_F(GeneratorTest, Conforms) {
  config.columns = {{"a b", "i * 2 -- doubled"}, {"s", "'x' || i"}};
  config.rows = 10;
  std::vector<std::string> expected;
  expected.reserve(10);
  for (int i = 0; i < 10; ++i) expected.push_back(fmt::format(R"({{"a b":{},"s":"x{}"}})", i * 2, i));
  const conformance::Inapplicable no_peer{"it makes its rows itself"};
  const auto slow = [this] {
    GeneratorConfig waiting = config;
    waiting.rate = 1e-6;
    return std::make_unique<GeneratorSource>(waiting, context);
  };
  conformance::check_source({[this] { return source(); }, expected, true, no_peer, no_peer, {slow}});
}

TEST_F(GeneratorTest, RandomDependsOnTheRowAlone) {
  config.columns = {{"x", "random()"}, {"y", "RANDOM ( )"}};
  config.rows = 100;
  auto whole = source();
  ASSERT_TRUE(whole->open());
  const auto run = conformance::drain(*whole);
  auto rest = source();
  ASSERT_TRUE(rest->open());
  EXPECT_EQ(conformance::texts(conformance::drain(*rest, {{"rows", "40"}}, 7)), conformance::texts(run, 40));
  EXPECT_NE(run.items[0].text, run.items[1].text);
}

TEST_F(GeneratorTest, WorkersMakeTheSameRowsTogether) {
  config.columns = {{"n", "i"}};
  config.rows = 7;
  context.workers = 2;
  std::vector<std::string> all;
  for (context.worker = 0; context.worker < 2; ++context.worker) {
    auto s = source();
    ASSERT_TRUE(s->open());
    const auto texts = conformance::texts(conformance::drain(*s));
    all.insert(all.end(), texts.begin(), texts.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<std::string> expected;
  expected.reserve(7);
  for (int i = 0; i < 7; ++i) expected.push_back(fmt::format("{{\"n\":{}}}", i));
  EXPECT_EQ(all, expected);
}

TEST_F(GeneratorTest, KeepsTheRate) {
  config.columns = {{"n", "i"}};
  config.rate = 1000;
  auto s = source();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->read(conformance::limits(std::chrono::milliseconds(10))));
  ASSERT_TRUE(s->start_at({}));
  const auto began = std::chrono::steady_clock::now();
  std::size_t rows = 0;
  while (rows < 200) {
    auto event = s->read(conformance::limits(std::chrono::milliseconds(500)));
    ASSERT_TRUE(event);
    const auto* chunk = std::get_if<Chunk>(&*event);
    ASSERT_NE(chunk, nullptr);
    rows += static_cast<std::size_t>(std::get<RecordBatch>(chunk->data).rows());
  }
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(190));
}

TEST_F(GeneratorTest, BadExpressionIsNamed) {
  config.columns = {{"n", "nosuch(i)"}};
  auto s = source();
  ASSERT_TRUE(s->open());
  ASSERT_TRUE(s->read(conformance::limits(std::chrono::milliseconds(10))));
  ASSERT_TRUE(s->start_at({}));
  auto event = s->read(conformance::limits(std::chrono::milliseconds(10)));
  ASSERT_FALSE(event);
  EXPECT_NE(event.error().message.find("nosuch"), std::string::npos);
}

TEST(SeededRandom, LeavesTextsNamesAndCommentsAlone) {
  std::uint64_t salt = 0;
  for (const std::string text : {"'random()'", "\"random()\"", "-- random()\n1", "/* random() */ 1", "my_random()",
                                 "random", "randoms()", "random(1)", "'it''s random()'"}) {
    EXPECT_EQ(with_seeded_random(text, 1, salt), text);
  }
  EXPECT_EQ(salt, 0U);
  EXPECT_NE(with_seeded_random("1+random()", 1, salt).find("hash(i, 0, 1)"), std::string::npos);
}

}  // namespace
}  // namespace aqueduck
