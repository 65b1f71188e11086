#include "admin/metrics.h"

#include <fmt/format.h>

#include <functional>
#include <utility>
#include <variant>
#include <vector>

namespace aqueduck::admin {
namespace {

using pipeline::PartitionSnapshot;
using pipeline::StatsSnapshot;

using Number = std::variant<std::uint64_t, double>;
using Labels = std::vector<std::pair<std::string_view, std::string>>;
using Emit = std::function<void(const Labels&, Number)>;

/// The one table that the text and the reference page come from. Names and labels are promised: they don't change.
struct Metric {
  std::string_view name;
  std::string_view type;  ///< "counter" or "gauge"
  std::string_view unit;
  std::string_view help;    ///< one sentence
  std::string_view labels;  ///< beside `pipeline`
  std::function<void(const Scrape&, const Emit&)> collect;
};

auto count(std::uint64_t StatsSnapshot::* member) {
  return [member](const Scrape& scrape, const Emit& emit) { emit({}, scrape.stats.*member); };
}

auto value(std::function<Number(const Scrape&)> get) {
  return [get = std::move(get)](const Scrape& scrape, const Emit& emit) { emit({}, get(scrape)); };
}

auto partitions(std::function<std::optional<std::uint64_t>(const PartitionSnapshot&)> get) {
  return [get = std::move(get)](const Scrape& scrape, const Emit& emit) {
    for (const auto& [partition, own] : scrape.stats.partitions) {
      if (const auto number = get(own)) emit({{"partition", partition}}, *number);
    }
  };
}

std::optional<std::uint64_t> number(const std::optional<std::string>& position) {
  return position ? pipeline::position_number(*position) : std::nullopt;
}

void times(std::int64_t at, const Emit& emit) {
  if (at > 0) emit({}, static_cast<std::uint64_t>(at));
}

const std::vector<Metric>& table() {
  static const std::vector<Metric> metrics{
      {"aqueduck_info", "gauge", "", "Always 1; the labels say what runs.", "version, source, sink",
       [](const Scrape& s, const Emit& emit) {
         emit({{"version", s.about.version}, {"source", s.about.source}, {"sink", s.about.sink}}, std::uint64_t{1});
       }},
      {"aqueduck_ready", "gauge", "", "1 if data are taken and delivered, as /readyz says; else 0.", "",
       value([](const Scrape& s) { return Number(std::uint64_t{s.health.ready ? 1U : 0U}); })},
      {"aqueduck_workers", "gauge", "workers", "Workers by their phase.", "phase",
       [](const Scrape& s, const Emit& emit) {
         using pipeline::Phase;
         for (const Phase phase : {Phase::starting, Phase::running, Phase::draining, Phase::stopped, Phase::failed}) {
           std::uint64_t workers = 0;
           for (const auto& worker : s.stats.workers) workers += worker.phase == phase ? 1 : 0;
           emit({{"phase", std::string(name(phase))}}, workers);
         }
       }},
      {"aqueduck_waiting", "gauge", "workers", "Workers that can't reach a source or sink and try again.", "",
       value([](const Scrape& s) {
         std::uint64_t waiting = 0;
         for (const auto& worker : s.stats.workers) waiting += worker.waiting_for.empty() ? 0 : 1;
         return Number(waiting);
       })},
      {"aqueduck_messages_total", "counter", "messages", "Messages, or rows that need no decoding, read.", "",
       count(&StatsSnapshot::messages)},
      {"aqueduck_message_bytes_total", "counter", "bytes", "Bytes of the messages read, as they arrived.", "",
       count(&StatsSnapshot::bytes)},
      {"aqueduck_rows_decoded_total", "counter", "rows", "Rows that the decoder made.", "",
       count(&StatsSnapshot::rows_decoded)},
      {"aqueduck_rows_written_total", "counter", "rows", "Rows handed to the sink, committed or not yet.", "",
       count(&StatsSnapshot::rows_written)},
      {"aqueduck_batches_total", "counter", "batches", "Batches that the SQL has seen.", "",
       count(&StatsSnapshot::batches)},
      {"aqueduck_commits_total", "counter", "commits", "Commits of the sink.", "", count(&StatsSnapshot::commits)},
      {"aqueduck_commits_moved_total", "counter", "commits",
       "Commits refused because another instance had committed the same partitions.", "",
       count(&StatsSnapshot::commits_moved)},
      {"aqueduck_decode_failures_total", "counter", "messages", "Messages that could not be decoded.", "",
       count(&StatsSnapshot::decode_failures)},
      {"aqueduck_sql_failures_total", "counter", "batches", "Batches on which the SQL failed.", "",
       count(&StatsSnapshot::sql_failures)},
      {"aqueduck_skipped_messages_total", "counter", "messages", "Messages left out by the policy `skip`.", "",
       count(&StatsSnapshot::skipped)},
      {"aqueduck_dead_letters_total", "counter", "messages", "Messages that went to the dead-letter sink.", "",
       count(&StatsSnapshot::dead_letters)},
      {"aqueduck_retries_total", "counter", "attempts",
       "Attempts to reach a source or sink that failed and are made again.", "", count(&StatsSnapshot::retries)},
      {"aqueduck_queued_messages", "gauge", "messages", "Messages in the batch that is being collected.", "",
       count(&StatsSnapshot::queued_messages)},
      {"aqueduck_queued_bytes", "gauge", "bytes", "Their bytes.", "", count(&StatsSnapshot::queued_bytes)},
      {"aqueduck_uncommitted_rows", "gauge", "rows", "Rows written to the sink since its last commit.", "",
       count(&StatsSnapshot::uncommitted_rows)},
      {"aqueduck_uncommitted_bytes", "gauge", "bytes", "Their bytes, as Arrow.", "",
       count(&StatsSnapshot::uncommitted_bytes)},
      {"aqueduck_lag", "gauge", "",
       "From the committed position to the end of the partition, in the source's unit "
       "(Kafka: messages, files: bytes). Missing while the source doesn't answer, and where positions are no numbers.",
       "partition", partitions([](const PartitionSnapshot& own) { return own.lag; })},
      {"aqueduck_committed_position", "gauge", "", "The next position that a restart would read, where it is a number.",
       "partition", partitions([](const PartitionSnapshot& own) { return number(own.committed); })},
      {"aqueduck_read_position", "gauge", "", "The next position to be read, where it is a number.", "partition",
       partitions([](const PartitionSnapshot& own) { return number(own.read); })},
      {"aqueduck_end_position", "gauge", "", "Where the partition ends, where it is a number.", "partition",
       partitions([](const PartitionSnapshot& own) { return number(own.end); })},
      {"aqueduck_source_progress", "gauge", "", "How far a source that ends is, in its own unit.", "",
       count(&StatsSnapshot::progress)},
      {"aqueduck_source_size", "gauge", "", "All of it, in the same unit; 0 if not known.", "",
       count(&StatsSnapshot::total)},
      {"aqueduck_last_commit_timestamp_seconds", "gauge", "seconds",
       "When the sink last committed, in seconds since 1970.", "",
       [](const Scrape& s, const Emit& emit) { times(s.stats.last_commit, emit); }},
      {"aqueduck_last_error_timestamp_seconds", "gauge", "seconds",
       "When the last error happened, in seconds since 1970; /stats has its text.", "",
       [](const Scrape& s, const Emit& emit) { times(s.stats.last_error_at, emit); }},
      {"process_start_time_seconds", "gauge", "seconds", "When the pipeline was started, in seconds since 1970.", "",
       [](const Scrape& s, const Emit& emit) { times(s.about.started, emit); }},
      {"process_resident_memory_bytes", "gauge", "bytes", "Resident memory.", "",
       value([](const Scrape& s) { return Number(s.process.resident_bytes); })},
      {"process_cpu_seconds_total", "counter", "seconds", "CPU time, user and system.", "",
       value([](const Scrape& s) { return Number(s.process.cpu_seconds); })},
      {"process_open_fds", "gauge", "files", "Open file descriptors.", "",
       value([](const Scrape& s) { return Number(s.process.open_files); })},
      {"process_max_fds", "gauge", "files", "The most that may be open.", "",
       value([](const Scrape& s) { return Number(s.process.max_files); })},
  };
  return metrics;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string metrics_text(const Scrape& scrape) {
  std::string out;
  const std::string own = fmt::format("pipeline=\"{}\"", escaped(scrape.about.pipeline));
  for (const Metric& metric : table()) {
    bool named = false;
    metric.collect(scrape, [&](const Labels& labels, const Number& number) {
      if (!named) {
        out += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", metric.name, metric.help, metric.type);
        named = true;
      }
      out += fmt::format("{}{{{}", metric.name, own);
      for (const auto& [label, text] : labels) out += fmt::format(",{}=\"{}\"", label, escaped(text));
      std::visit([&](auto plain) { out += fmt::format("}} {}\n", plain); }, number);
    });
  }
  return out;
}

std::string metrics_markdown() {
  std::string out =
      "# Metrics\n\nWhat `/metrics` of a running pipeline says (`admin:` in [the pipeline file](pipeline.md)), in "
      "Prometheus' text format. Every series has the label `pipeline`. Names and labels are stable: new ones may come, "
      "none changes its meaning. Counters begin at 0 when the process starts.\n\n"
      "| name | type | unit | further labels | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const Metric& metric : table()) {
    const auto or_dash = [](std::string_view text) { return text.empty() ? std::string_view("–") : text; };
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", metric.name, metric.type, or_dash(metric.unit),
                       or_dash(metric.labels), metric.help);
  }
  return out;
}

}  // namespace aqueduck::admin
