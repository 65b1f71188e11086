#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "component/registry.h"
#include "config/object_spec.h"
#include "connectors/kafka/kafka_topics.h"

namespace aqueduck {

struct KafkaTls {
  std::string ca;
  std::string cert;
  std::string key;
  bool verify = true;
};

enum class KafkaMechanism { plain, scram_sha_256, scram_sha_512 };
struct KafkaSasl {
  KafkaMechanism mechanism = KafkaMechanism::plain;
  std::string username;
  Secret password;
};

/// How to reach a cluster: what source and sink have in common.
struct KafkaConnection {
  std::vector<std::string> brokers;
  std::optional<KafkaTls> tls;
  std::optional<KafkaSasl> sasl;
  std::map<std::string, std::string> properties;
};

struct KafkaAssign {
  std::uint32_t instance = 0;
  std::uint32_t of = 1;
};

struct KafkaFetch {
  config::Bytes queue{std::uint64_t{64} << 20U};
  config::Bytes max_bytes{std::uint64_t{50} << 20U};
  config::Bytes partition_bytes{std::uint64_t{4} << 20U};
  Duration wait{std::chrono::milliseconds(100)};
};

enum class KafkaIsolation { committed, uncommitted };
enum class KafkaGap { fail, earliest, latest };

/// Where reading begins where no position is known.
struct KafkaStart {
  enum class At { earliest, latest, time };
  At at = At::earliest;
  std::int64_t milliseconds = 0;  ///< since 1970, of `time`
};

struct KafkaSourceConfig : KafkaConnection {
  std::vector<std::string> topics;
  std::string group;
  std::optional<KafkaAssign> assign;
  std::string start = "earliest";
  Duration session_timeout{std::chrono::seconds(45)};
  std::string instance_id;
  KafkaFetch fetch;
  KafkaIsolation isolation = KafkaIsolation::committed;
  KafkaGap on_gap = KafkaGap::fail;
  std::vector<std::string> metadata;
  KafkaStart from;                            ///< `start`, understood
  std::shared_ptr<const KafkaTopics> wanted;  ///< `topics`, understood
};

enum class KafkaCompression { none, gzip, snappy, lz4, zstd };
struct KafkaSinkConfig : KafkaConnection {
  std::string topic;
  std::string key;
  std::string headers;
  KafkaCompression compression = KafkaCompression::lz4;
};

const config::ObjectSpec<KafkaSourceConfig>& kafka_source_spec();
/// The columns that a source of Kafka can add to its rows.
const std::vector<MetadataColumn>& kafka_metadata();
const config::ObjectSpec<KafkaSinkConfig>& kafka_sink_spec();

/// "earliest", "latest" or an RFC 3339 time with its zone; kind config otherwise.
Result<KafkaStart> parse_kafka_start(const std::string& text);
/// Faults of what the table alone can't see.
void check_kafka_source(KafkaSourceConfig& config, const config::Node& node, config::Faults& faults);
void check_kafka_sink(const KafkaSinkConfig& config, const config::Node& node, config::Faults& faults);

/// How long a topic that the brokers don't know is waited for: `topic.metadata.propagation.max.ms`.
inline constexpr std::string_view kKafkaTopicGrace = "topic.metadata.propagation.max.ms";
std::chrono::milliseconds kafka_topic_grace(const KafkaConnection& config);
/// How often new topics and partitions are looked for: `topic.metadata.refresh.interval.ms`.
inline constexpr std::string_view kKafkaRefresh = "topic.metadata.refresh.interval.ms";
std::chrono::milliseconds kafka_refresh(const KafkaConnection& config);
/// How long the group waits for an answer about partitions: `max.poll.interval.ms`.
inline constexpr std::string_view kKafkaPollLimit = "max.poll.interval.ms";
std::chrono::milliseconds kafka_poll_limit(const KafkaConnection& config);

}  // namespace aqueduck
