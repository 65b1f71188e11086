#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "component/sink.h"
#include "component/source.h"

namespace aqueduck::test {

/// A source that plays a script of steps, and remembers what it was told. Rows are one BIGINT column `v`.
class FakeSource : public Source {
 public:
  using Step = std::function<Result<SourceEvent>()>;

  SourceTraits traits() const override { return traits_value; }
  Result<void> open() override {
    opened += 1;
    if (!open_errors.empty()) {
      Error error = open_errors.front();
      open_errors.pop_front();
      return fail(std::move(error));
    }
    return {};
  }
  Result<SourceEvent> read(const ReadLimits& limits) override;
  Result<void> start_at(const Positions& positions) override {
    starts.push_back(positions);
    if (on_start) on_start(positions);
    return {};
  }
  Result<void> acknowledge(const Acknowledgement& acknowledgement) override {
    if (!acknowledgement.positions.empty() || acknowledgement.outcomes.empty()) {
      acknowledged.push_back(acknowledgement.positions);
    }
    outcomes.insert(outcomes.end(), acknowledgement.outcomes.begin(), acknowledgement.outcomes.end());
    return {};
  }
  Result<Positions> position() override { return Positions{}; }
  void close() override { closed += 1; }

  SourceTraits traits_value = [] {
    SourceTraits traits;
    traits.replayable = true;
    return traits;
  }();
  std::deque<Step> steps;
  std::deque<Error> open_errors;
  std::function<void(const Positions&)> on_start;
  std::vector<Positions> starts;
  std::vector<Positions> acknowledged;
  std::vector<GroupOutcome> outcomes;  ///< of all acknowledgements
  std::vector<std::size_t> asked_for;  ///< ReadLimits::max_messages
  FakeClock* clock = nullptr;          ///< moved to the deadline where nothing came
  int opened = 0;
  int closed = 0;
};

/// What memory sinks store: survives the sink, like a table.
struct MemoryTable {
  Token token;
  std::vector<std::int64_t> rows;
  std::vector<std::size_t> commits;  ///< rows of each
};

/// A sink that holds tokens, and fails on request.
class MemorySink : public Sink {
 public:
  explicit MemorySink(MemoryTable& table) : table_(table) {}

  SinkTraits traits() const override { return traits_value; }
  Result<Token> open() override { return table_.token; }
  Result<void> write(const RecordBatch& batch) override;
  Result<CommitResult> commit(const Token& expected, const Token& next) override;
  Result<void> abort() override {
    if (!abort_errors.empty()) {
      Error error = std::move(abort_errors.front());
      abort_errors.pop_front();
      return fail(std::move(error));
    }
    uncommitted_.clear();
    return {};
  }
  Result<Token> stored_token() override { return table_.token; }
  std::optional<std::uint64_t> uncommitted_bytes() const override {
    return row_bytes ? std::optional(*row_bytes * uncommitted_.size()) : std::nullopt;
  }
  void close() override { uncommitted_.clear(); }

  SinkTraits traits_value{.holds_token = true, .commit = {}, .guarantee = {}};
  std::optional<std::uint64_t> row_bytes;  ///< by which it measures; without it, it doesn't
  std::deque<Error> write_errors;
  std::deque<Error> commit_errors;
  std::deque<Error> abort_errors;
  enum class Answer { clean, unknown_done, unknown_not_done };
  std::deque<Answer> answers;
  std::function<void()> before_commit;
  std::function<void()> before_write;

 private:
  MemoryTable& table_;
  std::vector<std::int64_t> uncommitted_;
};

/// A batch of one BIGINT column `v`.
RecordBatch int_batch(const std::vector<std::int64_t>& values);
/// A chunk of such rows; partition "p" resumes at `next`.
Chunk int_chunk(const std::vector<std::int64_t>& values, const std::string& partition, const std::string& next);

}  // namespace aqueduck::test
