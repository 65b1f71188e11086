#pragma once

#include <deque>

#include "base/clock.h"
#include "base/quantity.h"
#include "pipeline/stats_snapshot.h"

namespace aqueduck::admin {

/// Per second.
struct Rate {
  double messages = 0;
  double bytes = 0;
  double rows_written = 0;
};

/// Counters of the last minute or so, for rates. Not thread-safe; whoever owns it adds a sample about once a second.
class Rates {
 public:
  void add(Clock::Point now, const pipeline::StatsSnapshot& counters);
  /// From the youngest sample that is at least `window` old, else from the oldest, to `counters`.
  Rate over(Duration window, Clock::Point now, const pipeline::StatsSnapshot& counters) const;

 private:
  struct Sample {
    Clock::Point at;
    std::uint64_t messages;
    std::uint64_t bytes;
    std::uint64_t rows_written;
  };
  std::deque<Sample> samples_;  // oldest first
};

}  // namespace aqueduck::admin
