#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "component/sink.h"
#include "tests/support/asked.h"
#include "tests/support/batches.h"

/// What every sink must do. A connector's test calls check_sink() with how to make a sink over a fresh place, how to
/// read what stands there, and which real faults can be made there.
namespace aqueduck::conformance {

struct SinkFault {
  std::function<Heal()> make;  ///< while sinks are open, or before
  ErrorKind kind = ErrorKind::io;
};

/// A commit of which the sink can't say whether it happened.
struct SinkDoubt {
  std::function<Heal()> make;  ///< the next commit answers Unknown
  bool happens = false;        ///< whether it then counts
};

struct SinkUnderTest {
  /// An empty place; every case begins with one.
  std::function<void()> clear;
  std::function<std::unique_ptr<Sink>()> make;
  /// The rows that stand there, as JSON lines.
  Asked<std::function<std::vector<std::string>()>> rows;
  Asked<SinkFault> refused;  ///< an open sink's rows are not taken
  Asked<SinkFault> dead;     ///< nobody is there: opening it says so, else the first commit
  Asked<SinkDoubt> doubt;
  Asked<bool> two_writers;  ///< true: two sinks of one place may be open
};

inline Token token_of(const std::string& position) { return Token{{{"p", position}}}; }

inline void expect_committed(Sink& sink, const Token& expected, const Token& next) {
  auto result = sink.commit(expected, next);
  ASSERT_TRUE(result) << result.error().message;
  const auto* committed = std::get_if<Committed>(&*result);
  ASSERT_NE(committed, nullptr);
  EXPECT_EQ(committed->stored.entries, next.entries);
}

/// One run of a case: its place, and the rows that must stand there.
class SinkCase {
 public:
  SinkCase(const SinkUnderTest& under_test, std::string_view name)
      : under_test_(under_test), trace_(__FILE__, __LINE__, std::string(name)) {
    rows_ = under_test.rows.of(std::string(name) + ": rows");
    under_test.clear();
  }
  std::unique_ptr<Sink> make() const { return under_test_.make(); }
  void expects(int from, int count) {
    for (int i = from; i < from + count; ++i) {
      expected_.push_back("{\"id\":" + std::to_string(i) + ",\"name\":\"n" + std::to_string(i) + "\"}");
    }
  }
  void check(const std::string& when) const {
    if (rows_ == nullptr) return;
    EXPECT_EQ((*rows_)(), expected_) << when;
  }
  /// For writers whose rows come in no order.
  void check_unordered(const std::string& when) const {
    if (rows_ == nullptr) return;
    auto found = (*rows_)();
    auto expected = expected_;
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(found, expected) << when;
  }

 private:
  const SinkUnderTest& under_test_;
  ::testing::ScopedTrace trace_;
  const std::function<std::vector<std::string>()>* rows_ = nullptr;
  std::vector<std::string> expected_;
};

inline void check_commits(const SinkUnderTest& under_test) {
  SinkCase test(under_test, "commits, aborts, closes, opens again");
  auto sink = test.make();
  ASSERT_TRUE(sink->open());
  ASSERT_TRUE(sink->open()) << "twice, as after an error";
  ASSERT_TRUE(sink->write(testing::id_name_batch(0, 3)));
  ASSERT_TRUE(sink->write(testing::id_name_batch(3, 1)));
  expect_committed(*sink, {}, token_of("1"));
  test.expects(0, 4);
  test.check("after a commit");

  ASSERT_TRUE(sink->write(testing::id_name_batch(100, 2)));
  ASSERT_TRUE(sink->abort());
  ASSERT_TRUE(sink->write(testing::id_name_batch(4, 1)));
  expect_committed(*sink, token_of("1"), token_of("2"));
  test.expects(4, 1);
  test.check("rows of an aborted write, or a missing one after it");

  expect_committed(*sink, token_of("2"), token_of("3"));
  test.check("a commit without rows");

  ASSERT_TRUE(sink->write(testing::id_name_batch(200, 1)));
  sink->close();
  test.check("close drops what is uncommitted");

  auto stored = sink->open();
  ASSERT_TRUE(stored);
  if (sink->traits().holds_token) {
    EXPECT_EQ(stored->entries, token_of("3").entries);
  }
  ASSERT_TRUE(sink->write(testing::id_name_batch(5, 2)));
  expect_committed(*sink, token_of("3"), token_of("4"));
  test.expects(5, 2);
  test.check("after opening again");
  sink->close();
  test.check("no row after close");
}

/// Writes and commits as the pipeline does: each call again, until it succeeds or `tries` are used up.
inline Result<CommitResult> write_and_commit(Sink& sink, const RecordBatch& batch, const Token& expected,
                                             const Token& next, bool& written, int tries) {
  Result<CommitResult> last = fail(ErrorKind::internal, "not tried");
  for (int i = 0; i < tries; ++i) {
    if (!written) {
      if (auto done = sink.write(batch); !done) {
        last = fail(std::move(done).error());
        continue;
      }
      written = true;
    }
    last = sink.commit(expected, next);
    if (last) return last;
  }
  return last;
}

inline void check_refused(const SinkUnderTest& under_test) {
  const SinkFault* fault = under_test.refused.of("a failed flush keeps its rows");
  if (fault == nullptr) return;
  {
    SinkCase test(under_test, "a failed flush keeps its rows");
    auto sink = test.make();
    ASSERT_TRUE(sink->open());
    ASSERT_TRUE(sink->write(testing::id_name_batch(0, 2)));
    expect_committed(*sink, {}, token_of("1"));
    test.expects(0, 2);
    const Heal heal = fault->make();
    bool written = false;
    auto refused = write_and_commit(*sink, testing::id_name_batch(2, 3), token_of("1"), token_of("2"), written, 2);
    heal();
    ASSERT_FALSE(refused) << "the fault is none";
    EXPECT_EQ(name(refused.error().kind), name(fault->kind)) << refused.error().message;
    test.check("rows of a commit that failed");
    auto done = write_and_commit(*sink, testing::id_name_batch(2, 3), token_of("1"), token_of("2"), written, 20);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_TRUE(std::holds_alternative<Committed>(*done));
    test.expects(2, 3);
    test.check("after the fault, each row once");
    expect_committed(*sink, token_of("2"), token_of("3"));
    test.check("nothing is left over");
    sink->close();
  }
  SinkCase test(under_test, "a stop ends it while its rows are not taken");
  auto sink = test.make();
  ASSERT_TRUE(sink->open());
  const Heal heal = fault->make();
  bool written = false;
  EXPECT_FALSE(write_and_commit(*sink, testing::id_name_batch(0, 3), {}, token_of("1"), written, 1));
  sink->close();  // returns: who hangs here is ended by the test's time limit
  heal();
  ASSERT_TRUE(sink->open());
  ASSERT_TRUE(sink->write(testing::id_name_batch(3, 1)));
  expect_committed(*sink, {}, token_of("1"));
  test.expects(3, 1);
  test.check("what was given up stays away");
  sink->close();
}

inline void check_dead(const SinkUnderTest& under_test) {
  const SinkFault* fault = under_test.dead.of("a dead peer");
  if (fault == nullptr) return;
  SinkCase test(under_test, "a dead peer");
  const Heal heal = fault->make();
  auto sink = test.make();
  for (int i = 0; i < 2; ++i) {
    // Where opening reaches nobody, the first commit meets it.
    auto opened = sink->open();
    bool written = false;
    auto refused = opened ? write_and_commit(*sink, testing::id_name_batch(50, 1), {}, token_of("0"), written, 1)
                          : Result<CommitResult>(fail(opened.error()));
    ASSERT_FALSE(refused) << "the fault is none";
    EXPECT_EQ(name(refused.error().kind), name(fault->kind)) << refused.error().message;
    sink->close();
  }
  heal();
  auto opened = sink->open();
  for (int i = 0; !opened && i < 20; ++i) opened = sink->open();
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_TRUE(sink->write(testing::id_name_batch(0, 2)));
  expect_committed(*sink, {}, token_of("1"));
  test.expects(0, 2);
  test.check("once it is there again");
  sink->close();
}

/// The commit from "1" to "2" of rows 2 … 4 was answered Unknown, and all is well again.
inline std::unique_ptr<Sink> in_doubt(SinkCase& test, const SinkDoubt& doubt) {
  auto sink = test.make();
  EXPECT_TRUE(sink->open());
  EXPECT_TRUE(sink->write(testing::id_name_batch(0, 2)));
  expect_committed(*sink, {}, token_of("1"));
  test.expects(0, 2);
  EXPECT_TRUE(sink->write(testing::id_name_batch(2, 3)));
  const Heal heal = doubt.make();
  auto answer = sink->commit(token_of("1"), token_of("2"));
  heal();
  EXPECT_TRUE(answer && std::holds_alternative<Unknown>(*answer)) << "the fault is none";
  return sink;
}

inline void check_doubt(const SinkUnderTest& under_test) {
  const SinkDoubt* doubt = under_test.doubt.of("a commit without a clean answer");
  if (doubt == nullptr) return;
  {
    SinkCase test(under_test, "a commit without a clean answer");
    auto sink = in_doubt(test, *doubt);
    auto stored = sink->stored_token();
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_EQ(stored->entries, token_of(doubt->happens ? "2" : "1").entries);
    if (!doubt->happens) expect_committed(*sink, token_of("1"), token_of("2"));
    test.expects(2, 3);
    test.check("each row once");
    ASSERT_TRUE(sink->write(testing::id_name_batch(5, 1)));
    expect_committed(*sink, token_of("2"), token_of("3"));
    test.expects(5, 1);
    test.check("the next commit has its own rows only");
    sink->close();
  }
  SinkCase test(under_test, "a commit without a clean answer, and another writer");
  auto sink = in_doubt(test, *doubt);
  auto other = test.make();
  auto stored = other->open();
  ASSERT_TRUE(stored) << stored.error().message;
  if (doubt->happens) test.expects(2, 3);
  ASSERT_TRUE(other->write(testing::id_name_batch(10, 2)));
  expect_committed(*other, *stored, token_of("9"));
  test.expects(10, 2);
  auto found = sink->stored_token();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->entries, token_of("9").entries);
  ASSERT_TRUE(sink->abort());
  ASSERT_TRUE(sink->write(testing::id_name_batch(20, 1)));
  expect_committed(*sink, token_of("9"), token_of("10"));
  test.expects(20, 1);
  test.check_unordered("what another writer overtook is dropped");
  sink->close();
  other->close();
}

inline void check_two_writers(const SinkUnderTest& under_test) {
  if (under_test.two_writers.of("two writers") == nullptr) return;
  SinkCase test(under_test, "two writers");
  auto first = test.make();
  auto second = test.make();
  ASSERT_TRUE(first->open());
  ASSERT_TRUE(second->open());
  ASSERT_TRUE(first->write(testing::id_name_batch(0, 2)));
  ASSERT_TRUE(second->write(testing::id_name_batch(10, 2)));
  expect_committed(*second, {}, token_of("b"));
  test.expects(10, 2);
  auto result = first->commit({}, token_of("a"));
  ASSERT_TRUE(result);
  if (!first->traits().holds_token) {
    EXPECT_TRUE(std::holds_alternative<Committed>(*result));
    test.expects(0, 2);
    test.check_unordered("both writers' rows");
    first->close();
    second->close();
    return;
  }
  const auto* moved = std::get_if<Moved>(&*result);
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(moved->stored.entries, token_of("b").entries);
  test.check_unordered("the first writer's rows never appear");
  ASSERT_TRUE(first->write(testing::id_name_batch(20, 1)));
  expect_committed(*first, token_of("b"), token_of("c"));
  test.expects(20, 1);
  test.check_unordered("it goes on from what stands there");
  ASSERT_TRUE(second->write(testing::id_name_batch(30, 1)));
  auto kept = second->commit({}, Token{{{"q", "1"}}});
  ASSERT_TRUE(kept);
  ASSERT_TRUE(std::holds_alternative<Committed>(*kept));
  EXPECT_EQ(std::get<Committed>(*kept).stored.entries, (Positions{{"p", "c"}, {"q", "1"}}));
  test.expects(30, 1);
  test.check_unordered("other partitions' positions are kept");
  first->close();
  second->close();
}

inline void check_sink(const SinkUnderTest& under_test) {
  check_commits(under_test);
  check_refused(under_test);
  check_dead(under_test);
  check_doubt(under_test);
  check_two_writers(under_test);
}

}  // namespace aqueduck::conformance
