#include "pipeline/stats.h"

#include <nlohmann/json.hpp>

namespace aqueduck::pipeline {

std::string to_json(const Stats& stats, const std::string& pipeline, double seconds) {
  const auto detail = stats.detail();
  nlohmann::ordered_json json;
  json["pipeline"] = pipeline;
  json["seconds"] = seconds;
  json["messages"] = stats.messages.load();
  json["bytes"] = stats.bytes.load();
  json["rows_decoded"] = stats.rows_decoded.load();
  json["rows_written"] = stats.rows_written.load();
  json["batches"] = stats.batches.load();
  json["commits"] = stats.commits.load();
  json["commits_moved"] = stats.commits_moved.load();
  json["decode_failures"] = stats.decode_failures.load();
  json["sql_failures"] = stats.sql_failures.load();
  json["skipped"] = stats.skipped.load();
  json["dead_letters"] = stats.dead_letters.load();
  json["retries"] = stats.retries.load();
  json["committed"] = detail.committed;
  if (!detail.last_error.empty()) json["last_error"] = detail.last_error;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace aqueduck::pipeline
