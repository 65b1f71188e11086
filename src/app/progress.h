#pragma once

#include <functional>
#include <string>
#include <thread>

#include "pipeline/stats_snapshot.h"

namespace aqueduck::app {

/// Where the line's numbers come from; both are called from its thread.
struct ProgressFeed {
  std::function<pipeline::StatsSnapshot()> snapshot;
  std::function<Result<Positions>()> end_positions;
};

/// A line on stderr that follows a running pipeline: messages, rate, how far and how long still. Only where stderr is
/// a terminal, and not before the first second.
class Progress {
 public:
  Progress(ProgressFeed feed, std::string name);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  std::jthread thread_;
};

/// From one second's snapshot to the next: the line "events: 1_200_000 messages, 250_000/s, 40 %, 5s left" of a finite
/// source; of one without an end "…, 3_000_000 behind, 12s left", while it catches up with its peer. One thread.
class ProgressLine {
 public:
  explicit ProgressLine(std::string name) : name_(std::move(name)) {}
  /// `seconds` since the start.
  std::string next(const pipeline::StatsSnapshot& now, double seconds);

 private:
  std::string name_;
  double seconds_ = 0;
  std::uint64_t messages_ = 0;
  std::optional<std::uint64_t> lag_;
  double closing_ = 0;  ///< messages a second by which the lag gets smaller, smoothed
};

}  // namespace aqueduck::app
