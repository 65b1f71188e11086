#include "connectors/kafka/kafka_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "config/loader.h"
#include "connectors/kafka/component.h"
#include "tests/support/conformance_source.h"
#include "tests/support/kafka_cluster.h"

namespace aqueduck {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

Texts numbers(int first, int count) {
  Texts out;
  for (int i = first; i < first + count; ++i) out.push_back(std::to_string(i));
  return out;
}

/// A source and what a worker does with it: answers assignments, collects what comes.
struct Member {
  std::unique_ptr<Source> source;
  Positions from;  ///< for start_at
  Texts texts;
  Positions next;
  std::vector<Assigned> assigned;
  std::vector<Texts> revoked;
  std::vector<Texts> lost;
  int unavailable = 0;
  std::optional<Error> error;  ///< that ends a worker

  void step() {
    auto event = source->read(conformance::limits(20ms));
    if (!event) {
      if (event.error().kind == ErrorKind::unavailable) {
        ++unavailable;
      } else {
        error = event.error();
      }
    } else if (auto* told = std::get_if<Assigned>(&*event)) {
      Positions start = told->start;
      for (const auto& [name, position] : from) {
        if (start.contains(name)) start[name] = position;
      }
      assigned.push_back(std::move(*told));
      const auto started = source->start_at(start);
      EXPECT_TRUE(started) << started.error().message;
    } else if (const auto* chunk = std::get_if<Chunk>(&*event)) {
      for (const auto& [name, position] : chunk->next) next[name] = position;
      for (const Message& message : std::get<Messages>(chunk->data).items) texts.emplace_back(message.payload);
    } else if (const auto* gone = std::get_if<Revoked>(&*event)) {
      revoked.push_back(gone->partitions);
    } else if (const auto* taken = std::get_if<Lost>(&*event)) {
      lost.push_back(taken->partitions);
    }
  }
  bool until(const std::function<bool()>& condition) {
    return testing::wait_for([&] {
             if (condition() || error) return true;
             step();
             return condition();
           }) &&
           condition();
  }
  bool reads(std::size_t count) {
    return until([&] { return texts.size() >= count; });
  }
};

class KafkaSourceTest : public ::testing::Test {
 protected:
  /// `rest`: of the source's configuration, behind the brokers.
  std::unique_ptr<Source> make(const std::string& rest) {
    config::Faults faults;
    const std::string text = "{brokers: ['" + cluster.brokers() + "'], fetch: {wait: 5ms}, " + rest + "}";
    const auto node = config::load_text(text, "k.yml", config::process_environment(), faults);
    auto factory = kafka_source().parse(*node, faults);
    EXPECT_TRUE(faults.empty()) << faults.to_error().message;
    factories.push_back(std::move(factory));
    return factories.back()->make(context);
  }
  Member open(const std::string& rest, const Positions& starts = {}) {
    Member member;
    member.source = make(rest);
    member.source->restore_starts(starts);
    const auto opened = member.source->open();
    EXPECT_TRUE(opened) << opened.error().message;
    return member;
  }

  testing::KafkaCluster cluster;
  ComponentContext context{"p", {}, {}, nullptr, 0, 1};
  std::vector<std::unique_ptr<SourceFactory>> factories;
};

/// Ends where the topic does: what a finite source must do can be asked of it.
class UntilEnd final : public Source {
 public:
  UntilEnd(std::unique_ptr<Source> source, const bool& down) : source_(std::move(source)), down_(down) {}
  SourceTraits traits() const override { return source_->traits(); }
  Result<void> open() override {
    ended_ = false;
    at_.clear();
    return source_->open();
  }
  Result<SourceEvent> read(const ReadLimits& limits) override {
    if (ended_) return End{};
    auto event = source_->read(limits);
    if (event && std::holds_alternative<Idle>(*event) && !limits.stop.stop_requested() && !down_) {
      auto ends = source_->position();
      if (ends && !ends->empty() && *ends == at_) {
        ended_ = true;
        return End{};
      }
    }
    if (event && std::holds_alternative<Chunk>(*event)) {
      for (const auto& [name, position] : std::get<Chunk>(*event).next) at_[name] = position;
    }
    return event;
  }
  Result<void> start_at(const Positions& positions) override {
    for (const auto& [name, position] : positions) at_[name] = position;
    return source_->start_at(positions);
  }
  Result<void> acknowledge(const Acknowledgement& done) override { return source_->acknowledge(done); }
  Result<Positions> position() override { return source_->position(); }
  void close() override { source_->close(); }

 private:
  std::unique_ptr<Source> source_;
  const bool& down_;
  Positions at_;
  bool ended_ = false;
};

TEST_F(KafkaSourceTest, DoesWhatEverySourceMust) {
  cluster.create("t");
  cluster.create("empty");
  cluster.produce("t", 0, 0, 7);
  bool is_down = false;
  const auto down = [&] {
    is_down = true;
    cluster.set_down(true);
    return [&] {
      is_down = false;
      cluster.set_down(false);
    };
  };
  const std::string rest = "assign: {instance: 0, of: 1}, properties: {reconnect.backoff.max.ms: '100'}";
  conformance::check_source(
      {[&] { return std::make_unique<UntilEnd>(make("topics: [t], " + rest), is_down); },
       numbers(0, 7),
       true,
       {{down, ErrorKind::unavailable}},
       conformance::Inapplicable{"the client finds its brokers again by itself, and meanwhile nothing comes"},
       {[&] { return make("topics: [empty], " + rest); }}});
}

TEST_F(KafkaSourceTest, AGroupResumesWhatWasAcknowledged) {
  cluster.create("t");
  cluster.produce("t", 0, 0, 10);
  Member first = open("topics: [t], group: g, session_timeout: 1s");
  ASSERT_TRUE(first.reads(10));
  EXPECT_EQ(first.assigned.at(0).start, (Positions{{"t/0", "0"}}));
  ASSERT_TRUE(first.source->acknowledge({{{"t/0", "6"}}, {}}));
  first.source->close();
  Member second = open("topics: [t], group: g, start: latest, session_timeout: 1s");
  ASSERT_TRUE(second.reads(4));
  EXPECT_EQ(second.texts, numbers(6, 4));
  EXPECT_EQ(second.assigned.at(0).resolved, (Positions{{"t/0", "0"}}));
}

TEST_F(KafkaSourceTest, TakingPartitionsIsTriedAgain) {
  cluster.create("t");
  cluster.produce("t", 0, 0, 5);
  Member member = open("topics: [t], group: g");
  ASSERT_TRUE(member.until([&] { return !member.assigned.empty(); }));
  cluster.fail(testing::kListOffsets, RD_KAFKA_RESP_ERR_UNKNOWN, 3);
  ASSERT_TRUE(member.source->start_at({{"t/0", "2"}}));
  ASSERT_TRUE(member.reads(3));
  EXPECT_EQ(member.texts, numbers(2, 3));
  EXPECT_GT(member.unavailable, 0);
  // Going back, too; nothing of the old place comes meanwhile.
  cluster.fail(testing::kListOffsets, RD_KAFKA_RESP_ERR_UNKNOWN, 3);
  member.texts.clear();
  ASSERT_TRUE(member.source->start_at({{"t/0", "1"}}));
  cluster.produce("t", 0, 5, 2);
  ASSERT_TRUE(member.reads(6));
  EXPECT_EQ(member.texts, numbers(1, 6));
}

TEST_F(KafkaSourceTest, APartitionThatIsLeftOutBeginsAtItsOwnStart) {
  cluster.create("t", 2);
  cluster.produce("t", 0, 0, 3);
  cluster.produce("t", 1, 10, 3);
  Member member = open("topics: [t], assign: {instance: 0, of: 1}");
  const auto event = member.source->read(conformance::limits(5s));
  ASSERT_TRUE(event && std::holds_alternative<Assigned>(*event));
  ASSERT_TRUE(member.source->start_at({{"t/1", "2"}}));
  ASSERT_TRUE(member.reads(4));
  std::sort(member.texts.begin(), member.texts.end());
  EXPECT_EQ(member.texts, (Texts{"0", "1", "12", "2"}));
}

TEST_F(KafkaSourceTest, PartitionsWaitWhileTheGroupsOffsetsCantBeRead) {
  cluster.create("t");
  cluster.produce("t", 0, 0, 5);
  Member member = open("topics: [t], group: g");
  cluster.fail(testing::kOffsetFetch, RD_KAFKA_RESP_ERR_UNKNOWN, 3);
  ASSERT_TRUE(member.reads(5));
  EXPECT_GT(member.unavailable, 0);
  EXPECT_EQ(member.assigned.size(), 1U);
}

TEST_F(KafkaSourceTest, AMemberThatWasThrownOutIsToldAndReadsAgain) {
  cluster.create("t");
  cluster.produce("t", 0, 0, 5);
  Member member = open("topics: [t], group: g, session_timeout: 1s, properties: {max.poll.interval.ms: '1000'}");
  ASSERT_TRUE(member.reads(5));
  ASSERT_TRUE(member.source->acknowledge({{{"t/0", "3"}}, {}}));
  // Nobody reads; the partition is given up all the same, so that the client joins anew.
  const int joins = cluster.requests(testing::kJoinGroup);
  cluster.fail(testing::kHeartbeat, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID);
  ASSERT_TRUE(testing::wait_for([&] { return cluster.requests(testing::kJoinGroup) > joins; }));
  EXPECT_TRUE(member.source->acknowledge({{{"t/0", "5"}}, {}})) << "of lost partitions nothing is stored";
  ASSERT_TRUE(member.until([&] { return member.assigned.size() == 2; }));
  EXPECT_EQ(member.lost, (std::vector<Texts>{{"t/0"}}));
  EXPECT_TRUE(member.revoked.empty());
  EXPECT_EQ(member.assigned[1].start, (Positions{{"t/0", "3"}}));
  ASSERT_TRUE(member.reads(7));
  EXPECT_EQ(member.texts, (Texts{"0", "1", "2", "3", "4", "3", "4"}));
}

TEST_F(KafkaSourceTest, AMemberThatDoesntReadStaysInTheGroupAndMissesNothing) {
  cluster.create("t", 2);
  cluster.produce("t", 0, 0, 50);
  cluster.produce("t", 1, 50, 50);
  Member member = open("topics: [t], group: g, session_timeout: 1s, properties: {max.poll.interval.ms: '1000'}");
  ASSERT_TRUE(member.until([&] { return !member.assigned.empty(); }));
  while (member.texts.empty()) {
    ReadLimits limits = conformance::limits(5s);
    limits.max_messages = 7;  // the rest waits in the client
    const auto event = member.source->read(limits);
    ASSERT_TRUE(event);
    const auto* chunk = std::get_if<Chunk>(&*event);
    if (chunk == nullptr) continue;
    for (const Message& message : std::get<Messages>(chunk->data).items) member.texts.emplace_back(message.payload);
  }
  const int joins = cluster.requests(testing::kJoinGroup);
  const int beats = cluster.requests(testing::kHeartbeat);
  // Two or more each second: much longer than a member may stay away from its client.
  ASSERT_TRUE(testing::wait_for([&] { return cluster.requests(testing::kHeartbeat) > beats + 7; }));
  cluster.produce("t", 0, 100, 10);
  ASSERT_TRUE(member.reads(110));
  EXPECT_EQ(cluster.requests(testing::kLeaveGroup), 0);
  EXPECT_EQ(cluster.requests(testing::kJoinGroup), joins);
  EXPECT_TRUE(member.lost.empty());
  EXPECT_EQ(member.assigned.size(), 1U);
  EXPECT_EQ(member.texts.size(), 110U);
  std::set<std::string> different(member.texts.begin(), member.texts.end());
  EXPECT_EQ(different.size(), 110U);
}

TEST_F(KafkaSourceTest, OffsetsThatTheGroupDoesntTakeAreStoredLater) {
  cluster.create("t");
  cluster.produce("t", 0, 0, 5);
  Member member = open("topics: [t], group: g");
  ASSERT_TRUE(member.reads(5));
  cluster.fail(testing::kOffsetCommit, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS);
  ASSERT_TRUE(member.source->acknowledge({{{"t/0", "3"}}, {}}));
  EXPECT_EQ(cluster.committed("g", "t", 0), 0);
  ASSERT_TRUE(member.until([&] { return cluster.committed("g", "t", 0) == 3; }));
  cluster.fail(testing::kOffsetCommit, RD_KAFKA_RESP_ERR_UNKNOWN);
  EXPECT_FALSE(member.source->acknowledge({{{"t/0", "4"}}, {}}));
  member.source->close();
  EXPECT_EQ(cluster.committed("g", "t", 0), 4);
}

TEST_F(KafkaSourceTest, AGapEndsItUnlessToldOtherwise) {
  cluster.create("t");
  cluster.produce("t", 0, 0, 5);
  Member strict = open("topics: [t], assign: {instance: 0, of: 1}");
  strict.from = {{"t/0", "9"}};
  ASSERT_TRUE(testing::wait_for([&] {
    strict.step();
    return strict.error.has_value();
  }));
  EXPECT_EQ(strict.error->kind, ErrorKind::conflict);
  EXPECT_NE(strict.error->message.find("offset 9 is due"), std::string::npos);
  Member lenient = open("topics: [t], assign: {instance: 0, of: 1}, on_gap: earliest");
  lenient.from = {{"t/0", "9"}};
  ASSERT_TRUE(lenient.reads(5));
  EXPECT_EQ(lenient.texts, numbers(0, 5));
}

TEST_F(KafkaSourceTest, AGapThatWasPassedIsNotMetAgain) {
  cluster.create("t");
  cluster.produce("t", 0, 0, 5);
  Member member = open("topics: [t], group: g, on_gap: latest");
  member.from = {{"t/0", "9"}};
  ASSERT_TRUE(member.until([&] { return !member.next.empty(); }));
  // Without a message: what comes before the next start must not be passed over with it.
  EXPECT_EQ(member.next, (Positions{{"t/0", "5"}}));
  EXPECT_TRUE(member.texts.empty());
  cluster.produce("t", 0, 5, 2);
  ASSERT_TRUE(member.reads(2));
  EXPECT_EQ(member.texts, numbers(5, 2));
}

TEST_F(KafkaSourceTest, ReadingGoesOnBehindAGapThatAFetchMet) {
  for (const char* how : {"assign: {instance: 0, of: 1}", "group: g"}) {
    const std::string topic(1, how[0]);
    cluster.create(topic);
    cluster.produce(topic, 0, 0, 5);
    Member member = open("topics: [" + topic + "], " + how);
    ASSERT_TRUE(member.reads(5)) << how;
    cluster.fail(testing::kFetch, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE);
    const int fetches = cluster.requests(testing::kFetch);
    ASSERT_TRUE(member.until([&] { return cluster.requests(testing::kFetch) > fetches + 1; })) << how;
    cluster.produce(topic, 0, 5, 2);
    ASSERT_TRUE(member.reads(7)) << how;
    EXPECT_EQ(member.texts, numbers(0, 7));
    member.source->close();
  }
}

TEST_F(KafkaSourceTest, TopicsOfAPatternAreFoundLater) {
  for (const char* how : {"assign: {instance: 0, of: 1}", "group: g, session_timeout: 1s"}) {
    const std::string name = std::string("re-") + how[0];
    Member member = open("topics: ['^" + name + "-[0-9]+$'], " + how +
                         ", start: latest, properties: {topic.metadata.refresh.interval.ms: '100'}");
    member.step();
    cluster.create(name + "-1");
    cluster.create(name + "-x");
    cluster.produce(name + "-x", 0, 50, 1);
    cluster.produce(name + "-1", 0, 0, 3);
    ASSERT_TRUE(member.reads(3)) << how;
    cluster.create(name + "-2");
    cluster.produce(name + "-2", 0, 3, 2);
    ASSERT_TRUE(member.reads(5)) << how;
    EXPECT_EQ(member.texts, numbers(0, 5));
    member.source->close();
  }
}

TEST_F(KafkaSourceTest, StartsAreResolvedOnceAndLaterPartitionsBeginAtTheirBeginning) {
  cluster.create("t", 2);
  cluster.produce("t", 0, 0, 5);
  Member first = open("topics: [t], assign: {instance: 0, of: 1}, start: latest");
  ASSERT_TRUE(first.until([&] { return !first.assigned.empty(); }));
  EXPECT_EQ(first.assigned[0].resolved, (Positions{{"t/0", "5"}, {"t/1", "0"}}));
  first.source->close();
  cluster.produce("t", 0, 5, 2);
  cluster.produce("t", 1, 10, 2);
  // As if the second partition had been added meanwhile.
  Member second = open("topics: [t], assign: {instance: 0, of: 1}, start: latest", {{"t/0", "5"}});
  ASSERT_TRUE(second.reads(4));
  EXPECT_EQ(second.assigned[0].resolved, (Positions{{"t/0", "5"}, {"t/1", "0"}}));
  std::sort(second.texts.begin(), second.texts.end());
  EXPECT_EQ(second.texts, (Texts{"10", "11", "5", "6"}));
}

TEST_F(KafkaSourceTest, TopicsOfAPatternThatAppearedWhileItWasDownBeginAtTheirBeginning) {
  for (const char* how : {"assign: {instance: 0, of: 1}", "group: g, session_timeout: 1s"}) {
    const std::string name = std::string("re-") + how[0];
    cluster.create(name + "-1");
    cluster.produce(name + "-1", 0, 0, 3);
    const std::string pattern = "topics: ['^" + name + "-[0-9]+$'], " + how + ", start: latest";
    Member first = open(pattern);
    ASSERT_TRUE(first.until([&] { return !first.assigned.empty(); })) << how;
    const Positions starts = first.assigned[0].resolved;
    EXPECT_EQ(starts, (Positions{{name + "-1/0", "3"}}));
    first.source->close();
    cluster.produce(name + "-1", 0, 3, 1);
    cluster.create(name + "-2");
    cluster.produce(name + "-2", 0, 10, 2);
    Member second = open(pattern, how[0] == 'a' ? starts : Positions{});
    ASSERT_TRUE(second.reads(3)) << how;
    std::sort(second.texts.begin(), second.texts.end());
    EXPECT_EQ(second.texts, (Texts{"10", "11", "3"})) << how;
    second.source->close();
  }
  // A topic that is named may be new in the configuration: it begins where that says.
  cluster.create("a");
  cluster.create("b");
  Member first = open("topics: [a], group: named, start: latest, session_timeout: 1s");
  ASSERT_TRUE(first.until([&] { return !first.assigned.empty(); }));
  first.source->close();
  cluster.produce("b", 0, 0, 2);
  Member second = open("topics: [a, b], group: named, start: latest, session_timeout: 1s");
  ASSERT_TRUE(second.until([&] { return !second.assigned.empty(); }));
  EXPECT_EQ(second.assigned[0].start, (Positions{{"a/0", "0"}, {"b/0", "2"}}));
}

TEST_F(KafkaSourceTest, EndsComeFromWhatFetchesBrought) {
  cluster.create("t", 2);
  cluster.produce("t", 0, 0, 5);
  cluster.produce("t", 1, 10, 1);
  Member member = open("topics: [t], assign: {instance: 0, of: 1}");
  ASSERT_TRUE(member.reads(6));
  const int asked = cluster.requests(testing::kListOffsets);
  for (int i = 0; i < 20; ++i) {
    const auto ends = member.source->position();
    ASSERT_TRUE(ends);
    EXPECT_EQ(*ends, (Positions{{"t/0", "5"}, {"t/1", "1"}}));
  }
  EXPECT_EQ(cluster.requests(testing::kListOffsets), asked);
  cluster.produce("t", 0, 5, 2);
  ASSERT_TRUE(member.reads(8));
  EXPECT_EQ(*member.source->position(), (Positions{{"t/0", "7"}, {"t/1", "1"}}));
}

TEST_F(KafkaSourceTest, AMissingTopicIsWaitedForThenSaid) {
  cluster.create("events");
  auto missing = make("topics: [event], group: g, properties: {topic.metadata.propagation.max.ms: '300'}");
  const auto opened = missing->open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::denied);
  EXPECT_NE(opened.error().message.find("there is no topic 'event' at " + cluster.brokers()), std::string::npos);
  EXPECT_NE(opened.error().message.find("did you mean 'events'?"), std::string::npos);
  const int before = cluster.requests(testing::kMetadata);
  auto late = make("topics: [late], group: g");
  std::jthread creating([&] {
    testing::wait_for([&] { return cluster.requests(testing::kMetadata) > before + 2; });
    cluster.create("late");
  });
  const auto found = late->open();
  EXPECT_TRUE(found) << found.error().message;
}

}  // namespace
}  // namespace aqueduck
