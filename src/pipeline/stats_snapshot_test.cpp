#include "pipeline/stats_snapshot.h"

#include <gtest/gtest.h>

#include <array>

#include "base/clock.h"
#include "pipeline/retry.h"

namespace aqueduck::pipeline {
namespace {

TEST(StatsSnapshot, HasWhatTheWorkerSaid) {
  Stats stats;
  stats.messages = 7;
  stats.queued_bytes = 100;
  stats.set_committed({{"t/0", "3"}, {"t/9", "1"}});
  stats.set_read({{"t/0", "5"}, {"t/1", "2"}});
  stats.set_error("broken");
  stats.condition.advance(Phase::running);
  const StatsSnapshot got = snapshot(stats);
  EXPECT_EQ(got.messages, 7);
  EXPECT_EQ(got.queued_bytes, 100);
  EXPECT_EQ(got.last_error, "broken");
  EXPECT_GT(got.last_error_at, 1'600'000'000);
  ASSERT_EQ(got.partitions.size(), 2);  // t/9 isn't ours any more
  EXPECT_EQ(got.partitions.at("t/0").read, "5");
  EXPECT_EQ(got.partitions.at("t/0").committed, "3");
  EXPECT_EQ(got.partitions.at("t/1").committed, std::nullopt);
  ASSERT_EQ(got.workers.size(), 1);
  EXPECT_EQ(got.workers[0].phase, Phase::running);
}

TEST(StatsSnapshot, APartitionGivenUpIsForgotten) {
  Stats stats;
  stats.set_read({{"t/0", "5"}, {"t/1", "2"}});
  stats.forget("t/0");
  EXPECT_EQ(snapshot(stats).partitions.size(), 1);
}

TEST(StatsSnapshot, WorkersAddUp) {
  Stats one;
  Stats two;
  one.messages = 5;
  two.messages = 6;
  one.last_commit = 100;
  two.last_commit = 50;
  one.set_read({{"t/0", "5"}});
  two.set_read({{"t/1", "6"}});
  two.set_error("second");
  two.condition.advance(Phase::failed);
  const std::array all{snapshot(one), snapshot(two)};
  const StatsSnapshot got = merged(all);
  EXPECT_EQ(got.messages, 11);
  EXPECT_EQ(got.last_commit, 100);
  EXPECT_EQ(got.last_error, "second");
  EXPECT_EQ(got.partitions.size(), 2);
  ASSERT_EQ(got.workers.size(), 2);
  EXPECT_EQ(got.workers[1].phase, Phase::failed);
}

TEST(StatsSnapshot, NoWorkersAreNothing) {
  const StatsSnapshot got = merged({});
  EXPECT_EQ(got.messages, 0);
  EXPECT_TRUE(got.workers.empty());
}

TEST(StatsSnapshot, APartitionWithTwoWorkersIsTheOnesThatReadOn) {
  Stats one;
  Stats two;
  one.set_read({{"t/0", "9"}});
  two.set_read({{"t/0", "10"}});
  const std::array all{snapshot(one), snapshot(two)};
  EXPECT_EQ(merged(all).partitions.at("t/0").read, "10");
  const std::array reversed{snapshot(two), snapshot(one)};
  EXPECT_EQ(merged(reversed).partitions.at("t/0").read, "10");
}

TEST(StatsSnapshot, LagIsFromCommittedToEnd) {
  Stats stats;
  stats.set_read({{"a", "5"}, {"b", "5"}, {"c", "x"}, {"d", "5"}, {"e", "5"}});
  stats.set_committed({{"a", "3"}, {"b", "8"}, {"c", "x"}, {"d", "3"}});
  StatsSnapshot got = snapshot(stats);
  set_ends(got, {{"a", "10"}, {"b", "7"}, {"c", "12 bytes"}, {"e", "9"}, {"other", "1"}});
  EXPECT_EQ(got.partitions.at("a").lag, 7);
  EXPECT_EQ(got.partitions.at("b").lag, 0);  // the end is older than the commit
  EXPECT_EQ(got.partitions.at("c").lag, std::nullopt);
  EXPECT_EQ(got.partitions.at("c").end, "12 bytes");
  EXPECT_EQ(got.partitions.at("d").end, std::nullopt);
  EXPECT_EQ(got.partitions.at("d").lag, std::nullopt);
  EXPECT_EQ(got.partitions.at("e").lag, std::nullopt);
  EXPECT_EQ(got.partitions.count("other"), 0);
}

TEST(Condition, OnlyGoesOn) {
  Condition condition;
  condition.advance(Phase::draining);
  condition.advance(Phase::running);
  EXPECT_EQ(condition.get().phase, Phase::draining);
}

TEST(Condition, SaysWhatARetryWaitsForUntilItIsOver) {
  Stats stats;
  FakeClock clock;
  int attempts = 0;
  std::vector<std::string> seen;
  const auto result = with_retries<void>({}, clock, {}, stats, "sink x", [&]() -> Result<void> {
    seen.push_back(stats.condition.get().waiting_for);
    if (++attempts < 3) return fail(ErrorKind::unavailable, "no answer {}", attempts);
    return {};
  });
  EXPECT_TRUE(result);
  EXPECT_EQ(seen, (std::vector<std::string>{"", "sink x: no answer 1", "sink x: no answer 2"}));
  EXPECT_EQ(stats.condition.get().waiting_for, "");
}

}  // namespace
}  // namespace aqueduck::pipeline
