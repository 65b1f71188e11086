#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "component/token.h"
#include "pipeline/stats.h"

namespace aqueduck::pipeline {

/// A partition that a worker owns, as of a snapshot.
struct PartitionSnapshot {
  std::string read;                      ///< the next position that the source gives
  std::optional<std::string> committed;  ///< where a restart would resume
  std::optional<std::string> end;        ///< where its data end, if the source has said
  /// From `committed` to `end` in the source's unit (Kafka: messages), where both are whole numbers.
  std::optional<std::uint64_t> lag;
};

/// Stats as plain values, of one worker or of several together.
struct StatsSnapshot {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t rows_decoded = 0;
  std::uint64_t rows_written = 0;
  std::uint64_t batches = 0;
  std::uint64_t commits = 0;
  std::uint64_t commits_moved = 0;
  std::uint64_t decode_failures = 0;
  std::uint64_t sql_failures = 0;
  std::uint64_t skipped = 0;
  std::uint64_t dead_letters = 0;
  std::uint64_t retries = 0;
  std::uint64_t progress = 0;
  std::uint64_t total = 0;
  std::uint64_t queued_messages = 0;
  std::uint64_t queued_bytes = 0;
  std::uint64_t uncommitted_rows = 0;
  std::uint64_t uncommitted_bytes = 0;
  std::int64_t last_commit = 0;  ///< seconds since 1970, of the worker that committed last
  std::string last_error;        ///< the newest
  std::int64_t last_error_at = 0;
  std::map<std::string, PartitionSnapshot, std::less<>> partitions;
  Positions committed;                    ///< also of partitions that are no longer ours
  std::vector<Condition::Value> workers;  ///< in their order
};

/// A position as a number, where it is one and nothing else.
std::optional<std::uint64_t> position_number(std::string_view position);

StatsSnapshot snapshot(const Stats& stats);
/// Sums, and what is newest; partitions of all.
StatsSnapshot merged(std::span<const StatsSnapshot> workers);
/// One line of JSON with every counter: what `run --stats-json` writes.
std::string to_json(const StatsSnapshot& stats, const std::string& pipeline, double seconds);
/// Puts what Source::position() said into the partitions, and the lag that follows.
void set_ends(StatsSnapshot& snapshot, const Positions& ends);

}  // namespace aqueduck::pipeline
