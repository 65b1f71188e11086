#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "component/sink.h"
#include "tests/support/batches.h"

/// What every sink must do. A connector's test calls check_sink() with a function that makes a sink over one place, and
/// one that reads the rows which stand there, as JSON lines.
namespace aqueduck::conformance {

struct SinkUnderTest {
  std::function<std::unique_ptr<Sink>()> make;
  std::function<std::vector<std::string>()> rows;
};

inline Token token_of(const std::string& position) { return Token{{{"p", position}}}; }

inline void expect_committed(Sink& sink, const Token& expected, const Token& next) {
  auto result = sink.commit(expected, next);
  ASSERT_TRUE(result) << result.error().message;
  const auto* committed = std::get_if<Committed>(&*result);
  ASSERT_NE(committed, nullptr);
  EXPECT_EQ(committed->stored.entries, next.entries);
}

inline void check_sink(const SinkUnderTest& under_test) {
  const auto row = [](int id) {
    return "{\"id\":" + std::to_string(id) + ",\"name\":\"n" + std::to_string(id) + "\"}";
  };
  std::vector<std::string> expected;
  auto sink = under_test.make();
  ASSERT_TRUE(sink->open());
  ASSERT_TRUE(sink->write(testing::id_name_batch(0, 3)));
  ASSERT_TRUE(sink->write(testing::id_name_batch(3, 1)));
  expect_committed(*sink, {}, token_of("1"));
  expected.reserve(4);
  for (int i = 0; i < 4; ++i) expected.push_back(row(i));
  EXPECT_EQ(under_test.rows(), expected) << "after a commit";

  ASSERT_TRUE(sink->write(testing::id_name_batch(100, 2)));
  ASSERT_TRUE(sink->abort());
  ASSERT_TRUE(sink->write(testing::id_name_batch(4, 1)));
  expect_committed(*sink, token_of("1"), token_of("2"));
  expected.push_back(row(4));
  EXPECT_EQ(under_test.rows(), expected) << "rows of an aborted write, or a missing one after it";

  expect_committed(*sink, token_of("2"), token_of("3"));
  EXPECT_EQ(under_test.rows(), expected) << "a commit without rows";

  ASSERT_TRUE(sink->write(testing::id_name_batch(200, 1)));
  sink->close();
  EXPECT_EQ(under_test.rows(), expected) << "close drops what is uncommitted";

  auto stored = sink->open();
  ASSERT_TRUE(stored);
  if (sink->traits().holds_token) {
    EXPECT_EQ(stored->entries, token_of("3").entries);
  }
  ASSERT_TRUE(sink->write(testing::id_name_batch(5, 2)));
  expect_committed(*sink, token_of("3"), token_of("4"));
  expected.push_back(row(5));
  expected.push_back(row(6));
  EXPECT_EQ(under_test.rows(), expected) << "after opening again";
  sink->close();
}

/// For sinks that hold tokens: a second writer moves the token, and the first one's rows never appear.
inline void check_two_writers(const SinkUnderTest& under_test) {
  auto first = under_test.make();
  auto second = under_test.make();
  ASSERT_TRUE(first->traits().holds_token);
  ASSERT_TRUE(first->open());
  ASSERT_TRUE(second->open());
  ASSERT_TRUE(first->write(testing::id_name_batch(0, 2)));
  ASSERT_TRUE(second->write(testing::id_name_batch(10, 2)));
  expect_committed(*second, {}, token_of("b"));
  auto result = first->commit({}, token_of("a"));
  ASSERT_TRUE(result);
  const auto* moved = std::get_if<Moved>(&*result);
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(moved->stored.entries, token_of("b").entries);
  EXPECT_EQ(under_test.rows().size(), 2U);
  ASSERT_TRUE(first->write(testing::id_name_batch(20, 1)));
  expect_committed(*first, token_of("b"), token_of("c"));
  EXPECT_EQ(under_test.rows().size(), 3U);
}

}  // namespace aqueduck::conformance
