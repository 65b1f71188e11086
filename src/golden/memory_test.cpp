#include <gtest/gtest.h>

#include "base/clock.h"
#include "columnar/json_text.h"
#include "golden/memory_sink.h"
#include "golden/memory_source.h"
#include "tests/support/conformance_sink.h"
#include "tests/support/conformance_source.h"

namespace aqueduck::golden {
namespace {

using conformance::check_source;
using testing::split_lines;

conformance::SinkUnderTest sink_over(MemoryStore& store) {
  const auto rows = [&store] {
    std::string text;
    for (const RecordBatch& batch : store.rows) EXPECT_TRUE(append_json_lines(batch, text));
    return split_lines(text);
  };
  const conformance::Inapplicable memory{"memory is always there, and answers"};
  return {[&store] { store = {}; },
          [&store] { return std::make_unique<MemorySink>(store); },
          {rows},
          memory,
          memory,
          memory,
          true};
}

conformance::SourceUnderTest over(const Input& input, FakeClock& clock, std::vector<std::string> expected) {
  const conformance::Inapplicable memory{"memory is always there"};
  return {[&] { return std::make_unique<MemorySource>(input, std::vector<ClockStep>(), clock); },
          std::move(expected),
          true,
          memory,
          memory,
          conformance::Inapplicable{"it never waits: the clock stands still"}};
}

TEST(MemorySink, KeepsTheContractOfSinks) {
  MemoryStore store;
  conformance::check_sink(sink_over(store));
}

TEST(StoppingSink, IsAsTheSinkBehindIt) {
  MemoryStore store;
  StopPlan plan;
  auto under_test = sink_over(store);
  under_test.make = [&] { return std::make_unique<StoppingSink>(std::make_unique<MemorySink>(store), plan); };
  conformance::check_sink(under_test);
  EXPECT_GE(plan.commits, 4U);
  EXPECT_FALSE(plan.stopped);
}

TEST(StoppingSink, NothingIsDurableBeforeTheFirstCommit) {
  MemoryStore store;
  StopPlan plan;
  plan.when = StopPlan::When::before_first_commit;
  StoppingSink sink(std::make_unique<MemorySink>(store), plan);
  ASSERT_TRUE(sink.open());
  EXPECT_FALSE(sink.write(testing::id_name_batch(0, 1)));
  EXPECT_FALSE(sink.commit({}, conformance::token_of("1")));
  EXPECT_TRUE(plan.stopped);
  EXPECT_TRUE(store.rows.empty());
  EXPECT_TRUE(store.token.empty());
}

class MemorySourceTest : public ::testing::Test {
 protected:
  Input read(const std::string& name, std::string_view text) {
    testing::write_text(folder.path() / name, text);
    auto input = read_input(folder.path() / name);
    EXPECT_TRUE(input) << input.error().message;
    return input ? std::move(*input) : Input();
  }

  testing::TemporaryFolder folder;
  FakeClock clock;
};

TEST_F(MemorySourceTest, KeepsTheContractOfSources) {
  const Input lines = read("input.jsonl", "{\"a\":1}\r\n\n{\"a\":2}\n{\"a\":3}");
  check_source(over(lines, clock, {"{\"a\":1}", "{\"a\":2}", "{\"a\":3}"}));
  Input rows;
  rows.gives_rows = true;
  rows.rows = {testing::id_name_batch(0, 4), testing::id_name_batch(4, 1), testing::id_name_batch(5, 3)};
  std::string text;
  for (const RecordBatch& batch : rows.rows) EXPECT_TRUE(append_json_lines(batch, text));
  check_source(over(rows, clock, split_lines(text)));
}

TEST_F(MemorySourceTest, AnInputMayBeEmpty) {
  const Input input = read("input.jsonl", "");
  check_source(over(input, clock, {}));
}

TEST_F(MemorySourceTest, AJsonFileIsOneMessageAndACsvRecordOne) {
  const Input json = read("input.json", "[1,\n 2]\n");
  ASSERT_EQ(json.messages.size(), 1U);
  EXPECT_EQ(json.messages[0].payload, "[1,\n 2]");
  const Input csv = read("input.csv", "a\n\"x\ny\"\n");
  ASSERT_EQ(csv.messages.size(), 2U);
  EXPECT_EQ(csv.messages[1].payload, "\"x\ny\"");
  EXPECT_EQ(csv.messages[1].offset, 1);
}

TEST_F(MemorySourceTest, TheClockMovesAtItsSteps) {
  const Input input = read("input.txt", "a\nb\nc\n");
  const std::vector<ClockStep> steps = {{{1}, std::chrono::seconds(5)}, {{3}, std::chrono::seconds(1)}};
  MemorySource source(input, steps, clock);
  const auto start = clock.now();
  ASSERT_TRUE(source.open());
  std::vector<Clock::Point> at;
  while (true) {
    auto event = source.read(conformance::limits(std::chrono::seconds(1)));
    ASSERT_TRUE(event);
    if (std::holds_alternative<Assigned>(*event)) {
      ASSERT_TRUE(source.start_at({}));
    }
    if (std::holds_alternative<Chunk>(*event)) at.push_back(clock.now());
    if (std::holds_alternative<End>(*event)) break;
  }
  const std::vector<Clock::Point> wanted = {start, start + std::chrono::seconds(5), start + std::chrono::seconds(5)};
  EXPECT_EQ(at, wanted);
  EXPECT_EQ(clock.now(), start + std::chrono::seconds(6));
}

TEST_F(MemorySourceTest, APositionBeyondTheInputIsAConflict) {
  const Input input = read("input.txt", "a\n");
  MemorySource source(input, {}, clock);
  ASSERT_TRUE(source.open());
  for (const std::string position : {"2", "x", "", "-1"}) {
    const auto started = source.start_at({{"input", position}});
    ASSERT_FALSE(started) << position;
    EXPECT_EQ(started.error().kind, ErrorKind::conflict);
  }
}

}  // namespace
}  // namespace aqueduck::golden
