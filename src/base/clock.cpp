#include "base/clock.h"

namespace aqueduck {
namespace {

class SystemClock : public Clock {
 public:
  Point now() const override { return std::chrono::steady_clock::now(); }
  bool sleep_until(Point point, const std::stop_token& stop) override {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait_until(lock, stop, point, [] { return false; });
    return !stop.stop_requested();
  }
};

}  // namespace

Clock& Clock::system() {
  static SystemClock clock;
  return clock;
}

}  // namespace aqueduck
