// From librdkafka's messages to chunks.
#include <algorithm>

#include "base/log.h"
#include "connectors/kafka/kafka_list.h"
#include "connectors/kafka/kafka_source.h"

namespace aqueduck {

namespace {

constexpr std::chrono::milliseconds kSlice{100};
constexpr std::size_t kMostMessages = 16'384;  // in one chunk

Headers headers_of(const rd_kafka_message_t& message) {
  Headers out;
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return out;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    out.emplace_back(name, std::string(static_cast<const char*>(value), value == nullptr ? 0 : size));
  }
  return out;
}

}  // namespace

/// Bytes of a chunk: messages go back before the client that they came from.
struct KafkaSource::Taken {
  KafkaHandle client;
  std::vector<rd_kafka_message_t*> messages;
  std::deque<Headers> headers;
  explicit Taken(KafkaHandle handle) : client(std::move(handle)) {}
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() {
    for (rd_kafka_message_t* message : messages) rd_kafka_message_destroy(message);
  }
};

/// What the client reports in place of a message; the error where reading can't go on.
std::optional<Error> KafkaSource::fault(const rd_kafka_message_s& message) {
  if (message.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || message.err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
    const KafkaPartition partition{message.rkt == nullptr ? "" : rd_kafka_topic_name(message.rkt), message.partition};
    if (const auto found = owned_.find(partition); found != owned_.end()) {
      beginning_.try_emplace(partition, found->second.at);
    }
    return std::nullopt;
  }
  if (message.err == RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED) {
    log::warn("kafka: nothing was read for too long: the group gives the partitions to others");
    return std::nullopt;
  }
  Error error = kafka_error(message.err, redact(rd_kafka_message_errstr(&message)));
  if (error.kind != ErrorKind::unavailable) return error;
  log::warn("kafka: {}", error.message);
  return std::nullopt;
}

/// Transactions' markers and aborted messages are no messages: what was read ends behind them. A client's position
/// counts what it has handed to us and the markers that it took out on the way, nothing that it fetched ahead.
void KafkaSource::pass_over(Positions& next) {
  Offsets asked;
  for (const auto& [partition, state] : owned_) {
    if (state.delivered && !beginning_.contains(partition)) asked.emplace(partition, 0);
  }
  if (asked.empty()) return;
  const List list = list_of(asked);
  if (rd_kafka_position(client_.get(), list.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < list->cnt; ++i) {
    const auto& answer = list->elems[i];
    const KafkaPartition partition{answer.topic, answer.partition};
    Owned& state = owned_[partition];
    if (answer.err != RD_KAFKA_RESP_ERR_NO_ERROR || answer.offset <= state.at) continue;
    state.at = answer.offset;
    next.insert_or_assign(partition.name(), std::to_string(state.at));
  }
}

Result<std::optional<SourceEvent>> KafkaSource::take(const ReadLimits& limits) {
  const auto now = std::chrono::steady_clock::now();
  polled_ = now;
  auto wait = std::chrono::ceil<std::chrono::milliseconds>(
      std::min<std::chrono::steady_clock::duration>(limits.deadline - now, kSlice));
  wait = std::max(wait, std::chrono::milliseconds(0));
  auto taken = std::make_shared<Taken>(client_);
  auto& all = taken->messages;
  const std::size_t most = std::min(limits.max_messages, kMostMessages);
  if (rd_kafka_message_t* first = rd_kafka_consumer_poll(client_.get(), static_cast<int>(wait.count()))) {
    all.push_back(first);
    if (most > 1) {
      const std::unique_ptr<rd_kafka_queue_t, void (*)(rd_kafka_queue_t*)> queue(
          rd_kafka_queue_get_consumer(client_.get()), rd_kafka_queue_destroy);
      all.resize(most);
      const auto got = rd_kafka_consume_batch_queue(queue.get(), 0, all.data() + 1, most - 1);
      all.resize(1 + static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    }
  }
  Chunk chunk;
  Messages messages;
  messages.items.reserve(all.size());
  struct Run {
    KafkaPartition partition;
    std::int64_t at = 0;
    bool ours = false;
  };
  std::vector<Run> runs;  // by the index of a message's partition
  std::map<std::pair<const rd_kafka_topic_t*, std::int32_t>, std::uint32_t> index;
  const rd_kafka_topic_t* topic = nullptr;
  std::int32_t number = -1;
  std::uint32_t current = 0;
  std::optional<Error> failed;
  for (const rd_kafka_message_t* raw : all) {
    if (raw->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (auto error = fault(*raw)) failed = std::move(error);
      continue;
    }
    if (raw->rkt != topic || raw->partition != number) {
      topic = raw->rkt;
      number = raw->partition;
      const auto [found, added] = index.emplace(std::pair(topic, number), static_cast<std::uint32_t>(runs.size()));
      current = found->second;
      if (added) {
        Run run{{rd_kafka_topic_name(topic), number}};
        const auto owned = owned_.find(run.partition);
        run.ours = owned != owned_.end() && !beginning_.contains(run.partition);
        if (run.ours) run.at = owned->second.at;
        messages.partitions.push_back(run.partition.name());
        runs.push_back(std::move(run));
      }
    }
    Run& run = runs[current];
    // Fetched before a rebalance paused it, such a message comes again.
    if (!run.ours || raw->offset < run.at) continue;
    Message message;
    message.payload = view(raw->payload, raw->len);
    message.key = view(raw->key, raw->key_len);
    message.offset = raw->offset;
    rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    const std::int64_t stamp = rd_kafka_message_timestamp(raw, &type);
    if (type != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE && stamp >= 0) message.timestamp_us = stamp * 1000;
    message.partition = current;
    if (Headers headers = headers_of(*raw); !headers.empty()) {
      message.headers = &taken->headers.emplace_back(std::move(headers));
    }
    messages.bytes += raw->len + raw->key_len;
    messages.items.push_back(message);
    run.at = raw->offset + 1;
  }
  {
    const std::lock_guard lock(mutex_);
    for (const Run& run : runs) {
      if (!run.ours) continue;
      Owned& state = owned_[run.partition];
      if (run.at == state.at) continue;
      state.at = run.at;
      state.delivered = true;
      chunk.next.emplace(run.partition.name(), std::to_string(run.at));
    }
  }
  if (all.size() < most) pass_over(chunk.next);
  if (!messages.items.empty()) health_->recovered();
  if (failed) failed_ = std::move(failed);  // told once what came before it has been handed on
  if (chunk.next.empty()) return std::nullopt;
  messages.owner = std::move(taken);
  chunk.data = std::move(messages);
  return SourceEvent(std::move(chunk));
}

}  // namespace aqueduck
