// The suites themselves: a component with one of the faults that they look for must not pass.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "columnar/json_text.h"
#include "tests/support/conformance_sink.h"
#include "tests/support/conformance_source.h"

namespace aqueduck::conformance {
namespace {

constexpr const char* kNone = "has no such fault";

/// A place with a token, and what can be wrong about it.
struct Place {
  std::vector<RecordBatch> rows;
  Token token;
  bool full = false;
  bool away = false;
  bool mumbles = false;  ///< the answer to the next commit gets lost
};

/// A sink in memory with at most one fault.
class FaultySink final : public Sink {
 public:
  enum class Fault { none, loses, repeats, keeps_after_close, ignores_token, wrong_kind, keeps_after_doubt };
  FaultySink(Place& place, Fault fault) : place_(place), fault_(fault) {}

  SinkTraits traits() const override { return {.holds_token = true, .commit = {}, .guarantee = {}}; }
  Result<Token> open() override {
    const ErrorKind kind = fault_ == Fault::wrong_kind ? ErrorKind::internal : ErrorKind::unavailable;
    if (place_.away) return fail(kind, "away");
    return place_.token;
  }
  Result<void> write(const RecordBatch& batch) override {
    waiting_.push_back(batch);
    return {};
  }
  Result<CommitResult> commit(const Token& expected, const Token& next) override {
    if (place_.full) {
      if (fault_ == Fault::loses) waiting_.clear();
      if (fault_ == Fault::repeats && !waiting_.empty()) waiting_.push_back(waiting_.front());
      return fail(ErrorKind::limit, "full");
    }
    if (fault_ != Fault::ignores_token && !place_.token.matches(expected, next)) {
      waiting_.clear();
      return Moved{place_.token};
    }
    place_.rows.insert(place_.rows.end(), waiting_.begin(), waiting_.end());
    place_.token = place_.token.merged(next);
    if (place_.mumbles) return Unknown{make_error(ErrorKind::unavailable, "lost")};
    waiting_.clear();
    return Committed{place_.token};
  }
  Result<void> abort() override {
    waiting_.clear();
    return {};
  }
  Result<Token> stored_token() override {
    if (fault_ != Fault::keeps_after_doubt) waiting_.clear();
    return place_.token;
  }
  void close() override {
    if (fault_ != Fault::keeps_after_close) waiting_.clear();
  }

 private:
  Place& place_;
  Fault fault_;
  std::vector<RecordBatch> waiting_;
};

SinkUnderTest under_test(FaultySink::Fault fault) {
  static Place place;
  const auto rows = [] {
    std::string text;
    for (const RecordBatch& batch : place.rows) EXPECT_TRUE(append_json_lines(batch, text));
    return testing::split_lines(text);
  };
  const auto with = [](bool Place::* what) {
    return [what] {
      place.*what = true;
      return [what] { place.*what = false; };
    };
  };
  return {[] { place = {}; },
          [fault] { return std::make_unique<FaultySink>(place, fault); },
          {rows},
          {{with(&Place::full), ErrorKind::limit}},
          {{with(&Place::away), ErrorKind::unavailable}},
          {{with(&Place::mumbles), true}},
          true};
}

TEST(Conformance, ASinkWithoutAFaultPasses) { check_sink(under_test(FaultySink::Fault::none)); }

TEST(Conformance, SinksWithAFaultDoNot) {
  using Fault = FaultySink::Fault;
  for (const Fault fault : {Fault::loses, Fault::repeats, Fault::keeps_after_close, Fault::ignores_token,
                            Fault::wrong_kind, Fault::keeps_after_doubt}) {
    ::testing::TestPartResultArray found;
    {
      const ::testing::ScopedFakeTestPartResultReporter reporter(
          ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
      check_sink(under_test(fault));
    }
    EXPECT_GT(found.size(), 0) << static_cast<int>(fault) << kNone;
  }
}

/// Gives 1 … 5, one a read.
class FaultySource final : public Source {
 public:
  enum class Fault { none, after_close, before_start, loses_when_away, wrong_kind };
  FaultySource(bool& away, Fault fault) : away_(away), fault_(fault) {}

  SourceTraits traits() const override {
    SourceTraits traits;
    traits.finite = traits.replayable = true;
    return traits;
  }
  Result<void> open() override {
    open_ = true;
    told_ = started_ = false;
    return {};
  }
  Result<SourceEvent> read(const ReadLimits& limits) override {
    if (away_) {
      if (fault_ == Fault::loses_when_away && started_) next_ += 1;
      return fail(fault_ == Fault::wrong_kind ? ErrorKind::internal : ErrorKind::unavailable, "away");
    }
    if (!open_ && fault_ != Fault::after_close) return Idle{};
    if (limits.stop.stop_requested()) return Idle{};
    if (open_ && !std::exchange(told_, true)) return Assigned{{{"p", "0"}}, {}};
    if (open_ && !started_ && fault_ != Fault::before_start) return Idle{};
    if (next_ >= 5) return End{};
    Messages out;
    auto text = std::make_shared<std::string>(std::to_string(++next_));
    Message message;
    message.payload = *text;
    out.items.push_back(message);
    out.owner = text;
    return Chunk{std::move(out), {{"p", std::to_string(next_)}}};
  }
  Result<void> start_at(const Positions& positions) override {
    started_ = true;
    next_ = positions.contains("p") ? std::stoi(positions.at("p")) : 0;
    return {};
  }
  Result<void> acknowledge(const Acknowledgement& /*acknowledgement*/) override { return {}; }
  Result<Positions> position() override { return Positions{}; }
  void close() override { open_ = false; }

 private:
  bool& away_;
  Fault fault_;
  bool open_ = false;
  bool told_ = false;
  bool started_ = false;
  int next_ = 0;
};

SourceUnderTest under_test(FaultySource::Fault fault) {
  static bool away = false;
  const auto go_away = [] {
    away = true;
    return [] { away = false; };
  };
  return {[fault] { return std::make_unique<FaultySource>(away, fault); },
          {"1", "2", "3", "4", "5"},
          true,
          {{go_away, ErrorKind::unavailable}},
          {{go_away, ErrorKind::unavailable}},
          Inapplicable{"it doesn't wait"}};
}

TEST(Conformance, ASourceWithoutAFaultPasses) { check_source(under_test(FaultySource::Fault::none)); }

TEST(Conformance, SourcesWithAFaultDoNot) {
  using Fault = FaultySource::Fault;
  for (const Fault fault : {Fault::after_close, Fault::before_start, Fault::loses_when_away, Fault::wrong_kind}) {
    ::testing::TestPartResultArray found;
    {
      const ::testing::ScopedFakeTestPartResultReporter reporter(
          ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
      check_source(under_test(fault));
    }
    EXPECT_GT(found.size(), 0) << static_cast<int>(fault) << kNone;
  }
}

}  // namespace
}  // namespace aqueduck::conformance
