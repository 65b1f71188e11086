#pragma once

#include <deque>
#include <map>
#include <set>
#include <thread>

#include "component/source.h"
#include "connectors/kafka/kafka_client.h"

struct rd_kafka_message_s;               // NOLINT(readability-identifier-naming): of librdkafka
struct rd_kafka_topic_partition_list_s;  // NOLINT(readability-identifier-naming): of librdkafka

namespace aqueduck {

/// When something that a broker failed at is tried again: after waits that double up to a maximum. One thread.
class KafkaRetry {
 public:
  bool due() const { return std::chrono::steady_clock::now() >= at_; }
  void failed();
  void succeeded() { *this = KafkaRetry(); }

 private:
  std::chrono::milliseconds wait_{0};
  std::chrono::steady_clock::time_point at_;
};

/// Reads topics: as a member of a consumer group, or fixed partitions. Positions are next offsets, partition names
/// "topic/number". librdkafka fetches ahead and keeps the session alive on its own threads, within `fetch.queue`;
/// rebalances come out of read() as events, and partitions are taken and given back only when the worker has answered.
/// What a broker that is away keeps from happening (asking for positions, taking partitions, going back, storing
/// offsets) is tried again by read(), which goes on polling meanwhile.
/// While a worker stays away from read() (its sink is, or a statement takes long), a thread of the source's own pauses
/// the partitions and goes on polling, so that the group keeps the member and what it decides is there for the next
/// read(). Partitions that the group wants back and that wait longer than SourceTraits::give_back are given up there:
/// the next read() tells them as lost.
/// Owned by one worker; position() may be called from any thread.
class KafkaSource final : public Source {
 public:
  KafkaSource(KafkaSourceConfig config, const ComponentContext& context);
  ~KafkaSource() override;

  SourceTraits traits() const override;
  void restore_starts(const Positions& starts) override { saved_starts_ = starts; }
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
  struct Revocation {
    std::vector<KafkaPartition> all;
    std::vector<std::string> told;  // of them, those that the worker knows
    std::chrono::steady_clock::time_point since;
  };
  struct Owned {
    std::int64_t at = 0;                          // next offset
    bool delivered = false;                       // something of it was handed on since it was taken or gone back to
    std::int64_t high = -1;                       // its end as position() last had it …
    std::chrono::steady_clock::time_point asked;  // … and when
  };
  using Offsets = std::map<KafkaPartition, std::int64_t>;

  bool in_group() const { return !config_.assign; }
  Result<rd_kafka_s*> make_client();

  // kafka_rebalance.cpp: what the group decides
  static void on_rebalance(rd_kafka_s* client, int code, rd_kafka_topic_partition_list_s* partitions, void* opaque);
  std::vector<std::string> withdraw(const std::vector<KafkaPartition>& partitions);
  void give_back(const std::vector<KafkaPartition>& partitions);
  void hand_over();
  std::optional<SourceEvent> next_event();
  Result<std::optional<SourceEvent>> settle();
  Result<std::optional<SourceEvent>> announce();
  Result<void> begin();
  void keep_alive(const std::stop_token& stop);
  void poll_unread();
  void answer_unread();
  void wake_up();
  Result<void> go_back(const Offsets& offsets);

  // kafka_offsets.cpp: where partitions begin and what the group stores
  struct Found {
    std::vector<KafkaPartition> partitions;
    std::optional<Error> missing;  // a topic that was named and isn't there
  };
  Result<Found> look();
  Result<std::vector<KafkaPartition>> find_partitions();
  Result<void> find_new();
  std::vector<KafkaPartition> mine(const std::vector<KafkaPartition>& all) const;
  Result<void> resolve_assigned(const std::vector<KafkaPartition>& partitions);
  Result<std::int64_t> resolve(const KafkaPartition& partition);
  Result<void> resolve_fresh(const std::vector<KafkaPartition>& all);
  Result<std::map<KafkaPartition, Start>> committed(const std::vector<KafkaPartition>& partitions);
  Result<SourceEvent> assigned_event(const std::vector<KafkaPartition>& partitions);
  Result<std::int64_t> within(const KafkaPartition& partition, std::int64_t offset);
  int store(const Offsets& offsets);
  int store_acknowledged();

  // kafka_messages.cpp
  Result<std::optional<SourceEvent>> take(const ReadLimits& limits);
  std::optional<Error> fault(const rd_kafka_message_s& message);
  void pass_over(Positions& next);

  KafkaSourceConfig config_;
  ComponentContext context_;
  KafkaHealth* health_ = nullptr;  // the client's, which keeps it alive
  KafkaHandle client_;
  mutable std::mutex mutex_;  // guards client_ and owned_ against position(); changed by whoever has the turn
  std::map<KafkaPartition, Owned> owned_;

  std::mutex turn_;                               // one call of the worker's, or one poll of keeper_'s: all below
  std::chrono::steady_clock::time_point polled_;  // when messages were last asked for
  std::vector<KafkaPartition> paused_;            // while nobody reads
  std::jthread keeper_;                           // runs keep_alive()

  std::deque<std::vector<KafkaPartition>> assigned_;  // by the group, not yet told
  std::deque<Revocation> revoked_;                    // … to tell, then to give back
  std::deque<std::vector<std::string>> lost_;         // … to tell
  std::vector<KafkaPartition> giving_back_;           // told as revoked: given back at the next read
  Offsets told_;                                      // as assigned, with their own starts; not yet answered
  Offsets beginning_;                                 // answered: to take, or to go back to
  Positions jumped_;                                  // over gaps, where begin() took up reading
  Offsets unstored_;                                  // acknowledged, but not yet in the group
  Offsets resolved_;
  Positions saved_starts_;
  KafkaRetry settling_;
  KafkaRetry storing_;
  std::optional<Error> trouble_;                  // what keeps partitions waiting
  std::chrono::steady_clock::time_point looked_;  // for new partitions
  std::chrono::milliseconds look_for_new_;        // … how often
  bool topic_missing_ = false;                    // … the last time
  std::optional<Error> failed_;                   // met behind messages that were handed on first
  bool closing_ = false;
};

}  // namespace aqueduck
