#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/quantity.h"

namespace aqueduck::pipeline {

struct RunLimits {
  std::optional<std::uint64_t> max_messages;
  std::optional<Duration> until_idle;
};

/// How much a run may still read, counted over all its workers, and when one of them last got something. Owned by the
/// run; thread-safe.
class ReadQuota {
 public:
  ReadQuota(RunLimits limits, int workers, Clock::Point now)
      : limits_(limits), workers_(static_cast<std::uint64_t>(workers)), last_arrival_(now) {}

  /// How many of `wanted` messages a worker may read now; 0: others hold the rest, which may come back. Every
  /// reservation is settled, before the worker's next.
  std::uint64_t reserve(std::uint64_t wanted);
  void settle(std::uint64_t reserved, std::uint64_t read, Clock::Point now);
  /// Nothing is to be read any more: the limit is reached, or nothing came for `until_idle`.
  bool over(Clock::Point now) const;

 private:
  const RunLimits limits_;
  const std::uint64_t workers_;
  mutable std::mutex mutex_;
  std::uint64_t read_ = 0;
  std::uint64_t reserved_ = 0;
  Clock::Point last_arrival_;
};

}  // namespace aqueduck::pipeline
