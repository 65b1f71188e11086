#include "pipeline/worker.h"

#include <gtest/gtest.h>

#include "tests/support/fake_components.h"

namespace aqueduck::pipeline {
namespace {

using namespace std::chrono_literals;
using test::FakeSource;
using test::int_chunk;
using test::MemorySink;
using test::MemoryTable;
using Rows = std::vector<std::int64_t>;

class WorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    definition.name = "p";
    definition.source_name = "fake";
    definition.sink_name = "memory";
    definition.batch.rows.value = 1;  // a chunk a batch, unless a test says otherwise
    database = sql::Database::open({}).value();
    fresh();
  }

  void fresh() {
    source = std::make_unique<FakeSource>();
    source->clock = &clock;
    sink = std::make_unique<MemorySink>(table);
    source_view = source.get();
    sink_view = sink.get();
    drain = std::stop_source();
    abort = std::stop_source();
    stats = std::make_unique<Stats>();
  }

  void assign(const std::string& partition = "p", const std::string& start = "0") {
    source_view->steps.emplace_back([=] { return SourceEvent(Assigned{{{partition, start}}, {{partition, start}}}); });
  }
  void give(const Rows& rows, const std::string& next, const std::string& partition = "p") {
    source_view->steps.emplace_back([=] { return SourceEvent(int_chunk(rows, partition, next)); });
  }
  void event(SourceEvent event) {
    auto shared = std::make_shared<SourceEvent>(std::move(event));
    source_view->steps.emplace_back([shared] { return std::move(*shared); });
  }
  void end() { event(End{}); }

  tl::expected<void, Failure> run() {
    Worker::Parts parts;
    parts.definition = &definition;
    parts.source = std::move(source);
    parts.sink = std::move(sink);
    parts.transform = std::make_unique<Transform>(definition, nullptr, database->connect().value(), columns);
    EXPECT_TRUE(parts.transform->prepare());
    parts.state = &state;
    parts.stats = stats.get();
    parts.clock = &clock;
    quota.emplace(limits, 1, clock.now());
    parts.quota = &*quota;
    worker = std::make_unique<Worker>(std::move(parts));
    return worker->run(drain.get_token(), abort.get_token());
  }

  Definition definition;
  MemoryTable table;
  FakeClock clock;
  StateFile state;
  SharedColumns columns;
  RunLimits limits;
  std::optional<ReadQuota> quota;
  std::unique_ptr<Stats> stats;
  std::stop_source drain;
  std::stop_source abort;
  std::unique_ptr<sql::Database> database;
  std::unique_ptr<FakeSource> source;
  std::unique_ptr<MemorySink> sink;
  FakeSource* source_view = nullptr;
  MemorySink* sink_view = nullptr;
  std::unique_ptr<Worker> worker;  // keeps the components for the test to look at
};

TEST_F(WorkerTest, DeliversAndAcknowledgesWhatTheSinkCommitted) {
  assign();
  give({1, 2}, "2");
  give({3}, "3");
  end();
  ASSERT_TRUE(run());
  EXPECT_EQ(table.rows, (Rows{1, 2, 3}));
  EXPECT_EQ(table.token.entries, (Positions{{"p", "3"}}));
  EXPECT_EQ(source_view->acknowledged, (std::vector<Positions>{{{"p", "2"}}, {{"p", "3"}}}));
}

TEST_F(WorkerTest, ResumesAtTheSinksToken) {
  table.token.entries = {{"p", "7"}, {"other", "1"}};
  assign("p", "0");
  give({8}, "8");
  end();
  ASSERT_TRUE(run());
  EXPECT_EQ(source_view->starts, (std::vector<Positions>{{{"p", "7"}}}));
  EXPECT_EQ(table.token.entries, (Positions{{"other", "1"}, {"p", "8"}}));
}

TEST_F(WorkerTest, ATokenSinkWithoutOneMeansTheResolvedStartNotThePeersOffset) {
  source_view->steps.emplace_back([] { return SourceEvent(Assigned{{{"p", "50"}}, {{"p", "3"}}}); });
  end();
  ASSERT_TRUE(run());
  EXPECT_EQ(source_view->starts, (std::vector<Positions>{{{"p", "3"}}}));
}

TEST_F(WorkerTest, WithoutTokensThePeersOffsetCounts) {
  sink_view->traits_value.holds_token = false;
  source_view->traits_value.stores_positions = true;
  ASSERT_TRUE(state.save_acknowledged({{"p", "9"}}));  // left by another configuration: the group knows better
  source_view->steps.emplace_back([] { return SourceEvent(Assigned{{{"p", "50"}}, {{"p", "3"}}}); });
  end();
  ASSERT_TRUE(run());
  EXPECT_EQ(source_view->starts, (std::vector<Positions>{{{"p", "50"}}}));
}

TEST_F(WorkerTest, WithoutTokensAndWithoutAGroupTheStateResumes) {
  sink_view->traits_value.holds_token = false;
  ASSERT_TRUE(state.save_acknowledged({{"p", "9"}}));
  assign();
  end();
  ASSERT_TRUE(run());
  EXPECT_EQ(source_view->starts, (std::vector<Positions>{{{"p", "9"}}}));
}

TEST_F(WorkerTest, ABatchWithoutRowsStillAdvances) {
  definition.batch.rows.value = 100;
  definition.batch.interval = 1s;
  assign();
  give({}, "40");
  end();
  ASSERT_TRUE(run());
  EXPECT_EQ(table.token.entries, (Positions{{"p", "40"}}));
  EXPECT_EQ(source_view->acknowledged.size(), 1U);
}

TEST_F(WorkerTest, TheIntervalFiresWithoutTraffic) {
  definition.batch.rows.value = 1000;
  definition.batch.interval = 2s;
  limits.until_idle = 10s;
  assign();
  give({1}, "1");
  sink_view->before_commit = [&] { EXPECT_LT(clock.now(), FakeClock().now() + 3s); };
  ASSERT_TRUE(run());
  EXPECT_EQ(table.rows, Rows{1});
}

TEST_F(WorkerTest, CommitsFallByTheSinksPolicy) {
  sink_view->traits_value.commit.rows = 4;
  assign();
  give({1, 2}, "2");
  give({3, 4, 5}, "5");
  give({6}, "6");
  end();  // the trailing rows are delivered at the end
  ASSERT_TRUE(run());
  EXPECT_EQ(table.commits, (std::vector<std::size_t>{5, 1}));
}

TEST_F(WorkerTest, CommitBytesAreWhatTheSinkMeasures) {
  sink_view->traits_value.commit.bytes = 300;
  sink_view->row_bytes = 100;  // in memory a row takes 8
  assign();
  for (int i = 1; i <= 7; ++i) give({i}, std::to_string(i));
  end();
  ASSERT_TRUE(run());
  EXPECT_EQ(table.commits, (std::vector<std::size_t>{3, 3, 1}));
}

TEST_F(WorkerTest, ACommitIntervalCountsFromTheFirstUncommittedRow) {
  definition.commit = CommitConfig{};
  definition.commit->interval = 5s;
  limits.until_idle = 20s;
  assign();
  give({1}, "1");
  give({2}, "2");
  ASSERT_TRUE(run());
  EXPECT_EQ(table.commits, (std::vector<std::size_t>{2}));
}

TEST_F(WorkerTest, AFailedWriteIsTriedAgainAndNothingIsLostOrDoubled) {
  assign();
  give({1}, "1");
  end();
  sink_view->write_errors = {make_error(ErrorKind::unavailable, "down"), make_error(ErrorKind::limit, "disk full")};
  sink_view->commit_errors = {make_error(ErrorKind::unavailable, "down")};
  ASSERT_TRUE(run());
  EXPECT_EQ(table.rows, Rows{1});
  EXPECT_EQ(stats->retries, 3U);
}

TEST_F(WorkerTest, WhatCannotHealEndsAndAcknowledgesNothing) {
  assign();
  give({1}, "1");
  end();
  sink_view->commit_errors = {make_error(ErrorKind::denied, "403")};
  auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ExitCode::sink_failed);
  EXPECT_TRUE(source_view->acknowledged.empty());
  EXPECT_TRUE(table.rows.empty());
}

TEST_F(WorkerTest, UnknownOutcomesAreResolvedByTheToken) {
  assign();
  give({1}, "1");
  give({2}, "2");
  end();
  sink_view->answers = {MemorySink::Answer::unknown_done, MemorySink::Answer::unknown_not_done};
  ASSERT_TRUE(run());
  EXPECT_EQ(table.rows, (Rows{1, 2}));
  EXPECT_EQ(source_view->acknowledged.size(), 2U);
}

TEST_F(WorkerTest, UnknownOutcomesAreNotAskedForForever) {
  assign();
  give({1}, "1");
  end();
  definition.retry.give_up_after = 5s;
  sink_view->answers.assign(1000, MemorySink::Answer::unknown_not_done);
  const auto began = clock.now();
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ExitCode::sink_failed);
  EXPECT_GE(clock.now() - began, 5s);
  EXPECT_TRUE(source_view->acknowledged.empty());
}

TEST_F(WorkerTest, WithoutPositionsAnUnknownCommitIsMadeAgain) {
  event(Chunk{test::int_batch({1}), {}});
  end();
  sink_view->answers = {MemorySink::Answer::unknown_not_done};
  ASSERT_TRUE(run());
  EXPECT_EQ(table.rows, (Rows{1}));
}

TEST_F(WorkerTest, AMovedTokenDropsWhatIsUncommittedAndGoesBack) {
  assign();
  give({1}, "1");
  give({2}, "2");  // meanwhile another instance commits it
  source_view->on_start = [&](const Positions& positions) {
    if (positions.at("p") == "5") {
      give({6}, "6");
      end();
    }
  };
  int commits = 0;
  sink_view->before_commit = [&] {
    if (++commits == 2) {
      table.token.entries["p"] = "5";
      table.rows.insert(table.rows.end(), {2, 3, 4, 5});
    }
  };
  ASSERT_TRUE(run());
  EXPECT_EQ(table.rows, (Rows{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(stats->commits_moved, 1U);
}

TEST_F(WorkerTest, ACommitComparesWithWhatWasReadAtTheAssignmentNotWithWhatStandsThereNow) {
  assign();
  give({1}, "1");
  source_view->steps.emplace_back([&] {  // paused meanwhile: another instance went on to 5
    table.token.entries["p"] = "5";
    table.rows.insert(table.rows.end(), {2, 3, 4, 5});
    return SourceEvent(int_chunk({2}, "p", "2"));
  });
  source_view->on_start = [&](const Positions& positions) {
    if (positions.at("p") == "5") end();
  };
  ASSERT_TRUE(run());
  EXPECT_EQ(table.rows, (Rows{1, 2, 3, 4, 5}));
  EXPECT_EQ(table.token.entries, (Positions{{"p", "5"}}));
}

TEST_F(WorkerTest, OthersPartitionsMayMoveWithoutHarm) {
  assign();
  give({1}, "1");
  give({2}, "2");
  end();
  sink_view->before_commit = [&] { table.token.entries["elsewhere"] += "x"; };
  ASSERT_TRUE(run());
  EXPECT_EQ(table.rows, (Rows{1, 2}));
  EXPECT_EQ(table.token.entries.at("elsewhere"), "xx");
}

TEST_F(WorkerTest, RevokedPartitionsAreCommittedBeforeTheyGo) {
  definition.batch.rows.value = 100;
  assign();
  give({1}, "1");
  event(Revoked{{"p"}});
  source_view->steps.emplace_back([&] {
    EXPECT_EQ(table.rows, Rows{1});
    return SourceEvent(End{});
  });
  ASSERT_TRUE(run());
}

TEST_F(WorkerTest, ASinkThatIsDownDoesNotKeepTheGroupWaiting) {
  definition.batch.rows.value = 100;
  source_view->traits_value.give_back = 3s;
  source_view->steps.emplace_back(
      [] { return SourceEvent(Assigned{{{"a", "0"}, {"b", "0"}}, {{"a", "0"}, {"b", "0"}}}); });
  give({1}, "1", "a");
  give({2}, "1", "b");
  for (int i = 0; i < 1000; ++i) sink_view->write_errors.push_back(make_error(ErrorKind::unavailable, "down"));
  Clock::Point revoked_at;
  source_view->steps.emplace_back([&] {
    revoked_at = clock.now();
    return SourceEvent(Revoked{{"a"}});
  });
  source_view->on_start = [&](const Positions& positions) {
    if (positions.size() > 1) return;
    EXPECT_EQ(positions, (Positions{{"b", "0"}}));
    EXPECT_EQ(clock.now() - revoked_at, 3s);
    sink_view->write_errors.clear();
    give({2}, "1", "b");
    end();
  };
  auto result = run();
  ASSERT_TRUE(result) << result.error().error.message;
  EXPECT_EQ(source_view->starts.size(), 2U);
  EXPECT_EQ(table.rows, Rows{2});
  EXPECT_EQ(table.token.entries, (Positions{{"b", "1"}}));
}

TEST_F(WorkerTest, NothingIsWrittenBeforeADownSinkHasDroppedWhatWasGivenBack) {
  definition.batch.rows.value = 2;
  sink_view->traits_value.commit.rows = 100;
  source_view->steps.emplace_back(
      [] { return SourceEvent(Assigned{{{"a", "0"}, {"b", "0"}}, {{"a", "0"}, {"b", "0"}}}); });
  give({1, 2}, "2", "a");  // written, not committed
  give({3}, "1", "b");
  for (int i = 0; i < 1000; ++i) {
    sink_view->commit_errors.push_back(make_error(ErrorKind::unavailable, "down"));
    sink_view->abort_errors.push_back(make_error(ErrorKind::unavailable, "down"));
  }
  event(Revoked{{"a"}});
  source_view->on_start = [&](const Positions& positions) {
    if (positions.size() > 1) return;
    sink_view->commit_errors.clear();
    while (sink_view->abort_errors.size() > 2) sink_view->abort_errors.pop_front();
    give({3, 4}, "2", "b");
    end();
  };
  auto result = run();
  ASSERT_TRUE(result) << result.error().error.message;
  EXPECT_EQ(table.rows, (Rows{3, 4}));
  EXPECT_TRUE(sink_view->abort_errors.empty());
}

TEST_F(WorkerTest, ASinkThatFailsForGoodWhileGivingBackEndsTheRun) {
  definition.batch.rows.value = 100;
  assign();
  give({1}, "1");
  sink_view->write_errors.push_back(make_error(ErrorKind::denied, "no"));
  event(Revoked{{"p"}});
  auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ExitCode::sink_failed);
}

TEST_F(WorkerTest, WhatIsKeptGoesBackToItsLastCommitWhenOthersAreLost) {
  sink_view->traits_value.holds_token = false;
  source_view->traits_value.stores_positions = true;
  source_view->steps.emplace_back(
      [] { return SourceEvent(Assigned{{{"a", "5"}, {"b", "7"}}, {{"a", "0"}, {"b", "0"}}}); });
  give({1}, "8", "b");  // committed
  event(Lost{{"a"}});
  source_view->on_start = [&](const Positions& positions) {
    if (positions.size() > 1) return;
    EXPECT_EQ(positions, (Positions{{"b", "8"}}));
    end();
  };
  ASSERT_TRUE(run());
  EXPECT_EQ(source_view->starts.size(), 2U);
}

TEST_F(WorkerTest, LostPartitionsCommitNothingAndTheOthersGoBack) {
  definition.batch.rows.value = 100;
  source_view->steps.emplace_back(
      [] { return SourceEvent(Assigned{{{"a", "0"}, {"b", "0"}}, {{"a", "0"}, {"b", "0"}}}); });
  give({1}, "1", "a");
  give({2}, "1", "b");
  event(Lost{{"a"}});
  source_view->on_start = [&](const Positions& positions) {
    if (positions.size() == 1) {
      EXPECT_EQ(positions, (Positions{{"b", "0"}}));
      give({2}, "1", "b");
      end();
    }
  };
  ASSERT_TRUE(run());
  EXPECT_EQ(table.rows, Rows{2});
  EXPECT_EQ(table.token.entries, (Positions{{"b", "1"}}));
}

TEST_F(WorkerTest, ADrainDeliversWhatWasRead) {
  definition.batch.rows.value = 100;
  assign();
  give({1}, "1");
  source_view->steps.emplace_back([&] {
    drain.request_stop();
    return SourceEvent(Idle{});
  });
  give({2}, "2");  // never read
  ASSERT_TRUE(run());
  EXPECT_EQ(table.rows, Rows{1});
}

TEST_F(WorkerTest, AnAbortedDrainSaysThatItIsIncomplete) {
  definition.batch.rows.value = 100;
  assign();
  give({1}, "1");
  source_view->steps.emplace_back([&] {
    drain.request_stop();
    abort.request_stop();  // the deadline passed
    return SourceEvent(Idle{});
  });
  auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ExitCode::drain_incomplete);
  EXPECT_TRUE(table.rows.empty());
  EXPECT_TRUE(source_view->acknowledged.empty());
}

TEST_F(WorkerTest, ASinkThatIsDownAtTheEndOfTheDrainIsIncompleteNotFailed) {
  assign();
  give({1}, "1");
  for (int i = 0; i < 100; ++i) sink_view->write_errors.push_back(make_error(ErrorKind::unavailable, "down"));
  sink_view->before_write = [&] { abort.request_stop(); };
  auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ExitCode::drain_incomplete);
  EXPECT_TRUE(source_view->acknowledged.empty());
}

TEST_F(WorkerTest, LostWithoutTokensGoesBackToWhereReadingBegan) {
  definition.batch.rows.value = 100;
  sink_view->traits_value.holds_token = false;
  source_view->traits_value.stores_positions = true;
  source_view->steps.emplace_back(
      [] { return SourceEvent(Assigned{{{"a", "5"}, {"b", "7"}}, {{"a", "0"}, {"b", "0"}}}); });
  give({1}, "8", "b");
  event(Lost{{"a"}});
  source_view->on_start = [&](const Positions& positions) {
    if (positions.size() == 1) {
      EXPECT_EQ(positions, (Positions{{"b", "7"}}));
      end();
    }
  };
  ASSERT_TRUE(run());
  EXPECT_EQ(source_view->starts.size(), 2U);
}

TEST_F(WorkerTest, ALimitThatTheDataBreakIsNotTriedAgain) {
  assign();
  source_view->steps.emplace_back([]() -> Result<SourceEvent> { return fail(ErrorKind::limit, "line too long"); });
  auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ExitCode::limit);
  EXPECT_EQ(stats->retries, 0U);
}

TEST_F(WorkerTest, ReadsNoMoreThanAskedFor) {
  definition.batch.rows.value = 10;
  limits.max_messages = 3;
  assign();
  give({1, 2}, "2");
  give({3}, "3");
  give({4}, "4");
  ASSERT_TRUE(run());
  EXPECT_EQ(source_view->asked_for, (std::vector<std::size_t>{3, 3, 1}));
  EXPECT_EQ(table.rows, (Rows{1, 2, 3}));
}

TEST_F(WorkerTest, ASourceThatComesBackIsOpenedAgainInTime) {
  source_view->open_errors = {make_error(ErrorKind::unavailable, "refused"),
                              make_error(ErrorKind::unavailable, "refused")};
  assign();
  give({1}, "1");
  end();
  ASSERT_TRUE(run());
  EXPECT_EQ(source_view->opened, 3);
  EXPECT_EQ(table.rows, Rows{1});
}

TEST_F(WorkerTest, GivesUpWhenTold) {
  definition.retry.give_up_after = 10s;
  for (int i = 0; i < 1000; ++i) source_view->open_errors.push_back(make_error(ErrorKind::unavailable, "refused"));
  auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ExitCode::source_unreachable);
}

TEST_F(WorkerTest, SqlErrorsFollowThePolicy) {
  definition.sql = Statement{"SELECT CASE WHEN v = 2 THEN error('two') ELSE v END::BIGINT AS v FROM batch", {}};
  for (const OnError policy : {OnError::fail, OnError::skip}) {
    table = {};
    fresh();
    definition.errors.sql = policy;
    assign();
    give({1}, "1");
    give({2}, "2");
    give({3}, "3");
    end();
    auto result = run();
    EXPECT_EQ(result.has_value(), policy == OnError::skip);
    EXPECT_EQ(table.rows, policy == OnError::skip ? (Rows{1, 3}) : Rows{1});
    EXPECT_EQ(table.token.entries, (Positions{{"p", policy == OnError::skip ? "3" : "1"}}));
    EXPECT_EQ(stats->sql_failures, 1U);
  }
}

TEST_F(WorkerTest, TellsWatchersHowItIsDoing) {
  definition.batch.rows.value = 2;
  sink_view->write_errors = {make_error(ErrorKind::unavailable, "the table is away")};
  definition.retry.give_up_after.reset();
  EXPECT_EQ(stats->condition.get().phase, Phase::starting);
  source_view->steps.emplace_back([this] {
    EXPECT_EQ(stats->condition.get().phase, Phase::running);
    EXPECT_FALSE(stats->condition.get().assigned);
    EXPECT_FALSE(worker->end_positions());
    return SourceEvent(Assigned{{{"p", "0"}}, {{"p", "0"}}});
  });
  give({1}, "1");
  source_view->steps.emplace_back([this] {
    EXPECT_TRUE(stats->condition.get().assigned);
    EXPECT_TRUE(worker->end_positions());
    EXPECT_EQ(stats->queued_messages, 1U);
    EXPECT_EQ(stats->detail().read, (Positions{{"p", "1"}}));
    EXPECT_EQ(stats->detail().committed, (Positions{{"p", "0"}}));
    return SourceEvent(int_chunk({2}, "p", "2"));
  });
  std::vector<std::string> waited;
  sink_view->before_write = [&] { waited.push_back(stats->condition.get().waiting_for); };
  sink_view->before_commit = [&] {
    EXPECT_EQ(stats->queued_messages, 0U);
    EXPECT_EQ(stats->uncommitted_rows, 2U);
    EXPECT_EQ(stats->last_commit, 0);
  };
  source_view->steps.emplace_back([this] {
    EXPECT_EQ(stats->uncommitted_rows, 0U);
    EXPECT_GT(stats->last_commit, 0);
    drain.request_stop();
    EXPECT_EQ(stats->condition.get().phase, Phase::draining);
    return SourceEvent(Idle{});
  });
  ASSERT_TRUE(run());
  EXPECT_EQ(waited, (std::vector<std::string>{"", "sink memory: write: the table is away", ""}));
  EXPECT_EQ(stats->condition.get().phase, Phase::stopped);
}

TEST_F(WorkerTest, ADeadWorkerSaysSo) {
  assign();
  source_view->steps.emplace_back([]() -> Result<SourceEvent> { return fail(ErrorKind::denied, "no"); });
  ASSERT_FALSE(run());
  EXPECT_EQ(stats->condition.get().phase, Phase::failed);
}

TEST_F(WorkerTest, PartitionsGivenUpAreNotShown) {
  source_view->steps.emplace_back(
      [] { return SourceEvent(Assigned{{{"a", "0"}, {"b", "0"}}, {{"a", "0"}, {"b", "0"}}}); });
  event(Revoked{{"a"}});
  end();
  ASSERT_TRUE(run());
  EXPECT_EQ(stats->detail().read, (Positions{{"b", "0"}}));
}

}  // namespace
}  // namespace aqueduck::pipeline
