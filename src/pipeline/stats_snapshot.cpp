#include "pipeline/stats_snapshot.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace aqueduck::pipeline {

std::optional<std::uint64_t> position_number(std::string_view position) {
  std::uint64_t out = 0;
  const auto read = std::from_chars(position.begin(), position.end(), out);
  if (position.empty() || read.ec != std::errc() || read.ptr != position.end()) return std::nullopt;
  return out;
}

StatsSnapshot snapshot(const Stats& stats) {
  StatsSnapshot out;
  // What is counted last is read first: a message is never seen written before it is seen read.
  out.commits = stats.commits;
  out.commits_moved = stats.commits_moved;
  out.batches = stats.batches;
  out.rows_written = stats.rows_written;
  out.rows_decoded = stats.rows_decoded;
  out.decode_failures = stats.decode_failures;
  out.sql_failures = stats.sql_failures;
  out.skipped = stats.skipped;
  out.dead_letters = stats.dead_letters;
  out.messages = stats.messages;
  out.bytes = stats.bytes;
  out.retries = stats.retries;
  out.progress = stats.progress;
  out.total = stats.total;
  out.queued_messages = stats.queued_messages;
  out.queued_bytes = stats.queued_bytes;
  out.uncommitted_rows = stats.uncommitted_rows;
  out.uncommitted_bytes = stats.uncommitted_bytes;
  out.last_commit = stats.last_commit;
  auto detail = stats.detail();
  out.last_error = std::move(detail.last_error);
  out.last_error_at = detail.last_error_at;
  for (auto& [partition, position] : detail.read) {
    PartitionSnapshot& own = out.partitions[partition];
    own.read = std::move(position);
    if (const auto found = detail.committed.find(partition); found != detail.committed.end()) {
      own.committed = found->second;
    }
  }
  out.committed = std::move(detail.committed);
  out.workers.push_back(stats.condition.get());
  return out;
}

StatsSnapshot merged(std::span<const StatsSnapshot> workers) {
  StatsSnapshot out;
  for (const StatsSnapshot& one : workers) {
    for (const auto counter :
         {&StatsSnapshot::messages, &StatsSnapshot::bytes, &StatsSnapshot::rows_decoded, &StatsSnapshot::rows_written,
          &StatsSnapshot::batches, &StatsSnapshot::commits, &StatsSnapshot::commits_moved,
          &StatsSnapshot::decode_failures, &StatsSnapshot::sql_failures, &StatsSnapshot::skipped,
          &StatsSnapshot::dead_letters, &StatsSnapshot::retries, &StatsSnapshot::progress, &StatsSnapshot::total,
          &StatsSnapshot::queued_messages, &StatsSnapshot::queued_bytes, &StatsSnapshot::uncommitted_rows,
          &StatsSnapshot::uncommitted_bytes}) {
      out.*counter += one.*counter;
    }
    out.last_commit = std::max(out.last_commit, one.last_commit);
    if (!one.last_error.empty() && one.last_error_at >= out.last_error_at) {
      out.last_error = one.last_error;
      out.last_error_at = one.last_error_at;
    }
    // On its way from one worker to another, a partition may be with both: the one that has read on counts.
    for (const auto& [partition, own] : one.partitions) {
      const auto [found, added] = out.partitions.emplace(partition, own);
      if (added) continue;
      const auto before = position_number(found->second.read);
      const auto after = position_number(own.read);
      if (before && after && *after > *before) found->second = own;
    }
    for (const auto& [partition, position] : one.committed) {
      const auto [found, added] = out.committed.emplace(partition, position);
      const auto before = position_number(found->second);
      const auto after = position_number(position);
      if (!added && before && after && *after > *before) found->second = position;
    }
    out.workers.insert(out.workers.end(), one.workers.begin(), one.workers.end());
  }
  return out;
}

void set_ends(StatsSnapshot& snapshot, const Positions& ends) {
  for (auto& [partition, own] : snapshot.partitions) {
    const auto found = ends.find(partition);
    if (found == ends.end()) continue;
    own.end = found->second;
    if (!own.committed) continue;
    const auto end = position_number(found->second);
    const auto committed = position_number(*own.committed);
    // The end was asked for a moment ago: what was committed since may lie behind it.
    if (end && committed) own.lag = *end > *committed ? *end - *committed : 0;
  }
}

std::string to_json(const StatsSnapshot& stats, const std::string& pipeline, double seconds) {
  nlohmann::ordered_json json;
  json["pipeline"] = pipeline;
  json["seconds"] = seconds;
  json["messages"] = stats.messages;
  json["bytes"] = stats.bytes;
  json["rows_decoded"] = stats.rows_decoded;
  json["rows_written"] = stats.rows_written;
  json["batches"] = stats.batches;
  json["commits"] = stats.commits;
  json["commits_moved"] = stats.commits_moved;
  json["decode_failures"] = stats.decode_failures;
  json["sql_failures"] = stats.sql_failures;
  json["skipped"] = stats.skipped;
  json["dead_letters"] = stats.dead_letters;
  json["retries"] = stats.retries;
  json["committed"] = stats.committed;
  if (!stats.last_error.empty()) json["last_error"] = stats.last_error;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace aqueduck::pipeline
