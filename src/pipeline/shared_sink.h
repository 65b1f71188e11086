#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "component/sink.h"

namespace aqueduck::pipeline {

/// One sink for several workers, where it can't be open twice. A worker's rows wait in its own port until it commits;
/// then the port takes its turn, hands them on, commits them, and gives the turn to the next: what others have not
/// committed is never in the sink meanwhile. A commit that fails, or whose outcome is unknown, keeps the turn until it
/// is settled or dropped. Thread-safe; outlives its ports.
class SharedSink {
 public:
  explicit SharedSink(std::unique_ptr<Sink> sink) : sink_(std::move(sink)) {}
  /// A worker's sink: one thread, as any.
  std::unique_ptr<Sink> port();

 private:
  class Port;

  /// The longest that a port waits for its turn before it answers `unavailable`.
  static constexpr std::chrono::seconds kPatience{5};

  bool opened() {
    const std::lock_guard lock(mutex_);
    return open_ > 0;
  }

  std::unique_ptr<Sink> sink_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const Port* turn_ = nullptr;
  int open_ = 0;  ///< ports
};

}  // namespace aqueduck::pipeline
