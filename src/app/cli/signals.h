#pragma once

#include <functional>
#include <thread>

namespace aqueduck::app {

/// SIGTERM and SIGINT while it lives: the first calls `stop` (on a thread of its own), the second ends the process at
/// once with `exit_code`. Make it before other threads, which inherit the blocked signals.
class StopSignals {
 public:
  StopSignals(std::function<void()> stop, int exit_code);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace aqueduck::app
