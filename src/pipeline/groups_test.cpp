#include "pipeline/groups.h"

#include <gtest/gtest.h>

#include "columnar/schema.h"
#include "pipeline/worker.h"
#include "tests/support/fake_components.h"

namespace aqueduck::pipeline {
namespace {

using namespace std::chrono_literals;
using test::FakeSource;
using test::MemorySink;
using test::MemoryTable;
using Texts = std::vector<std::string>;

/// Messages with these payloads, of the groups with these ids.
Chunk requests(const std::vector<std::pair<std::string, std::uint64_t>>& given, const Positions& next = {}) {
  auto owner = std::make_shared<std::vector<std::string>>();
  for (const auto& [payload, group] : given) owner->push_back(payload);
  Messages out;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (out.groups.empty() || out.groups.back() != given[i].second) out.groups.push_back(given[i].second);
    Message message;
    message.payload = (*owner)[i];
    message.group = static_cast<std::uint32_t>(out.groups.size() - 1);
    out.items.push_back(message);
  }
  out.owner = std::move(owner);
  return {std::move(out), next};
}

Texts words(const std::vector<GroupOutcome>& outcomes) {
  Texts out;
  for (const GroupOutcome& one : outcomes) {
    const char* word = one.outcome == Outcome::durable ? "durable" : "failed";
    if (one.outcome == Outcome::rejected) word = "rejected";
    out.push_back(std::to_string(one.group) + " " + word + (one.reason.empty() ? "" : ": " + one.reason));
  }
  return out;
}

struct GroupsTest : ::testing::Test {
  Groups groups;
  Batch batch;
  void read(Chunk chunk) {
    groups.arrived(chunk);
    batch.add(std::move(chunk), {});
  }
  void process() {
    groups.processed(batch);
    batch.clear();
  }
};

TEST_F(GroupsTest, ACommitSettlesWhatWasProcessed) {
  read(requests({{"1", 7}, {"2", 7}}));
  read(requests({{"3", 8}, {"4", 9}}));
  EXPECT_FALSE(groups.committable());
  process();
  read(requests({{"5", 10}}));
  EXPECT_TRUE(groups.committable());
  EXPECT_EQ(words(groups.committed()), (Texts{"7 durable", "8 durable", "9 durable"}));
  EXPECT_FALSE(groups.committable());
  EXPECT_EQ(words(groups.give_up("stopped")), Texts{"10 failed: stopped"});
  EXPECT_TRUE(groups.give_up("again").empty()) << "an outcome comes once";
}

TEST_F(GroupsTest, ABadMessageRejectsItsGroupOnly) {
  read(requests({{"1", 1}}));
  process();
  read(requests({{"2", 2}, {"3", 2}, {"4", 3}}));
  read(requests({{"5", 4}, {"6", 5}}));
  groups.reject(batch, 1, "first");
  groups.reject(batch, 0, "second");
  groups.reject(batch, 4, "last");
  process();
  EXPECT_EQ(words(groups.committed()),
            (Texts{"1 durable", "2 rejected: first", "3 durable", "4 durable", "5 rejected: last"}));
}

TEST_F(GroupsTest, ABadBatchRejectsAllOfItsGroups) {
  read(requests({{"1", 1}}));
  process();
  read(requests({{"2", 2}, {"3", 3}}));
  groups.reject_all(batch, "no");
  process();
  EXPECT_EQ(words(groups.committed()), (Texts{"1 durable", "2 rejected: no", "3 rejected: no"}));
}

TEST_F(GroupsTest, MessagesWithoutGroupsAreNoneOfIt) {
  Chunk plain = requests({{"1", 1}, {"2", 1}});
  std::get<Messages>(plain.data).groups.clear();
  read(std::move(plain));
  read(requests({{"3", 5}}));
  groups.reject(batch, 0, "no");
  process();
  EXPECT_EQ(words(groups.committed()), Texts{"5 durable"});
  read(test::int_chunk({1}, "p", "1"));
  process();
  EXPECT_FALSE(groups.committable());
}

/// A message is a number, else it is bad.
class NumberDecoder final : public Decoder {
 public:
  std::shared_ptr<const Schema> schema() const override { return test::int_batch({}).schema; }
  Result<void> restore(const std::string& /*saved*/) override { return {}; }
  void restrict_to(const std::optional<std::vector<ColumnPath>>& /*columns*/) override {}
  Result<void> decode(std::span<const Message> messages) override {
    for (const Message& message : messages) {
      if (message.payload.find_first_not_of("0123456789") == std::string_view::npos) {
        values_.push_back(std::stoll(std::string(message.payload)));
      } else {
        failures_.push_back({seen_, "no number", {}});
      }
      ++seen_;
    }
    return {};
  }
  Result<Decoded> finish() override {
    Decoded out;
    out.batch = test::int_batch(std::exchange(values_, {}));
    out.failures = std::exchange(failures_, {});
    seen_ = 0;
    return out;
  }

 private:
  std::vector<std::int64_t> values_;
  std::vector<DecodeFailure> failures_;
  std::uint32_t seen_ = 0;
};

/// Counts the commits of dead letters.
class LettersSink final : public Sink {
 public:
  explicit LettersSink(std::int64_t& rows) : rows_(rows) {}
  SinkTraits traits() const override { return {}; }
  Result<Token> open() override { return Token{}; }
  Result<void> write(const RecordBatch& batch) override {
    waiting_ += batch.rows();
    return {};
  }
  Result<CommitResult> commit(const Token& /*expected*/, const Token& next) override {
    rows_ += std::exchange(waiting_, 0);
    return Committed{next};
  }
  Result<void> abort() override {
    waiting_ = 0;
    return {};
  }
  Result<Token> stored_token() override { return Token{}; }
  void close() override {}

 private:
  std::int64_t& rows_;
  std::int64_t waiting_ = 0;
};

/// A worker with a source that pushes requests.
class WorkerGroupsTest : public ::testing::Test {
 protected:
  WorkerGroupsTest() : source(std::make_unique<FakeSource>()), sink(std::make_unique<MemorySink>(table)) {
    definition.name = "p";
    definition.source_name = "push";
    definition.sink_name = "memory";
    definition.batch.rows.value = 1;  // a chunk a batch, unless a test says otherwise
    source->clock = &clock;
    source->traits_value.replayable = false;
    source_view = source.get();
    sink_view = sink.get();
  }
  void push(const std::vector<std::pair<std::string, std::uint64_t>>& given) {
    give([=] { return SourceEvent(requests(given)); });
  }
  void give(FakeSource::Step step) { source_view->steps.push_back(std::move(step)); }
  void end() {
    give([] { return SourceEvent(End{}); });
  }
  tl::expected<void, Failure> run() {
    Worker::Parts parts;
    parts.definition = &definition;
    parts.source = std::move(source);
    parts.sink = std::move(sink);
    parts.transform = std::make_unique<Transform>(definition, std::make_unique<NumberDecoder>(),
                                                  database->connect().value(), columns);
    EXPECT_TRUE(parts.transform->prepare());
    parts.dead_letters = std::make_unique<DeadLetters>("p", false, std::make_unique<LettersSink>(letters));
    parts.state = &state;
    parts.stats = &stats;
    parts.clock = &clock;
    ReadQuota quota(RunLimits{}, 1, clock.now());
    parts.quota = &quota;
    worker = std::make_unique<Worker>(std::move(parts));
    return worker->run(drain.get_token(), abort.get_token());
  }
  Texts outcomes() const { return words(source_view->outcomes); }

  Definition definition;
  MemoryTable table;
  std::int64_t letters = 0;
  FakeClock clock;
  StateFile state;
  SharedColumns columns;
  Stats stats;
  std::stop_source drain;
  std::stop_source abort;
  std::unique_ptr<sql::Database> database = sql::Database::open({}).value();
  std::unique_ptr<FakeSource> source;
  std::unique_ptr<MemorySink> sink;
  FakeSource* source_view;
  MemorySink* sink_view;
  std::unique_ptr<Worker> worker;
};

TEST_F(WorkerGroupsTest, ARequestIsDurableOnceItsRowsAreCommitted) {
  sink_view->traits_value.commit.rows = 3;
  push({{"1", 1}, {"2", 1}});
  push({{"3", 2}, {"4", 3}});
  sink_view->before_commit = [&] { EXPECT_TRUE(table.rows.size() >= source_view->outcomes.size()); };
  push({{"5", 4}});
  end();
  ASSERT_TRUE(run());
  EXPECT_EQ(outcomes(), (Texts{"1 durable", "2 durable", "3 durable", "4 durable"}));
  EXPECT_EQ(table.rows, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
}

TEST_F(WorkerGroupsTest, ASkippedMessageIsRejectedWithItsReason) {
  definition.errors.decode = OnError::skip;
  push({{"1", 1}, {"x", 2}, {"3", 3}});
  push({{"y", 4}});  // no row at all
  end();
  ASSERT_TRUE(run());
  EXPECT_EQ(outcomes(), (Texts{"1 durable", "2 rejected: no number", "3 durable", "4 rejected: no number"}));
  EXPECT_EQ(table.rows, (std::vector<std::int64_t>{1, 3}));
}

TEST_F(WorkerGroupsTest, ADeadLetterIsDurableWithoutARowToo) {
  definition.errors.decode = OnError::dead_letter;
  push({{"x", 1}});
  end();
  ASSERT_TRUE(run());
  EXPECT_EQ(letters, 1) << "though no row and no position asks for a commit";
  EXPECT_EQ(outcomes(), Texts{"1 durable"});
}

TEST_F(WorkerGroupsTest, ABatchThatTheSqlRefusesIsRejected) {
  definition.errors.sql = OnError::skip;
  definition.sql = Statement{"SELECT CASE WHEN v = 2 THEN error('not 2') ELSE v END AS v FROM batch", {}};
  push({{"1", 1}});
  push({{"2", 2}});
  end();
  ASSERT_TRUE(run());
  const Texts found = outcomes();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], "1 durable");
  EXPECT_TRUE(found[1].starts_with("2 rejected: ") && found[1].find("not 2") != std::string::npos) << found[1];
}

TEST_F(WorkerGroupsTest, WhatThePipelineEndsWithHasFailed) {
  push({{"1", 1}});
  push({{"x", 2}});
  ASSERT_FALSE(run());
  const Texts found = outcomes();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], "1 durable");
  EXPECT_TRUE(found[1].starts_with("2 failed: message at ")) << found[1];
}

TEST_F(WorkerGroupsTest, AChunkThatDidNotFitAnyMoreHasFailedToo) {
  definition.batch.rows.value = 100;
  definition.errors.decode = OnError::skip;
  push({{"1", 1}});
  give([] { return SourceEvent(test::int_chunk({9}, "p", "1")); });  // rows end the batch of messages
  sink_view->write_errors = {make_error(ErrorKind::denied, "no")};
  ASSERT_FALSE(run());
  EXPECT_EQ(outcomes().size(), 1U);
}

TEST_F(WorkerGroupsTest, AnAbortFailsWhatIsUncommittedAndIsNoSuccess) {
  sink_view->traits_value.commit.rows = 100;
  push({{"1", 1}});  // written
  give([&] {
    drain.request_stop();
    abort.request_stop();
    return SourceEvent(requests({{"2", 2}}));
  });
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ExitCode::drain_incomplete);
  EXPECT_EQ(outcomes().size(), 2U);
  for (const std::string& outcome : outcomes()) EXPECT_NE(outcome.find(" failed: "), std::string::npos) << outcome;
}

TEST_F(WorkerGroupsTest, WithoutPositionsAnAbortIsNoSuccessEither) {
  sink_view->traits_value.commit.rows = 100;
  push({{"1", 1}});
  give([&] {
    drain.request_stop();
    abort.request_stop();
    return SourceEvent(Idle{});
  });
  const auto result = run();
  ASSERT_FALSE(result) << "a row was read and not delivered";
  EXPECT_EQ(result.error().code, ExitCode::drain_incomplete);
}

TEST_F(WorkerGroupsTest, LostPartitionsFailTheirRequests) {
  definition.batch.rows.value = 100;
  source_view->traits_value.replayable = true;
  give([] { return SourceEvent(Assigned{{{"a", "0"}}, {{"a", "0"}}}); });
  give([] { return SourceEvent(requests({{"1", 1}}, {{"a", "1"}})); });
  give([] { return SourceEvent(Lost{{"a"}}); });
  end();
  ASSERT_TRUE(run());
  ASSERT_EQ(outcomes().size(), 1U);
  EXPECT_TRUE(outcomes()[0].starts_with("1 failed: ")) << outcomes()[0];
  EXPECT_TRUE(table.rows.empty());
}

TEST_F(WorkerGroupsTest, RevokedPartitionsAreCommittedFirst) {
  definition.batch.rows.value = 100;
  source_view->traits_value.replayable = true;
  give([] { return SourceEvent(Assigned{{{"a", "0"}}, {{"a", "0"}}}); });
  give([] { return SourceEvent(requests({{"1", 1}}, {{"a", "1"}})); });
  give([] { return SourceEvent(Revoked{{"a"}}); });
  give([&] {
    EXPECT_EQ(outcomes(), Texts{"1 durable"});
    return SourceEvent(End{});
  });
  ASSERT_TRUE(run());
  EXPECT_EQ(outcomes(), Texts{"1 durable"});
}

}  // namespace
}  // namespace aqueduck::pipeline
