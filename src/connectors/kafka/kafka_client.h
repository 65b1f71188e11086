#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "connectors/kafka/kafka_config.h"

struct rd_kafka_s;
struct rd_kafka_conf_s;

namespace aqueduck {

using KafkaHandle = std::shared_ptr<rd_kafka_s>;

/// What a client's own threads report about its brokers, for the thread that calls it. Thread-safe; lives longer than
/// the client whose opaque pointer it is.
class KafkaHealth {
 public:
  explicit KafkaHealth(const KafkaConnection& config);
  /// Never shows a password.
  void report(int code, const std::string& reason);
  /// Brokers answer: transport errors are over.
  void recovered();
  /// What stands against going on, if anything.
  std::optional<Error> error() const;
  const std::string& peer() const { return peer_; }
  /// From now on the client's events come with the messages that are read: nobody else may poll them.
  void read_with_messages() { read_with_messages_ = true; }
  bool is_read_with_messages() const { return read_with_messages_; }

 private:
  std::string peer_;  ///< "localhost:9092 (scram-sha-256)"
  mutable std::mutex mutex_;
  bool connected_ = false;
  std::atomic<bool> read_with_messages_ = false;
  std::optional<Error> error_;
};

/// Reference to a partition by its two names.
struct KafkaPartition {
  std::string topic;
  std::int32_t number = 0;
  auto operator<=>(const KafkaPartition&) const = default;
  std::string name() const { return topic + "/" + std::to_string(number); }
  static Result<KafkaPartition> parse(std::string_view name);
};

inline constexpr std::chrono::milliseconds kBetweenLooks{200};  ///< for a topic that isn't there yet

struct KafkaWatermarks {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

std::string_view kafka_mechanism(KafkaMechanism mechanism);

using KafkaSettings = std::vector<std::pair<std::string, std::string>>;
/// A configuration with the connection, `settings`, and the user's properties; kind config names the property.
Result<std::unique_ptr<rd_kafka_conf_s, void (*)(rd_kafka_conf_s*)>> kafka_settings(const KafkaConnection& config,
                                                                                    const KafkaSettings& settings,
                                                                                    KafkaHealth* health);
/// Partition count of every topic of the cluster; waits a few seconds for brokers.
Result<std::vector<std::pair<std::string, int>>> kafka_topics(const KafkaHandle& client, KafkaHealth& health);
/// Succeeds once the topic is there; asks until `grace` is over, then fails with kind denied. A broker that makes
/// topics by itself makes this one for a producer.
Result<void> kafka_topic(const KafkaHandle& client, KafkaHealth& health, const std::string& topic,
                         std::chrono::milliseconds grace);
/// The error of a topic that isn't there; kind denied. `known`: the names to suggest from.
Error kafka_no_topic(const KafkaHealth& health, const std::string& topic, const std::vector<std::string_view>& known);
Result<KafkaWatermarks> kafka_watermarks(const KafkaHandle& client, const KafkaPartition& partition,
                                         std::chrono::milliseconds limit = std::chrono::seconds(5));
/// By a librdkafka error code.
Error kafka_error(int code, std::string_view what);

}  // namespace aqueduck
