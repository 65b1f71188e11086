#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace aqueduck {

/// Time as a seam, so that tests can stop it. Thread-safe.
class Clock {
 public:
  using Point = std::chrono::steady_clock::time_point;
  virtual ~Clock() = default;
  virtual Point now() const = 0;
  /// Returns at `point` or when a stop is asked for; true if the time came.
  virtual bool sleep_until(Point point, const std::stop_token& stop) = 0;

  /// The machine's.
  static Clock& system();
};

/// A clock that only moves when told to; sleep_until moves it to its point at once.
class FakeClock : public Clock {
 public:
  Point now() const override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  bool sleep_until(Point point, const std::stop_token& stop) override {
    const std::lock_guard lock(mutex_);
    if (stop.stop_requested()) return false;
    if (point > now_) now_ = point;
    return true;
  }
  void advance(std::chrono::microseconds by) {
    const std::lock_guard lock(mutex_);
    now_ += by;
  }

 private:
  mutable std::mutex mutex_;
  Point now_ = Point(std::chrono::hours(1));
};

}  // namespace aqueduck
