#pragma once

#include <mutex>
#include <string>

namespace aqueduck::pipeline {

enum class Phase { starting, running, draining, stopped, failed };  ///< only ever goes on, in this order

/// How a worker is doing, for who watches over it: set by the worker, read by anybody. Thread-safe.
class Condition {
 public:
  struct Value {
    Phase phase = Phase::starting;
    bool assigned = false;    ///< the source has said which partitions are this worker's
    std::string waiting_for;  ///< what can't be reached now and is tried again: empty where all is well
  };

  Value get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  /// A phase that lies behind is not gone back to.
  void advance(Phase phase) {
    const std::lock_guard lock(mutex_);
    if (phase > value_.phase) value_.phase = phase;
  }
  void set_assigned() {
    const std::lock_guard lock(mutex_);
    value_.assigned = true;
  }
  void wait_for(std::string what) {
    const std::lock_guard lock(mutex_);
    value_.waiting_for = std::move(what);
  }
  void clear_waiting() { wait_for({}); }

 private:
  mutable std::mutex mutex_;
  Value value_;
};

}  // namespace aqueduck::pipeline
