// Where partitions begin: configured starts in numbers, the group's offsets, and storing both.
#include <cstring>

#include "connectors/kafka/kafka_list.h"
#include "connectors/kafka/kafka_source.h"
#include "connectors/kafka/kafka_starts.h"

namespace aqueduck {
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

Result<void> KafkaSource::load_starts() {
  AQ_ASSIGN(const Positions saved, load_kafka_starts(context_.state));
  for (const auto& [name, offset] : saved) {
    AQ_ASSIGN(const KafkaPartition partition, KafkaPartition::parse(name));
    AQ_ASSIGN(resolved_[partition], offset_of(offset));
  }
  return {};
}

Result<void> KafkaSource::save_starts() const {
  Positions starts;
  for (const auto& [partition, offset] : resolved_) starts.emplace(partition.name(), std::to_string(offset));
  return save_kafka_starts(context_.state, starts);
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
    if (noted.starts_with(kKafkaStartNote)) {
      if (auto offset = offset_of(noted.substr(kKafkaStartNote.size()))) start.resolved = *offset;
    }
    out.emplace(KafkaPartition{answer.topic, answer.partition}, start);
  }
  return out;
}

/// For topics of which the group knows nothing yet, all partitions begin at the configured start; a partition without
/// an offset in a topic that has some appeared later, and begins at its beginning.
Result<void> KafkaSource::resolve_fresh(const std::vector<KafkaPartition>& all) {
  if (all.empty()) return {};
  AQ_ASSIGN(const auto known, committed(all));
  std::set<std::string> known_topics;
  for (const auto& [partition, start] : known) known_topics.insert(partition.topic);
  for (const auto& partition : all) {
    if (known_topics.contains(partition.topic) || resolved_.contains(partition)) continue;
    AQ_ASSIGN(resolved_[partition], resolve(partition));
  }
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
    event.start.emplace(partition.name(), std::to_string(own));
    event.resolved.emplace(partition.name(), std::to_string(resolved));
  }
  if (in_group()) {
    // Of all partitions, not only of ours: another member that starts now must not take the rest for new ones.
    for (const auto& [partition, offset] : resolved_) {
      if (!known.contains(partition)) first.emplace(partition, offset);
    }
    AQ_TRY(store(first));
  }
  AQ_TRY(save_starts());
  return event;
}

Result<void> KafkaSource::store(const std::map<KafkaPartition, std::int64_t>& offsets) {
  if (offsets.empty()) return {};
  const List list = new_list(offsets.size());
  for (const auto& [partition, offset] : offsets) {
    auto* entry = add(list, partition);
    entry->offset = offset;
    const auto start = resolved_.find(partition);
    if (start == resolved_.end()) continue;
    const std::string note = std::string(kKafkaStartNote) + std::to_string(start->second);
    // librdkafka frees it with the list.
    entry->metadata = ::strdup(note.c_str());
    entry->metadata_size = note.size();
  }
  const auto code = rd_kafka_commit(client_.get(), list.get(), 0);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return fail(kafka_error(code, "cannot store the offsets of the group"));
  return {};
}

}  // namespace aqueduck
