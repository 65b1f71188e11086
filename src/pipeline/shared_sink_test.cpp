#include "pipeline/shared_sink.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/fake_components.h"

namespace aqueduck::pipeline {
namespace {

using test::int_batch;
using test::MemorySink;
using test::MemoryTable;
using Rows = std::vector<std::int64_t>;

Token at(const std::string& partition, const std::string& position) { return Token{{{partition, position}}}; }

class SharedSinkTest : public ::testing::Test {
 protected:
  SharedSinkTest() {
    auto sink = std::make_unique<MemorySink>(table);
    inner = sink.get();
    shared = std::make_unique<SharedSink>(std::move(sink));
    first = shared->port();
    second = shared->port();
    EXPECT_TRUE(first->open());
    EXPECT_TRUE(second->open());
  }

  MemoryTable table;
  MemorySink* inner = nullptr;
  std::unique_ptr<SharedSink> shared;
  std::unique_ptr<Sink> first;
  std::unique_ptr<Sink> second;
};

TEST_F(SharedSinkTest, ACommitTakesOnlyItsOwnRows) {
  ASSERT_TRUE(first->write(int_batch({1})));
  ASSERT_TRUE(second->write(int_batch({10})));
  ASSERT_TRUE(second->commit({}, at("b", "1")));
  EXPECT_EQ(table.rows, (Rows{10}));
  ASSERT_TRUE(first->commit({}, at("a", "1")));
  EXPECT_EQ(table.rows, (Rows{10, 1}));
  EXPECT_EQ(table.token.entries, (Positions{{"a", "1"}, {"b", "1"}}));
}

TEST_F(SharedSinkTest, AnAbortDropsOnlyItsOwnRows) {
  ASSERT_TRUE(first->write(int_batch({1})));
  ASSERT_TRUE(second->write(int_batch({10})));
  ASSERT_TRUE(first->abort());
  ASSERT_TRUE(second->commit({}, at("b", "1")));
  EXPECT_EQ(table.rows, (Rows{10}));
}

TEST_F(SharedSinkTest, AFailedWriteKeepsTheTurnAndTheRows) {
  inner->write_errors.push_back(make_error(ErrorKind::unavailable, "away"));
  ASSERT_TRUE(first->write(int_batch({1})));
  ASSERT_TRUE(first->write(int_batch({2})));
  EXPECT_FALSE(first->commit({}, at("a", "2")));
  ASSERT_TRUE(first->commit({}, at("a", "2")));
  EXPECT_EQ(table.rows, (Rows{1, 2}));
}

TEST_F(SharedSinkTest, AFailedCommitIsRepeatedWithoutWritingTwice) {
  inner->commit_errors.push_back(make_error(ErrorKind::unavailable, "away"));
  ASSERT_TRUE(first->write(int_batch({1})));
  EXPECT_FALSE(first->commit({}, at("a", "1")));
  std::jthread other([&] {
    ASSERT_TRUE(second->write(int_batch({10})));
    ASSERT_TRUE(second->commit({}, at("b", "1")));  // waits for the first's turn to end
  });
  ASSERT_TRUE(first->commit({}, at("a", "1")));
  other.join();
  EXPECT_EQ(table.rows, (Rows{1, 10}));
  EXPECT_EQ(table.commits, (std::vector<std::size_t>{1, 1}));
}

TEST_F(SharedSinkTest, AnUnknownOutcomeThatHappenedIsSettledByLooking) {
  inner->answers.push_back(MemorySink::Answer::unknown_done);
  ASSERT_TRUE(first->write(int_batch({1})));
  auto answer = first->commit({}, at("a", "1"));
  ASSERT_TRUE(answer);
  ASSERT_TRUE(std::holds_alternative<Unknown>(*answer));
  ASSERT_TRUE(first->stored_token());
  ASSERT_TRUE(second->write(int_batch({10})));
  ASSERT_TRUE(second->commit({}, at("b", "1")));
  EXPECT_EQ(table.rows, (Rows{1, 10}));
}

TEST_F(SharedSinkTest, AnUnknownOutcomeThatDidNotHappenIsCommittedAgain) {
  inner->answers.push_back(MemorySink::Answer::unknown_not_done);
  ASSERT_TRUE(first->write(int_batch({1})));
  ASSERT_TRUE(first->commit({}, at("a", "1")));
  ASSERT_TRUE(first->stored_token());
  auto again = first->commit({}, at("a", "1"));
  ASSERT_TRUE(again);
  EXPECT_TRUE(std::holds_alternative<Committed>(*again));
  EXPECT_EQ(table.rows, (Rows{1}));
}

TEST_F(SharedSinkTest, AMovedTokenDropsTheRowsAndEndsTheTurn) {
  table.token = at("a", "7");
  ASSERT_TRUE(first->write(int_batch({1})));
  auto answer = first->commit(at("a", "3"), at("a", "4"));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(std::holds_alternative<Moved>(*answer));
  ASSERT_TRUE(second->write(int_batch({10})));
  ASSERT_TRUE(second->commit({}, at("b", "1")));
  EXPECT_EQ(table.rows, (Rows{10}));
}

TEST_F(SharedSinkTest, APortThatClosesWithAFailedCommitLeavesNothingBehind) {
  inner->commit_errors.push_back(make_error(ErrorKind::denied, "no"));
  ASSERT_TRUE(first->write(int_batch({1})));
  EXPECT_FALSE(first->commit({}, at("a", "1")));
  first->close();
  ASSERT_TRUE(second->write(int_batch({10})));
  ASSERT_TRUE(second->commit({}, at("b", "1")));
  EXPECT_EQ(table.rows, (Rows{10}));
}

}  // namespace
}  // namespace aqueduck::pipeline
