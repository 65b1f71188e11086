#include "app/progress.h"

#include <gtest/gtest.h>

namespace aqueduck::app {
namespace {

pipeline::StatsSnapshot with_lag(std::uint64_t messages, std::uint64_t first, std::uint64_t second) {
  pipeline::StatsSnapshot out;
  out.messages = messages;
  out.partitions["t/0"].lag = first;
  out.partitions["t/1"].lag = second;
  return out;
}

TEST(ProgressLine, OfAFiniteSourceSaysHowFarAndHowLongStill) {
  ProgressLine line("events");
  pipeline::StatsSnapshot now;
  now.messages = 1000;
  now.progress = 25;
  now.total = 100;
  EXPECT_EQ(line.next(now, 2), "events: 1_000 messages, 500/s, 25 %, 6s left");
  now.messages = 2000;
  now.progress = 100;
  EXPECT_EQ(line.next(now, 3), "events: 2_000 messages, 1_000/s, 100 %");
}

TEST(ProgressLine, OfAnEndlessSourceSaysHowFarBehindItIs) {
  ProgressLine line("events");
  EXPECT_EQ(line.next(with_lag(1000, 6000, 3000), 1), "events: 1_000 messages, 1_000/s, 9_000 behind");
  EXPECT_EQ(line.next(with_lag(2000, 5000, 3000), 2), "events: 2_000 messages, 1_000/s, 8_000 behind, 8s left");
  EXPECT_EQ(line.next(with_lag(3000, 0, 0), 3), "events: 3_000 messages, 1_000/s, 0 behind");
}

TEST(ProgressLine, ALagThatGrowsPromisesNoEnd) {
  ProgressLine line("events");
  line.next(with_lag(1000, 1000, 0), 1);
  EXPECT_EQ(line.next(with_lag(2000, 2000, 0), 2), "events: 2_000 messages, 1_000/s, 2_000 behind");
}

TEST(ProgressLine, ALagThatIsNotKnownOfEachPartitionIsNotShown) {
  ProgressLine line("events");
  auto now = with_lag(1000, 1000, 0);
  now.partitions["t/1"].lag.reset();
  EXPECT_EQ(line.next(now, 1), "events: 1_000 messages, 1_000/s");
}

}  // namespace
}  // namespace aqueduck::app
