#include "admin/pages.h"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

namespace aqueduck::admin {
namespace {

using Json = nlohmann::ordered_json;

std::string text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

// "2026-12-01T08:30:00Z"; null for 0.
Json time_of(std::int64_t seconds) {
  if (seconds <= 0) return nullptr;
  const std::time_t at = seconds;
  std::tm utc{};
  (void)::gmtime_r(&at, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

Json rate(const Rate& rate) {
  return {{"messages", rate.messages}, {"bytes", rate.bytes}, {"rows_written", rate.rows_written}};
}

Json workers(const pipeline::StatsSnapshot& stats) {
  Json out = Json::array();
  for (const auto& worker : stats.workers) {
    out.push_back({{"phase", name(worker.phase)}, {"assigned", worker.assigned}});
    out.back()["waiting_for"] = worker.waiting_for.empty() ? Json(nullptr) : Json(worker.waiting_for);
  }
  return out;
}

Json totals(const pipeline::StatsSnapshot& stats) {
  return {{"messages", stats.messages},
          {"bytes", stats.bytes},
          {"rows_decoded", stats.rows_decoded},
          {"rows_written", stats.rows_written},
          {"batches", stats.batches},
          {"commits", stats.commits},
          {"commits_moved", stats.commits_moved},
          {"decode_failures", stats.decode_failures},
          {"sql_failures", stats.sql_failures},
          {"skipped", stats.skipped},
          {"dead_letters", stats.dead_letters},
          {"retries", stats.retries}};
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

void add_partitions(const Scrape& scrape, Json& out) {
  Json partitions = Json::object();
  Json token = Json::object();
  std::optional<std::uint64_t> lag;
  for (const auto& [partition, own] : scrape.stats.partitions) {
    partitions[partition] = {{"read", own.read},
                             {"committed", or_null(own.committed)},
                             {"end", or_null(own.end)},
                             {"lag", or_null(own.lag)}};
    if (own.lag) lag = lag.value_or(0) + *own.lag;
    if (own.committed) token[partition] = *own.committed;
  }
  out["lag"] = or_null(lag);
  out["partitions"] = std::move(partitions);
  out["token"] = scrape.about.holds_token ? std::move(token) : Json(nullptr);
}

}  // namespace

std::string stats_json(const Scrape& scrape, const Recent& recent) {
  const auto& about = scrape.about;
  const auto& stats = scrape.stats;
  Json out = {{"pipeline", about.pipeline}, {"version", about.version},   {"source", about.source},
              {"sink", about.sink},         {"delivery", about.delivery}, {"started", time_of(about.started)}};
  out["uptime_seconds"] = std::max<std::int64_t>(0, pipeline::Stats::seconds_now() - about.started);
  out["ready"] = scrape.health.ready;
  out["reasons"] = scrape.health.reasons;
  out["workers"] = workers(stats);
  out["per_second"] = {{"1s", rate(recent.second)}, {"10s", rate(recent.ten_seconds)}, {"60s", rate(recent.minute)}};
  out["totals"] = totals(stats);
  out["queue"] = {{"messages", stats.queued_messages},
                  {"bytes", stats.queued_bytes},
                  {"uncommitted_rows", stats.uncommitted_rows},
                  {"uncommitted_bytes", stats.uncommitted_bytes}};
  add_partitions(scrape, out);
  out["progress"] = stats.total == 0 ? Json(nullptr) : Json({{"done", stats.progress}, {"of", stats.total}});
  out["last_commit"] = time_of(stats.last_commit);
  out["last_error"] = stats.last_error.empty()
                          ? Json(nullptr)
                          : Json({{"message", stats.last_error}, {"at", time_of(stats.last_error_at)}});
  out["process"] = {{"resident_bytes", scrape.process.resident_bytes},
                    {"cpu_seconds", scrape.process.cpu_seconds},
                    {"open_files", scrape.process.open_files}};
  return text(out);
}

std::string healthz_json(const Health& health) {
  Json out = {{"status", health.alive ? "ok" : "failed"}};
  if (!health.alive) out["reasons"] = health.reasons;
  return text(out);
}

std::string readyz_json(const Health& health) { return text({{"ready", health.ready}, {"reasons", health.reasons}}); }

std::string index_html(const About& about, const Health& health) {
  // A pipeline's name has no character that HTML reads.
  std::string out = fmt::format(
      "<!doctype html>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n<h1>{0}</h1>\n<p>Aqueduck {1}, {2}</p>\n<ul>\n",
      about.pipeline, about.version, health.ready ? "ready" : "not ready");
  for (const auto& [path, what] :
       {std::pair("/stats", "rates, totals, positions, lag, the last error (JSON)"),
        std::pair("/readyz", "200 while data are taken and delivered, else 503 and why"),
        std::pair("/healthz", "200 while no worker is dead"), std::pair("/metrics", "for Prometheus")}) {
    out += fmt::format("<li><a href=\"{0}\">{0}</a>: {1}\n", path, what);
  }
  return out + "</ul>\n";
}

}  // namespace aqueduck::admin
