#pragma once

#include <librdkafka/rdkafka.h>

#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "connectors/kafka/kafka_client.h"

/// Bytes and lists of partitions as librdkafka has them. Internal to this folder.
namespace aqueduck {

inline constexpr int kRequestMs = 10'000;  ///< the longest that one request to the broker may take

/// Bytes as librdkafka hands them out.
inline std::string_view view(const void* data, std::size_t size) { return {static_cast<const char*>(data), size}; }

using List = std::unique_ptr<rd_kafka_topic_partition_list_t, void (*)(rd_kafka_topic_partition_list_t*)>;

inline List new_list(std::size_t size) {
  return {rd_kafka_topic_partition_list_new(static_cast<int>(size)), rd_kafka_topic_partition_list_destroy};
}

inline rd_kafka_topic_partition_t* add(const List& list, const KafkaPartition& partition) {
  return rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.number);
}

inline List list_of(const std::map<KafkaPartition, std::int64_t>& offsets) {
  List list = new_list(offsets.size());
  for (const auto& [partition, offset] : offsets) add(list, partition)->offset = offset;
  return list;
}

inline std::vector<KafkaPartition> partitions_of(const rd_kafka_topic_partition_list_t* list) {
  std::vector<KafkaPartition> out;
  out.reserve(static_cast<std::size_t>(list->cnt));
  for (int i = 0; i < list->cnt; ++i) out.push_back({list->elems[i].topic, list->elems[i].partition});
  return out;
}

inline Result<std::int64_t> offset_of(std::string_view text) {
  std::int64_t out = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size() && out >= 0) return out;
  return fail(ErrorKind::conflict, "'{}' is no offset of Kafka", text);
}

/// Checks and frees what librdkafka answers with.
inline Result<void> checked(rd_kafka_error_t* error, std::string_view what) {
  if (error == nullptr) return {};
  const auto code = rd_kafka_error_code(error);
  rd_kafka_error_destroy(error);
  return fail(kafka_error(code, what));
}

}  // namespace aqueduck
