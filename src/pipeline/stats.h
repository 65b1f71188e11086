#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "component/token.h"
#include "pipeline/condition.h"

namespace aqueduck::pipeline {

/// Counters of one run: written by its worker, read by anybody at any time.
struct Stats {
  std::atomic<std::uint64_t> messages{0};  ///< read from the source
  std::atomic<std::uint64_t> bytes{0};     ///< of their payloads
  std::atomic<std::uint64_t> rows_decoded{0};
  std::atomic<std::uint64_t> rows_written{0};  ///< handed to the sink
  std::atomic<std::uint64_t> batches{0};
  std::atomic<std::uint64_t> commits{0};
  std::atomic<std::uint64_t> commits_moved{0};  ///< refused: another writer owned the data
  std::atomic<std::uint64_t> decode_failures{0};
  std::atomic<std::uint64_t> sql_failures{0};  ///< batches
  std::atomic<std::uint64_t> skipped{0};       ///< messages left out by policy `skip`
  std::atomic<std::uint64_t> dead_letters{0};  ///< messages
  std::atomic<std::uint64_t> retries{0};
  std::atomic<std::uint64_t> progress{0};         ///< of a finite source, in its unit
  std::atomic<std::uint64_t> total{0};            ///< 0: not known
  std::atomic<std::uint64_t> queued_messages{0};  ///< of the batch that is being collected
  std::atomic<std::uint64_t> queued_bytes{0};
  std::atomic<std::uint64_t> uncommitted_rows{0};  ///< written to the sink since its last commit
  std::atomic<std::uint64_t> uncommitted_bytes{0};
  std::atomic<std::int64_t> last_commit{0};  ///< seconds since 1970; 0: none yet

  Condition condition;

  /// What is harder to read at once: behind a lock.
  struct Detail {
    std::string last_error;
    std::int64_t last_error_at = 0;  ///< seconds since 1970
    Positions committed;             ///< per partition, what the sink has committed
    Positions read;                  ///< per partition that is ours, what the source has given
  };
  Detail detail() const {
    const std::lock_guard lock(mutex);
    return details;
  }
  void set_error(std::string text) {
    const std::lock_guard lock(mutex);
    details.last_error = std::move(text);
    details.last_error_at = seconds_now();
  }
  void set_committed(const Positions& positions) {
    const std::lock_guard lock(mutex);
    for (const auto& [partition, position] : positions) details.committed.insert_or_assign(partition, position);
  }
  void set_read(const Positions& positions) {
    const std::lock_guard lock(mutex);
    for (const auto& [partition, position] : positions) details.read.insert_or_assign(partition, position);
  }
  /// The partition is no longer ours.
  void forget(const std::string& partition) {
    const std::lock_guard lock(mutex);
    details.read.erase(partition);
  }
  static std::int64_t seconds_now() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  mutable std::mutex mutex;
  Detail details;
};

}  // namespace aqueduck::pipeline
