// What goes on while the worker is busy with something else than reading.
#include <condition_variable>

#include "base/log.h"
#include "connectors/kafka/kafka_list.h"
#include "connectors/kafka/kafka_source.h"

namespace aqueduck {

namespace {

constexpr std::chrono::milliseconds kMostQuiet{10'000};  // without a poll
constexpr std::chrono::milliseconds kMostBetween{1000};  // polls
constexpr int kMostEvents = 1000;                        // a poll

}  // namespace

/// The keeper's thread, as long as the client is a member of a group.
void KafkaSource::keep_alive(const std::stop_token& stop) {
  const auto quiet = std::min(kMostQuiet, kafka_poll_limit(config_) / 4);
  const auto between = std::clamp(quiet, std::chrono::milliseconds(1), kMostBetween);
  std::mutex mutex;
  std::condition_variable_any waiting;
  std::unique_lock lock(mutex);
  while (true) {
    waiting.wait_for(lock, stop, between, [] { return false; });
    if (stop.stop_requested()) return;
    // Whoever has the turn polls, or will.
    const std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn || std::chrono::steady_clock::now() - polled_ < quiet) continue;
    poll_unread();
    answer_unread();
  }
}

/// Asks for messages without wanting any: rebalances and errors come with them. What was fetched ahead of a pause is
/// dropped and fetched again.
void KafkaSource::poll_unread() {
  if (paused_.empty() && !owned_.empty()) {
    const List list = new_list(owned_.size());
    for (const auto& [partition, state] : owned_) {
      add(list, partition);
      paused_.push_back(partition);
    }
    log::debug("kafka: nobody reads: {} partitions pause", paused_.size());
    rd_kafka_pause_partitions(client_.get(), list.get());
  }
  for (int i = 0; i < kMostEvents; ++i) {
    const std::unique_ptr<rd_kafka_message_t, void (*)(rd_kafka_message_t*)> event(
        rd_kafka_consumer_poll(client_.get(), 0), rd_kafka_message_destroy);
    if (event == nullptr) return;
    if (event->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (auto error = fault(*event); error && !failed_) failed_ = std::move(error);
      continue;
    }
    // None should come; if one does, reading goes back to it.
    const KafkaPartition partition{rd_kafka_topic_name(event->rkt), event->partition};
    if (const auto found = owned_.find(partition); found != owned_.end()) {
      beginning_.try_emplace(partition, found->second.at);
    }
  }
}

/// The group, and with it all of its members, waits for an answer about partitions.
void KafkaSource::answer_unread() {
  while (!assigned_.empty() && assigned_.front().empty()) {
    if (auto answered = announce(); !answered) log::warn("kafka: {}", answered.error().message);
  }
  // Those that the worker knows of already, it is about to give back.
  const auto limit = std::chrono::steady_clock::now() - traits().give_back;
  while (giving_back_.empty() && !revoked_.empty() && revoked_.front().since <= limit) {
    Revocation wanted = std::move(revoked_.front());
    revoked_.pop_front();
    log::warn("kafka: {} partitions are given back without what was read of them since the last commit",
              wanted.all.size());
    giving_back_ = std::move(wanted.all);
    hand_over();
    lost_.push_back(std::move(wanted.told));
  }
}

/// The worker reads again.
void KafkaSource::wake_up() {
  if (paused_.empty()) return;
  // Those that were given back meanwhile, too: they might come again.
  const List list = new_list(paused_.size());
  for (const auto& partition : paused_) add(list, partition);
  paused_.clear();
  rd_kafka_resume_partitions(client_.get(), list.get());
}

}  // namespace aqueduck
