#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "pipeline/definition.h"
#include "pipeline/stats.h"

namespace aqueduck::pipeline {

/// What of a sink's errors can heal by itself: unavailable peers and full disks.
inline bool sink_can_heal(ErrorKind kind) { return kind == ErrorKind::unavailable || kind == ErrorKind::limit; }
/// The same of a source: a limit that its data break stays broken.
inline bool source_can_heal(ErrorKind kind) { return kind == ErrorKind::unavailable; }

/// Waits between attempts: doubling up to a maximum, each between half and the whole of its length. One thread.
class Backoff {
 public:
  Backoff(const RetryConfig& config, Clock& clock) : config_(config), clock_(clock), random_(std::random_device{}()) {}

  void reset() {
    wait_ = Duration{0};
    since_.reset();
  }
  /// False where it is time to give up, `until` has come, or a stop was asked for.
  bool wait(const std::stop_token& stop, std::optional<Clock::Point> until = std::nullopt) {
    const auto now = clock_.now();
    if (until && now >= *until) return false;
    if (!since_) since_ = now;
    if (config_.give_up_after && now - *since_ >= *config_.give_up_after) return false;
    wait_ = wait_.count() == 0 ? config_.initial : std::min(wait_ * 2, config_.max);
    const auto half = wait_.count() / 2;
    const Duration jittered{half + std::uniform_int_distribution<std::int64_t>(0, half)(random_)};
    const auto due = now + jittered;
    return clock_.sleep_until(until ? std::min(due, *until) : due, stop);
  }

 private:
  RetryConfig config_;
  Clock& clock_;
  std::minstd_rand random_;
  Duration wait_{0};
  std::optional<Clock::Point> since_;
};

/// When retrying ends before its configuration says so.
struct RetryLimit {
  std::stop_token stop;
  std::optional<Clock::Point> until;  ///< an attempt that runs then is not cut short
};

/// Calls `attempt` until it succeeds, fails for good, or the backoff gives up; the last error then. Each failure is
/// logged with `what`, counted, and stands as what is waited for until it is over.
template <typename T>
Result<T> with_retries(const RetryConfig& config, Clock& clock, const RetryLimit& limit, Stats& stats,
                       std::string_view what, const std::function<Result<T>()>& attempt,
                       bool (*can_heal)(ErrorKind) = sink_can_heal) {
  Backoff backoff(config, clock);
  bool waited = false;
  while (true) {
    auto result = attempt();
    if (result) {
      if (waited) stats.condition.clear_waiting();
      return result;
    }
    stats.set_error(std::string(what) + ": " + result.error().message);
    if (!can_heal(result.error().kind) || limit.stop.stop_requested()) return result;
    stats.retries += 1;
    log::warn("{}: {}; trying again", what, result.error().message);
    stats.condition.wait_for(fmt::format("{}: {}", what, result.error().message));
    waited = true;
    if (!backoff.wait(limit.stop, limit.until)) return result;
  }
}

}  // namespace aqueduck::pipeline
