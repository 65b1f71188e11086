// Where partitions begin: configured starts in numbers, the group's offsets, and storing both.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <thread>

#include "base/log.h"
#include "connectors/kafka/kafka_callbacks.h"
#include "connectors/kafka/kafka_list.h"
#include "connectors/kafka/kafka_source.h"

namespace aqueduck {

namespace {

// What stands before the resolved start in the metadata of a group's offset.
constexpr std::string_view kStartNote = "aqueduck start=";

}  // namespace

/// What the brokers have of what is wanted, now.
Result<KafkaSource::Found> KafkaSource::look() {
  AQ_ASSIGN(const auto topics, kafka_topics(client_, *health_));
  Found found;
  std::set<std::string> there;
  for (const auto& [topic, count] : topics) {
    there.insert(topic);
    if (!config_.wanted->contains(topic)) continue;
    for (int i = 0; i < count; ++i) found.partitions.push_back({topic, i});
  }
  for (const std::string& name : config_.wanted->names()) {
    if (there.contains(name)) continue;
    found.missing = kafka_no_topic(*health_, name, {there.begin(), there.end()});
    break;
  }
  return found;
}

/// A topic that was just made takes a while to be known to every broker.
Result<std::vector<KafkaPartition>> KafkaSource::find_partitions() {
  const auto until = std::chrono::steady_clock::now() + kafka_topic_grace(config_);
  while (true) {
    AQ_ASSIGN(Found found, look());
    if (!found.missing) return std::move(found.partitions);
    if (std::chrono::steady_clock::now() >= until) return fail(std::move(*found.missing));
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

std::vector<KafkaPartition> KafkaSource::mine(const std::vector<KafkaPartition>& all) const {
  std::vector<KafkaPartition> out;
  std::copy_if(all.begin(), all.end(), std::back_inserter(out), [&](const KafkaPartition& partition) {
    return static_cast<std::uint32_t>(partition.number) % config_.assign->of == config_.assign->instance;
  });
  return out;
}

/// With fixed assignment nobody tells of new partitions.
Result<void> KafkaSource::find_new() {
  const auto now = std::chrono::steady_clock::now();
  if (in_group() || now - looked_ < look_for_new_) return {};
  looked_ = now;
  AQ_ASSIGN(Found found, look());
  // Missing once may be a broker that has just started; missing again is gone.
  const bool missing = found.missing.has_value();
  if (missing && std::exchange(topic_missing_, missing)) return fail(std::move(*found.missing));
  topic_missing_ = missing;
  std::set<KafkaPartition> known;
  for (const auto& waiting : assigned_) known.insert(waiting.begin(), waiting.end());
  std::vector<KafkaPartition> fresh;
  for (const auto& partition : mine(found.partitions)) {
    const bool ours = owned_.contains(partition) || told_.contains(partition) || beginning_.contains(partition);
    if (!ours && !known.contains(partition)) fresh.push_back(partition);
  }
  if (!fresh.empty()) assigned_.push_back(std::move(fresh));
  return {};
}

/// The first time partitions begin at the configured start; one of a topic that has kept starts appeared later, and
/// begins at its beginning. So does one of a new topic of a pattern that has.
Result<void> KafkaSource::resolve_assigned(const std::vector<KafkaPartition>& partitions) {
  std::set<std::string> known_topics;
  for (const auto& [partition, start] : resolved_) known_topics.insert(partition.topic);
  Offsets starts;
  for (const auto& partition : partitions) {
    if (known_topics.contains(partition.topic)) continue;
    if (config_.wanted->newer_than(known_topics, partition.topic)) continue;
    AQ_ASSIGN(starts[partition], resolve(partition));
  }
  resolved_.merge(starts);
  return {};
}

Result<std::int64_t> KafkaSource::resolve(const KafkaPartition& partition) {
  AQ_ASSIGN(const KafkaWatermarks ends, kafka_watermarks(client_, partition));
  if (config_.from.at == KafkaStart::At::earliest) return ends.low;
  if (config_.from.at == KafkaStart::At::latest) return ends.high;
  const List list = new_list(1);
  add(list, partition)->offset = config_.from.milliseconds;
  const auto code = rd_kafka_offsets_for_times(client_.get(), list.get(), kRequestMs);
  const auto& answer = list->elems[0];
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR || answer.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return fail(kafka_error(code != RD_KAFKA_RESP_ERR_NO_ERROR ? code : answer.err,
                            "cannot look up the start of " + partition.name()));
  }
  return answer.offset >= 0 ? answer.offset : ends.high;
}

Result<std::map<KafkaPartition, KafkaSource::Start>> KafkaSource::committed(
    const std::vector<KafkaPartition>& partitions) {
  std::map<KafkaPartition, Start> out;
  const List list = new_list(partitions.size());
  for (const auto& partition : partitions) add(list, partition);
  const auto code = rd_kafka_committed(client_.get(), list.get(), kRequestMs);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return fail(kafka_error(code, "cannot read the offsets of the group"));
  for (int i = 0; i < list->cnt; ++i) {
    const auto& answer = list->elems[i];
    if (answer.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return fail(kafka_error(answer.err, "cannot read the offsets of the group"));
    }
    if (answer.offset < 0) continue;
    Start start{answer.offset, -1};
    const auto noted = view(answer.metadata, answer.metadata_size);
    if (noted.starts_with(kStartNote)) {
      if (auto offset = offset_of(noted.substr(kStartNote.size()))) start.resolved = *offset;
    }
    out.emplace(KafkaPartition{answer.topic, answer.partition}, start);
  }
  return out;
}

/// For topics of which neither the group nor the state folder knows anything yet, all partitions begin at the
/// configured start; a partition without an offset in a topic that has some appeared later, and begins at its
/// beginning; as does a new topic of a pattern.
Result<void> KafkaSource::resolve_fresh(const std::vector<KafkaPartition>& all) {
  if (all.empty()) return {};
  AQ_ASSIGN(const auto known, committed(all));
  std::set<std::string> known_topics;
  for (const auto& [partition, start] : known) known_topics.insert(partition.topic);
  for (const auto& [partition, start] : resolved_) known_topics.insert(partition.topic);
  Offsets starts;
  for (const auto& partition : all) {
    if (known_topics.contains(partition.topic)) continue;
    if (config_.wanted->newer_than(known_topics, partition.topic)) continue;
    AQ_ASSIGN(starts[partition], resolve(partition));
  }
  resolved_.merge(starts);
  return {};
}

Result<SourceEvent> KafkaSource::assigned_event(const std::vector<KafkaPartition>& partitions) {
  std::map<KafkaPartition, Start> known;
  if (in_group() && !partitions.empty()) {
    std::vector<KafkaPartition> asked = partitions;
    for (const auto& [partition, offset] : resolved_) asked.push_back(partition);
    AQ_ASSIGN(known, committed(asked));
  }
  std::map<KafkaPartition, std::int64_t> first;
  Assigned event;
  Offsets own_starts;
  for (const auto& partition : partitions) {
    const auto stored = known.find(partition);
    if (!resolved_.contains(partition)) {
      std::int64_t begin = stored == known.end() ? -1 : stored->second.resolved;
      if (begin < 0 && stored != known.end() && config_.from.at == KafkaStart::At::latest) begin = stored->second.own;
      if (begin < 0 && stored != known.end()) {
        AQ_ASSIGN(begin, resolve(partition));
      } else if (begin < 0) {
        AQ_ASSIGN(const KafkaWatermarks ends, kafka_watermarks(client_, partition));
        begin = ends.low;
      }
      resolved_[partition] = begin;
    }
    const std::int64_t resolved = resolved_[partition];
    const std::int64_t own = stored == known.end() ? resolved : stored->second.own;
    own_starts.insert_or_assign(partition, own);
    event.start.emplace(partition.name(), std::to_string(own));
    event.resolved.emplace(partition.name(), std::to_string(resolved));
  }
  if (in_group()) {
    // Of all partitions, not only of ours: another member that starts now must not take the rest for new ones.
    for (const auto& [partition, offset] : resolved_) {
      if (!known.contains(partition)) first.emplace(partition, offset);
    }
    const int code = store(first);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return fail(kafka_error(code, "cannot store the offsets of the group"));
    }
  }
  for (const auto& [partition, own] : own_starts) told_.insert_or_assign(partition, own);
  return event;
}

/// The offset itself, or, where it lies outside the log, what `on_gap` says.
Result<std::int64_t> KafkaSource::within(const KafkaPartition& partition, std::int64_t offset) {
  AQ_ASSIGN(const KafkaWatermarks ends, kafka_watermarks(client_, partition));
  if (offset >= ends.low && offset <= ends.high) return offset;
  const std::string what =
      offset < ends.low
          ? fmt::format("{}: offset {} is due, but the first there is {}: {} messages are gone", partition.name(),
                        offset, ends.low, ends.low - offset)
          : fmt::format("{}: offset {} is due, but the topic ends at {}: it was deleted and made again, or cut",
                        partition.name(), offset, ends.high);
  if (config_.on_gap == KafkaGap::fail) {
    return fail(ErrorKind::conflict, "{}; on_gap: earliest or latest goes on without them", what);
  }
  const std::int64_t on = config_.on_gap == KafkaGap::earliest ? ends.low : ends.high;
  log::warn("kafka: {}; going on at {}", what, on);
  return on;
}

/// Puts offsets into the group, with the starts beside them; waits for the answer, but not for long. Returns
/// librdkafka's code.
int KafkaSource::store(const Offsets& offsets) {
  if (offsets.empty()) return RD_KAFKA_RESP_ERR_NO_ERROR;
  const List list = list_of(offsets);
  for (int i = 0; i < list->cnt; ++i) {
    auto& entry = list->elems[i];
    const auto start = resolved_.find({entry.topic, entry.partition});
    if (start == resolved_.end()) continue;
    const std::string note = std::string(kStartNote) + std::to_string(start->second);
    // librdkafka frees it with the list.
    entry.metadata = ::strdup(note.c_str());
    entry.metadata_size = note.size();
  }
  const std::unique_ptr<rd_kafka_queue_t, void (*)(rd_kafka_queue_t*)> answers(rd_kafka_queue_new(client_.get()),
                                                                               rd_kafka_queue_destroy);
  const auto sent = rd_kafka_commit_queue(client_.get(), list.get(), answers.get(), nullptr, nullptr);
  if (sent != RD_KAFKA_RESP_ERR_NO_ERROR) return sent;
  const std::unique_ptr<rd_kafka_event_t, void (*)(rd_kafka_event_t*)> answer(
      rd_kafka_queue_poll(answers.get(), kRequestMs), rd_kafka_event_destroy);
  const int code = answer == nullptr ? RD_KAFKA_RESP_ERR__TIMED_OUT : rd_kafka_event_error(answer.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    log::debug("kafka: {}", kafka_error(code, fmt::format("{} offsets were not stored", offsets.size())).message);
  }
  return code;
}

/// What was acknowledged and isn't stored yet; it stays for the next time where the group doesn't take it.
int KafkaSource::store_acknowledged() {
  const int code = store(unstored_);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
    unstored_.clear();
    storing_.succeeded();
  } else {
    storing_.failed();
  }
  return code;
}

}  // namespace aqueduck
