#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "component/token.h"

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
  std::atomic<std::uint64_t> progress{0};  ///< of a finite source, in its unit
  std::atomic<std::uint64_t> total{0};     ///< 0: not known

  /// What is harder to read at once: behind a lock.
  struct Detail {
    std::string last_error;
    Positions committed;  ///< per partition, what the sink has committed
  };
  Detail detail() const {
    const std::lock_guard lock(mutex);
    return details;
  }
  void set_error(std::string text) {
    const std::lock_guard lock(mutex);
    details.last_error = std::move(text);
  }
  void set_committed(const Positions& positions) {
    const std::lock_guard lock(mutex);
    for (const auto& [partition, position] : positions) details.committed.insert_or_assign(partition, position);
  }

  mutable std::mutex mutex;
  Detail details;
};

/// One line of JSON with every counter: what `run --stats-json` writes.
std::string to_json(const Stats& stats, const std::string& pipeline, double seconds);

}  // namespace aqueduck::pipeline
