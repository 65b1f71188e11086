#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "columnar/json_text.h"
#include "component/source.h"
#include "tests/support/asked.h"

/// What every source must do, whatever it reads. A connector's test calls check_source() with how to make a source over
/// the same data each time, and which real faults can be made there.
namespace aqueduck::conformance {

using MakeSource = std::function<std::unique_ptr<Source>()>;

struct SourceFault {
  std::function<Heal()> make;
  ErrorKind kind = ErrorKind::io;
};

struct SourceUnderTest {
  MakeSource make;
  std::vector<std::string> expected;  ///< what it gives, in order, before it ends
  Asked<bool> opens_again;            ///< true: a source that was closed begins again
  Asked<SourceFault> dead;            ///< nobody is there when it is opened
  Asked<SourceFault> dies;            ///< … when a chunk was read
  Asked<MakeSource> waits;            ///< makes a source that has nothing to give just now
};

/// One message or row as text, with the positions of the chunk that brought it.
struct Item {
  std::string text;
  Positions next;
};

struct SourceRun {
  std::vector<Item> items;
  Positions next;                     ///< after the last chunk
  std::vector<Positions> boundaries;  ///< after each chunk
  bool ended = false;
};

inline ReadLimits limits(std::chrono::milliseconds wait, std::size_t most = SIZE_MAX, std::stop_token stop = {}) {
  return {std::chrono::steady_clock::now() + wait, most, std::move(stop)};
}

inline void collect(const Chunk& chunk, SourceRun& run) {
  for (const auto& [name, position] : chunk.next) run.next[name] = position;
  if (const auto* messages = std::get_if<Messages>(&chunk.data)) {
    for (const Message& message : messages->items) run.items.push_back({std::string(message.payload), run.next});
  } else {
    std::string text;
    ASSERT_TRUE(append_json_lines(std::get<RecordBatch>(chunk.data), text));
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      run.items.push_back({text.substr(at, end - at), run.next});
      at = end + 1;
    }
  }
  run.boundaries.push_back(run.next);
}

/// Reads until the end or `chunks` chunks; partitions begin at `from` where it names them.
inline SourceRun drain(Source& source, const Positions& from = {}, std::size_t most = SIZE_MAX,
                       std::size_t chunks = SIZE_MAX, int patience = 100) {
  SourceRun run;
  run.next = from;
  for (int idle = 0; idle < patience && run.boundaries.size() < chunks;) {
    auto event = source.read(limits(std::chrono::milliseconds(100), most));
    if (!event) {
      ADD_FAILURE() << event.error().message;
      return run;
    }
    if (std::holds_alternative<End>(*event)) {
      run.ended = true;
      return run;
    }
    if (const auto* assigned = std::get_if<Assigned>(&*event)) {
      Positions start;
      for (const auto& [name, position] : from) {
        if (assigned->start.contains(name)) start[name] = position;
      }
      const auto started = source.start_at(start);
      EXPECT_TRUE(started) << (started ? "" : started.error().message);
      if (!started) return run;
    } else if (const auto* chunk = std::get_if<Chunk>(&*event)) {
      collect(*chunk, run);
      std::size_t size = 0;
      if (const auto* messages = std::get_if<Messages>(&chunk->data)) size = messages->items.size();
      if (const auto* batch = std::get_if<RecordBatch>(&chunk->data)) size = static_cast<std::size_t>(batch->rows());
      EXPECT_LE(size, most);
    } else {
      ++idle;
    }
  }
  return run;
}

inline std::vector<std::string> texts(const SourceRun& run, std::size_t from = 0) {
  std::vector<std::string> out;
  for (std::size_t i = from; i < run.items.size(); ++i) out.push_back(run.items[i].text);
  return out;
}

inline void expect_no_data(Source& source, const char* when) {
  for (int i = 0; i < 3; ++i) {
    auto event = source.read(limits(std::chrono::milliseconds(1)));
    EXPECT_FALSE(event && std::holds_alternative<Chunk>(*event)) << when;
  }
}

/// Reads on until an error comes; what comes before it is added to `run`.
inline std::optional<Error> next_error(Source& source, SourceRun& run, std::size_t most) {
  for (int i = 0; i < 200; ++i) {
    auto event = source.read(limits(std::chrono::milliseconds(50), most));
    if (!event) return event.error();
    if (std::holds_alternative<End>(*event)) return std::nullopt;
    if (const auto* assigned = std::get_if<Assigned>(&*event)) {
      if (auto started = source.start_at(assigned->start); !started) return started.error();
    }
    if (const auto* chunk = std::get_if<Chunk>(&*event)) collect(*chunk, run);
  }
  return std::nullopt;
}

constexpr std::size_t kFew = 3;

inline void check_reads(const SourceUnderTest& under_test) {
  SCOPED_TRACE("reads everything, then nothing but End; opens again");
  auto source = under_test.make();
  const int times = under_test.opens_again.of("opens again") != nullptr ? 2 : 1;
  for (int time = 0; time < times; ++time) {
    ASSERT_TRUE(source->open());
    const SourceRun run = drain(*source);
    EXPECT_TRUE(run.ended);
    EXPECT_EQ(texts(run), under_test.expected);
    for (int i = 0; i < 3; ++i) {
      auto event = source->read(limits(std::chrono::milliseconds(10)));
      ASSERT_TRUE(event);
      EXPECT_TRUE(std::holds_alternative<End>(*event));
    }
    source->close();
  }
}

inline void check_resumes(const SourceUnderTest& under_test) {
  auto first = under_test.make();
  ASSERT_TRUE(first->open());
  const SourceRun whole = drain(*first, {}, kFew);
  EXPECT_EQ(texts(whole), under_test.expected);
  EXPECT_TRUE(first->acknowledge({whole.next, {}}));
  first->close();
  if (!first->traits().replayable) return;
  SCOPED_TRACE("resumes with exactly the rest after every chunk");
  std::size_t seen = 0;
  for (const Positions& boundary : whole.boundaries) {
    while (seen < whole.items.size() && whole.items[seen].next == boundary) ++seen;
    auto source = under_test.make();
    ASSERT_TRUE(source->open());
    const SourceRun rest = drain(*source, boundary, kFew);
    EXPECT_EQ(texts(rest), texts(whole, seen));
    EXPECT_TRUE(rest.ended);
    source->close();
  }
}

inline void check_closes(const SourceUnderTest& under_test) {
  SCOPED_TRACE("no row after close, none before start_at()");
  auto source = under_test.make();
  ASSERT_TRUE(source->open());
  const SourceRun begun = drain(*source, {}, 1, 1);
  source->close();
  expect_no_data(*source, "after close");
  if (under_test.opens_again.of("no row before start_at()") == nullptr) return;
  ASSERT_TRUE(source->open());
  bool assigned = false;
  for (int i = 0; i < 100 && !assigned; ++i) {
    auto event = source->read(limits(std::chrono::milliseconds(100)));
    ASSERT_TRUE(event);
    ASSERT_FALSE(std::holds_alternative<Chunk>(*event));
    assigned = std::holds_alternative<Assigned>(*event);
  }
  ASSERT_TRUE(assigned);
  expect_no_data(*source, "before start_at()");
  source->close();
}

inline void check_dead(const SourceUnderTest& under_test) {
  const SourceFault* fault = under_test.dead.of("a dead peer");
  if (fault == nullptr) return;
  SCOPED_TRACE("a dead peer");
  auto source = under_test.make();
  const Heal heal = fault->make();
  for (int i = 0; i < 2; ++i) {
    auto opened = source->open();
    SourceRun nothing;
    const auto error = opened ? next_error(*source, nothing, kFew) : opened.error();
    ASSERT_TRUE(error) << "the fault is none";
    EXPECT_EQ(name(error->kind), name(fault->kind)) << error->message;
    EXPECT_TRUE(nothing.items.empty());
  }
  source->close();
  heal();
  auto opened = source->open();
  for (int i = 0; !opened && i < 20; ++i) opened = source->open();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(texts(drain(*source)), under_test.expected);
  source->close();
}

inline void check_dies(const SourceUnderTest& under_test) {
  const SourceFault* fault = under_test.dies.of("a peer that dies");
  if (fault == nullptr) return;
  SCOPED_TRACE("a peer that dies");
  auto source = under_test.make();
  ASSERT_TRUE(source->open());
  SourceRun run = drain(*source, {}, kFew, 1);
  const Heal heal = fault->make();
  const auto error = next_error(*source, run, kFew);
  heal();
  ASSERT_TRUE(error) << "the fault is none";
  EXPECT_EQ(name(error->kind), name(fault->kind)) << error->message;
  // As the pipeline does it: the same read again.
  for (int i = 0; i < 100 && texts(run).size() < under_test.expected.size(); ++i) {
    if (!next_error(*source, run, kFew)) break;
  }
  EXPECT_EQ(texts(run), under_test.expected) << "everything once";
  source->close();
}

/// Whether a thread of this process sleeps.
inline bool asleep(pid_t thread) {
  std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && text[name_end + 2] == 'S';
}

inline void check_stops(const SourceUnderTest& under_test) {
  constexpr std::chrono::hours kForever{1};  // who waits so long is ended by the test's time limit
  {
    SCOPED_TRACE("a stop that was asked for before");
    auto source = under_test.make();
    ASSERT_TRUE(source->open());
    std::stop_source stop;
    stop.request_stop();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(source->read(limits(kForever, 1, stop.get_token())));
    source->close();
    if (under_test.opens_again.of("opens again after a stop") != nullptr) {
      ASSERT_TRUE(source->open());
      EXPECT_EQ(texts(drain(*source)), under_test.expected);
      source->close();
    }
  }
  const MakeSource* waits = under_test.waits.of("a stop while it waits");
  if (waits == nullptr) return;
  SCOPED_TRACE("a stop while it waits");
  auto source = (*waits)();
  ASSERT_TRUE(source->open());
  EXPECT_TRUE(drain(*source, {}, SIZE_MAX, SIZE_MAX, 2).items.empty()) << "it has something to give";
  std::stop_source stop;
  const pid_t reader = ::gettid();
  std::jthread stopper([&](const std::stop_token& over) {
    while (!asleep(reader) && !over.stop_requested()) std::this_thread::yield();
    stop.request_stop();
  });
  auto event = source->read(limits(kForever, SIZE_MAX, stop.get_token()));
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_TRUE(std::holds_alternative<Idle>(*event));
  source->close();
}

/// Everything that a source must do.
inline void check_source(const SourceUnderTest& under_test) {
  check_reads(under_test);
  check_resumes(under_test);
  check_closes(under_test);
  check_stops(under_test);
  check_dead(under_test);
  check_dies(under_test);
}

}  // namespace aqueduck::conformance
