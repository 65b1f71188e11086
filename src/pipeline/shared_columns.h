#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace aqueduck::pipeline {

/// The decoder's saved columns, as the workers of a run share them: the first worker that sees data infers them while
/// it holds the lock, the others begin with those, and what one finds later reaches all. Thread-safe.
class SharedColumns {
 public:
  explicit SharedColumns(std::string saved = {}) : saved_(std::move(saved)) {}

  /// Grows with every publish(); 0 as long as there was none.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

  /// Whoever holds it may look and publish.
  class Hold {
   public:
    explicit Hold(SharedColumns& columns) : columns_(columns), lock_(columns.mutex_) {}
    const std::string& saved() const { return columns_.saved_; }
    std::uint64_t version() const { return columns_.version(); }
    /// Returns the new version.
    std::uint64_t publish(std::string saved) {
      columns_.saved_ = std::move(saved);
      return columns_.version_.fetch_add(1, std::memory_order_acq_rel) + 1;
    }

   private:
    SharedColumns& columns_;
    std::unique_lock<std::mutex> lock_;
  };

 private:
  std::mutex mutex_;
  std::string saved_;
  std::atomic<std::uint64_t> version_{0};
};

}  // namespace aqueduck::pipeline
