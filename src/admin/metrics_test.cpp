#include "admin/metrics.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "admin/rates.h"

namespace aqueduck::admin {
namespace {

using namespace std::chrono_literals;

std::string render(const pipeline::StatsSnapshot& stats) {
  About about;
  about.pipeline = "p";
  about.version = "1.0";
  about.source = "kafka";
  about.sink = "duckdb";
  about.started = 1'700'000'000;
  return metrics_text({about, stats, health_of(stats), Process{100, 1.5, 7, 1024}});
}

TEST(Metrics, EveryLineIsOfTheFormat) {
  pipeline::StatsSnapshot stats;
  stats.last_commit = 5;
  stats.last_error_at = 6;
  stats.workers.emplace_back();
  stats.partitions["t/0"] = {"5", "3", "9", 6};
  const std::regex comment(R"(# (HELP [a-z_]+ .+\.|TYPE [a-z_]+ (counter|gauge)))");
  const std::regex sample(R"([a-z_]+\{pipeline="p"(,[a-z]+="[^"]*")*\} [0-9]+(\.[0-9]+)?)");
  std::set<std::string> names;
  std::istringstream lines(render(stats));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) {
      EXPECT_TRUE(std::regex_match(line, comment)) << line;
      if (line.starts_with("# TYPE")) {
        const std::string name = line.substr(7, line.find(' ', 7) - 7);
        EXPECT_TRUE(names.insert(name).second) << name << " stands twice";
        EXPECT_EQ(line.ends_with("counter"), name.ends_with("_total")) << name;
      }
    } else {
      EXPECT_TRUE(std::regex_match(line, sample)) << line;
      EXPECT_TRUE(names.contains(line.substr(0, line.find('{')))) << line;
    }
  }
  // The reference names just these.
  const std::string page = metrics_markdown();
  for (const std::string& name : names) EXPECT_NE(page.find("| `" + name + "` |"), std::string::npos) << name;
  EXPECT_EQ(static_cast<std::size_t>(std::count(page.begin(), page.end(), '\n')), names.size() + 6);
}

TEST(Metrics, PartitionsAndWhatIsNotKnown) {
  pipeline::StatsSnapshot stats;
  stats.partitions["a \"b\"\\\n"] = {"5", "3", "9", 6};
  stats.partitions["file"] = {"5@77", "3@77", std::nullopt, std::nullopt};
  const std::string text = render(stats);
  EXPECT_NE(text.find("aqueduck_lag{pipeline=\"p\",partition=\"a \\\"b\\\"\\\\\\n\"} 6\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("partition=\"file\""), std::string::npos);
  EXPECT_EQ(text.find("aqueduck_last_commit_timestamp_seconds"), std::string::npos);
}

TEST(Health, OfSeveralWorkers) {
  pipeline::StatsSnapshot stats;
  stats.workers = {{pipeline::Phase::running, true, ""}, {pipeline::Phase::stopped, true, ""}};
  EXPECT_TRUE(health_of(stats).ready);
  stats.workers[0].waiting_for = "sink x: away";
  EXPECT_EQ(health_of(stats).reasons, std::vector<std::string>{"worker 0: trying again: sink x: away"});
  stats.last_error = "broken";
  stats.workers[1].phase = pipeline::Phase::failed;
  EXPECT_FALSE(health_of(stats).alive);
  stats.workers.clear();
  EXPECT_TRUE(health_of(stats).alive);
  EXPECT_FALSE(health_of(stats).ready);
}

TEST(Rates, OverTheirWindows) {
  Rates rates;
  pipeline::StatsSnapshot counters;
  const Clock::Point start(1h);
  EXPECT_EQ(rates.over(1s, start, counters).messages, 0);
  for (int second = 0; second <= 100; ++second) {
    rates.add(start + std::chrono::seconds(second), counters);
    counters.messages += second < 95 ? 10 : 100;
  }
  const auto now = start + 101s;
  EXPECT_DOUBLE_EQ(rates.over(1s, now, counters).messages, 100);
  EXPECT_DOUBLE_EQ(rates.over(10s, now, counters).messages, (4 * 10 + 6 * 100) / 10.0);
  EXPECT_DOUBLE_EQ(rates.over(60s, now, counters).messages, (54 * 10 + 6 * 100) / 60.0);
}

TEST(Rates, BeforeAWindowIsFullTheOldestSampleCounts) {
  Rates rates;
  pipeline::StatsSnapshot counters;
  const Clock::Point start(1h);
  rates.add(start, counters);
  EXPECT_EQ(rates.over(60s, start, counters).rows_written, 0);
  counters.rows_written = 30;
  EXPECT_DOUBLE_EQ(rates.over(60s, start + 3s, counters).rows_written, 10);
}

}  // namespace
}  // namespace aqueduck::admin
