#pragma once

#include <deque>
#include <map>
#include <set>

#include "component/source.h"
#include "connectors/kafka/kafka_client.h"

struct rd_kafka_message_s;               // NOLINT(readability-identifier-naming): of librdkafka
struct rd_kafka_topic_partition_list_s;  // NOLINT(readability-identifier-naming): of librdkafka

namespace aqueduck {

/// Reads topics: as a member of a consumer group, or fixed partitions. Positions are next offsets, partition names
/// "topic/number". librdkafka fetches ahead and keeps the session alive on its own threads, within `fetch.queue`;
/// rebalances come out of read() as events, and partitions are taken and given back only when the worker has answered.
/// Owned by one worker; position() may be called from any thread.
class KafkaSource final : public Source {
 public:
  KafkaSource(KafkaSourceConfig config, const ComponentContext& context);
  ~KafkaSource() override;

  SourceTraits traits() const override;
  Result<void> open() override;
  Result<SourceEvent> read(const ReadLimits& limits) override;
  Result<void> start_at(const Positions& positions) override;
  Result<void> acknowledge(const Acknowledgement& acknowledgement) override;
  Result<Positions> position() override;
  void close() override;

 private:
  struct Taken;  // messages that a chunk owns
  struct Start {
    std::int64_t own = 0;
    std::int64_t resolved = 0;
  };

  static void on_rebalance(rd_kafka_s* client, int code, rd_kafka_topic_partition_list_s* partitions, void* opaque);
  bool in_group() const { return !config_.assign; }
  bool wanted(const std::string& topic) const;
  Result<std::vector<KafkaPartition>> find_partitions();
  Result<void> check_topics(const std::vector<std::pair<std::string, int>>& topics) const;
  Result<void> load_starts();
  Result<void> save_starts() const;
  Result<std::int64_t> resolve(const KafkaPartition& partition);
  Result<void> resolve_fresh(const std::vector<KafkaPartition>& all);
  Result<std::map<KafkaPartition, Start>> committed(const std::vector<KafkaPartition>& partitions);
  Result<SourceEvent> assigned_event(const std::vector<KafkaPartition>& partitions);
  Result<std::optional<SourceEvent>> next_event();
  Result<void> find_new();
  Result<std::int64_t> within(const KafkaPartition& partition, std::int64_t offset);
  Result<void> gap(const rd_kafka_message_s& message);
  Result<void> store(const std::map<KafkaPartition, std::int64_t>& offsets);
  void give_back(const std::vector<KafkaPartition>& partitions);
  Result<std::optional<SourceEvent>> take(const ReadLimits& limits);

  KafkaSourceConfig config_;
  ComponentContext context_;
  KafkaHealth* health_ = nullptr;  // the client's, see Client
  KafkaHandle client_;
  mutable std::mutex mutex_;  // guards client_ and owned_ against position()
  std::set<KafkaPartition> owned_;

  std::deque<std::vector<KafkaPartition>> assigned_;  // by the group, not yet told
  std::deque<std::vector<KafkaPartition>> revoked_;   // … to give back
  std::deque<std::vector<KafkaPartition>> lost_;
  std::vector<KafkaPartition> giving_back_;  // told as revoked: given back at the next read
  std::map<KafkaPartition, std::int64_t> resolved_;
  std::map<KafkaPartition, std::int64_t> at_;
  std::chrono::steady_clock::time_point looked_;  // for new partitions
  std::optional<Error> failed_;                   // met behind messages that were handed on first
  bool closing_ = false;
};

}  // namespace aqueduck
