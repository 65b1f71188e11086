#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "columnar/json_text.h"
#include "component/source.h"

/// What every source must do, whatever it reads. A connector's test calls check_source() with a function that makes a
/// fresh source over the same data each time.
namespace aqueduck::conformance {

using MakeSource = std::function<std::unique_ptr<Source>()>;

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
                       std::size_t chunks = SIZE_MAX) {
  SourceRun run;
  run.next = from;
  for (int idle = 0; idle < 100 && run.boundaries.size() < chunks;) {
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

/// A finite source that gives `expected`, in order, in chunks of a few.
inline void check_source(const MakeSource& make, const std::vector<std::string>& expected) {
  constexpr std::size_t kFew = 3;
  {
    SCOPED_TRACE("reads everything, then nothing but End; opens again");
    auto source = make();
    for (int time = 0; time < 2; ++time) {
      ASSERT_TRUE(source->open());
      const SourceRun run = drain(*source);
      EXPECT_TRUE(run.ended);
      EXPECT_EQ(texts(run), expected);
      for (int i = 0; i < 3; ++i) {
        auto event = source->read(limits(std::chrono::milliseconds(10)));
        ASSERT_TRUE(event);
        EXPECT_TRUE(std::holds_alternative<End>(*event));
      }
      source->close();
    }
  }
  auto first = make();
  ASSERT_TRUE(first->open());
  const SourceRun whole = drain(*first, {}, kFew);
  EXPECT_EQ(texts(whole), expected);
  EXPECT_TRUE(first->acknowledge({whole.next, {}}));
  first->close();
  if (first->traits().replayable) {
    SCOPED_TRACE("resumes with exactly the rest after every chunk");
    std::size_t seen = 0;
    for (const Positions& boundary : whole.boundaries) {
      while (seen < whole.items.size() && whole.items[seen].next == boundary) ++seen;
      auto source = make();
      ASSERT_TRUE(source->open());
      const SourceRun rest = drain(*source, boundary, kFew);
      EXPECT_EQ(texts(rest), texts(whole, seen));
      EXPECT_TRUE(rest.ended);
      source->close();
    }
  }
  {
    SCOPED_TRACE("heeds a request to stop, and a deadline");
    auto source = make();
    ASSERT_TRUE(source->open());
    std::stop_source stop;
    stop.request_stop();
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(source->read(limits(std::chrono::seconds(60), 1, stop.get_token())));
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(2));
    source->close();
    ASSERT_TRUE(source->open());
    EXPECT_EQ(texts(drain(*source)), expected);
    source->close();
  }
}

}  // namespace aqueduck::conformance
