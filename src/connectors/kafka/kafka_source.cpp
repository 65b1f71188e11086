#include "connectors/kafka/kafka_source.h"

#include <algorithm>
#include <regex>

#include "base/log.h"
#include "connectors/kafka/kafka_list.h"

namespace aqueduck {

namespace {

constexpr std::chrono::milliseconds kSlice{100};
constexpr std::chrono::seconds kLookForNew{30};
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

/// What the client's callbacks see.
struct Callbacks : KafkaHealth {
  Callbacks(const KafkaConnection& config, KafkaSource* owner) : KafkaHealth(config), source(owner) {}
  KafkaSource* source;
};

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

KafkaSource::KafkaSource(KafkaSourceConfig config, const ComponentContext& context)
    : config_(std::move(config)), context_(context) {
  if (config_.assign && context_.workers > 1) {
    config_.assign->instance += config_.assign->of * static_cast<std::uint32_t>(context_.worker);
    config_.assign->of *= static_cast<std::uint32_t>(context_.workers);
  }
}

KafkaSource::~KafkaSource() { close(); }

SourceTraits KafkaSource::traits() const {
  SourceTraits traits;
  traits.replayable = true;
  traits.stores_positions = in_group();
  traits.fixed_ownership = !in_group();
  return traits;
}

bool KafkaSource::wanted(const std::string& topic) const {
  return std::any_of(config_.topics.begin(), config_.topics.end(), [&](const std::string& name) {
    if (!name.starts_with('^')) return name == topic;
    return std::regex_search(topic, std::regex(name, std::regex::extended));
  });
}

Result<void> KafkaSource::check_topics(const std::vector<std::pair<std::string, int>>& topics) const {
  for (const std::string& name : config_.topics) {
    if (name.starts_with('^')) continue;
    if (std::any_of(topics.begin(), topics.end(), [&](const auto& topic) { return topic.first == name; })) continue;
    std::vector<std::string_view> known;
    known.reserve(topics.size());
    for (const auto& topic : topics) known.push_back(topic.first);
    return fail(ErrorKind::config, "there is no topic '{}' at {}{}; create it first", name, config_.brokers.front(),
                config::did_you_mean(name, known));
  }
  return {};
}

Result<std::vector<KafkaPartition>> KafkaSource::find_partitions() {
  AQ_ASSIGN(const auto topics, kafka_topics(client_, *health_));
  AQ_TRY(check_topics(topics));
  std::vector<KafkaPartition> out;
  for (const auto& [topic, count] : topics) {
    if (!wanted(topic)) continue;
    for (int i = 0; i < count; ++i) out.push_back({topic, i});
  }
  return out;
}

Result<void> KafkaSource::open() {
  close();
  closing_ = false;
  auto callbacks = std::make_shared<Callbacks>(config_, this);
  KafkaSettings settings{
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"auto.offset.reset", "error"},
      // Batches count an end-of-partition event as a message (librdkafka 2.12): when a rebalance has paused a
      // partition, it would go on one message too far.
      {"enable.partition.eof", "false"},
      {"partition.assignment.strategy", "cooperative-sticky"},
      {"isolation.level", config_.isolation == KafkaIsolation::committed ? "read_committed" : "read_uncommitted"},
      {"session.timeout.ms", std::to_string(config_.session_timeout.count() / 1000)},
      {"heartbeat.interval.ms", std::to_string(std::max<std::int64_t>(1, config_.session_timeout.count() / 1000 / 5))},
      {"max.poll.interval.ms",
       std::to_string(std::max<std::int64_t>(1'800'000, config_.session_timeout.count() / 1000))},
      // The bytes are the limit. Without the second, fetching rests for a second whenever it was reached.
      {"queued.min.messages", "10000000"},
      {"fetch.queue.backoff.ms", "5"},
      {"queued.max.messages.kbytes", std::to_string(std::max<std::uint64_t>(1, config_.fetch.queue.value / 1024))},
      {"fetch.max.bytes", std::to_string(config_.fetch.max_bytes.value)},
      {"message.max.bytes", std::to_string(std::clamp<std::uint64_t>(config_.fetch.max_bytes.value, 1000, 1'000'000))},
      {"max.partition.fetch.bytes", std::to_string(config_.fetch.partition_bytes.value)},
      {"fetch.wait.max.ms", std::to_string(config_.fetch.wait.count() / 1000)},
      {"group.id", in_group() ? config_.group : "aqueduck-" + context_.pipeline},
  };
  if (!config_.instance_id.empty()) {
    settings.emplace_back("group.instance.id", context_.workers > 1
                                                   ? config_.instance_id + "-" + std::to_string(context_.worker)
                                                   : config_.instance_id);
  }
  AQ_ASSIGN(auto conf, kafka_settings(config_, settings, callbacks.get()));
  if (in_group()) {
    rd_kafka_conf_set_rebalance_cb(
        conf.get(), [](rd_kafka_t* client, rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t* partitions,
                       void* opaque) { on_rebalance(client, code, partitions, opaque); });
  }
  char text[512] = "";
  rd_kafka_t* made = rd_kafka_new(RD_KAFKA_CONSUMER, conf.get(), text, sizeof text);
  if (made == nullptr) return fail(ErrorKind::config, "kafka: {}", text);
  (void)conf.release();  // NOLINT(bugprone-unused-return-value): the client owns it now
  {
    const std::lock_guard lock(mutex_);
    health_ = callbacks.get();
    client_ = KafkaHandle(made, [callbacks](rd_kafka_t* client) { rd_kafka_destroy(client); });
  }
  AQ_ASSIGN(const auto all, find_partitions());
  AQ_TRY(load_starts());
  if (in_group()) AQ_TRY(resolve_fresh(all));
  rd_kafka_poll_set_consumer(made);
  looked_ = std::chrono::steady_clock::now();
  if (!in_group()) {
    std::vector<KafkaPartition> mine;
    for (const auto& partition : all) {
      if (static_cast<std::uint32_t>(partition.number) % config_.assign->of != config_.assign->instance) continue;
      mine.push_back(partition);
      if (resolved_.contains(partition)) continue;
      AQ_ASSIGN(resolved_[partition], resolve(partition));
    }
    AQ_TRY(save_starts());
    if (!mine.empty()) assigned_.push_back(std::move(mine));
    return {};
  }
  const List topics = new_list(config_.topics.size());
  for (const auto& topic : config_.topics) add(topics, {topic, RD_KAFKA_PARTITION_UA});
  const auto code = rd_kafka_subscribe(made, topics.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return fail(kafka_error(code, "cannot subscribe"));
  return {};
}

void KafkaSource::on_rebalance(rd_kafka_s* client, int code, rd_kafka_topic_partition_list_s* partitions,
                               void* opaque) {
  KafkaSource* self = static_cast<Callbacks*>(static_cast<KafkaHealth*>(opaque))->source;
  if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS && !self->closing_) {
    self->assigned_.push_back(partitions_of(partitions));
    return;
  }
  if (code == RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS && !self->closing_ && rd_kafka_assignment_lost(client) == 0) {
    self->revoked_.push_back(partitions_of(partitions));
    return;
  }
  if (!self->closing_) self->lost_.push_back(partitions_of(partitions));
  self->give_back(partitions_of(partitions));
}

void KafkaSource::give_back(const std::vector<KafkaPartition>& partitions) {
  const List list = new_list(partitions.size());
  for (const auto& partition : partitions) add(list, partition);
  if (auto done = checked(rd_kafka_incremental_unassign(client_.get(), list.get()), "cannot give partitions back");
      !done)
    log::warn("kafka: {}", done.error().message);
  const std::lock_guard lock(mutex_);
  for (const auto& partition : partitions) {
    owned_.erase(partition);
    at_.erase(partition);
  }
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

Result<void> KafkaSource::start_at(const Positions& positions) {
  std::vector<std::pair<KafkaPartition, std::int64_t>> fresh;
  std::vector<std::pair<KafkaPartition, std::int64_t>> back;
  for (const auto& [name, text] : positions) {
    AQ_ASSIGN(const KafkaPartition partition, KafkaPartition::parse(name));
    AQ_ASSIGN(const std::int64_t offset, offset_of(text));
    AQ_ASSIGN(const std::int64_t begin, within(partition, offset));
    (owned_.contains(partition) ? back : fresh).emplace_back(partition, begin);
  }
  const auto list_of = [](const auto& items) {
    List list = new_list(items.size());
    for (const auto& [partition, offset] : items) add(list, partition)->offset = offset;
    return list;
  };
  if (!back.empty()) {
    const List list = list_of(back);
    AQ_TRY(checked(rd_kafka_seek_partitions(client_.get(), list.get(), kRequestMs), "cannot go back"));
  }
  if (!fresh.empty()) {
    const List list = list_of(fresh);
    AQ_TRY(checked(rd_kafka_incremental_assign(client_.get(), list.get()), "cannot take partitions"));
  }
  const std::lock_guard lock(mutex_);
  for (const auto* items : {&back, &fresh}) {
    for (const auto& [partition, offset] : *items) {
      owned_.insert(partition);
      at_[partition] = offset;
    }
  }
  return {};
}

/// What rebalances left to tell, in an order in which the worker can answer.
Result<std::optional<SourceEvent>> KafkaSource::next_event() {
  const auto names = [](const std::vector<KafkaPartition>& partitions) {
    std::vector<std::string> out;
    out.reserve(partitions.size());
    for (const auto& partition : partitions) out.push_back(partition.name());
    return out;
  };
  if (!lost_.empty()) {
    const auto partitions = std::move(lost_.front());
    lost_.pop_front();
    return SourceEvent(Lost{names(partitions)});
  }
  if (!revoked_.empty()) {
    giving_back_ = std::move(revoked_.front());
    revoked_.pop_front();
    return SourceEvent(Revoked{names(giving_back_)});
  }
  if (!assigned_.empty()) {
    if (assigned_.front().empty()) {
      // Answered all the same: the group waits for it.
      const List none = new_list(0);
      assigned_.pop_front();
      AQ_TRY(checked(rd_kafka_incremental_assign(client_.get(), none.get()), "cannot take partitions"));
      return std::nullopt;
    }
    AQ_ASSIGN(SourceEvent event, assigned_event(assigned_.front()));
    assigned_.pop_front();
    return event;
  }
  return std::nullopt;
}

Result<void> KafkaSource::find_new() {
  const auto now = std::chrono::steady_clock::now();
  if (in_group() || now - looked_ < kLookForNew) return {};
  looked_ = now;
  AQ_ASSIGN(const auto all, find_partitions());
  std::vector<KafkaPartition> fresh;
  for (const auto& partition : all) {
    if (static_cast<std::uint32_t>(partition.number) % config_.assign->of != config_.assign->instance) continue;
    if (!owned_.contains(partition)) fresh.push_back(partition);
  }
  if (!fresh.empty()) assigned_.push_back(std::move(fresh));
  return {};
}

Result<SourceEvent> KafkaSource::read(const ReadLimits& limits) {
  if (client_ == nullptr) return fail(ErrorKind::internal, "Kafka is not open");
  if (!giving_back_.empty()) {
    give_back(giving_back_);
    giving_back_.clear();
  }
  while (true) {
    if (auto failed = std::exchange(failed_, std::nullopt)) return fail(std::move(*failed));
    AQ_TRY(find_new());
    AQ_ASSIGN(auto event, next_event());
    if (event) return std::move(*event);
    AQ_ASSIGN(auto chunk, take(limits));
    if (chunk) return std::move(*chunk);
    if (const auto error = health_->error()) {
      if (error->kind == ErrorKind::denied) return fail(*error);
      AQ_TRY(kafka_topics(client_, *health_));
    }
    const bool waiting = !lost_.empty() || !revoked_.empty() || !assigned_.empty();
    if (!waiting && (limits.stop.stop_requested() || std::chrono::steady_clock::now() >= limits.deadline))
      return Idle{};
  }
}

Result<void> KafkaSource::gap(const rd_kafka_message_s& message) {
  const KafkaPartition partition{message.rkt == nullptr ? "" : rd_kafka_topic_name(message.rkt), message.partition};
  const auto at = at_.find(partition);
  if (at == at_.end()) return {};
  AQ_ASSIGN(const std::int64_t begin, within(partition, at->second));
  return start_at({{partition.name(), std::to_string(begin)}});
}

Result<std::optional<SourceEvent>> KafkaSource::take(const ReadLimits& limits) {
  const auto now = std::chrono::steady_clock::now();
  auto wait = std::chrono::ceil<std::chrono::milliseconds>(
      std::min<std::chrono::steady_clock::duration>(limits.deadline - now, kSlice));
  wait = std::max(wait, std::chrono::milliseconds(0));
  auto taken = std::make_shared<Taken>(client_);
  auto& all = taken->messages;
  rd_kafka_message_t* first = rd_kafka_consumer_poll(client_.get(), static_cast<int>(wait.count()));
  if (first == nullptr) return std::nullopt;
  all.push_back(first);
  const std::size_t most = std::min(limits.max_messages, kMostMessages);
  if (most > 1) {
    const std::unique_ptr<rd_kafka_queue_t, void (*)(rd_kafka_queue_t*)> queue(
        rd_kafka_queue_get_consumer(client_.get()), rd_kafka_queue_destroy);
    all.resize(most);
    const auto got = rd_kafka_consume_batch_queue(queue.get(), 0, all.data() + 1, most - 1);
    all.resize(1 + static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  }
  Chunk chunk;
  Messages messages;
  messages.items.reserve(all.size());
  const rd_kafka_topic_t* topic = nullptr;
  std::int32_t number = -1;
  std::map<KafkaPartition, std::uint32_t> index;
  std::map<KafkaPartition, std::int64_t> next;
  std::uint32_t current = 0;
  std::int64_t* position = nullptr;
  std::optional<Error> failed;
  for (const rd_kafka_message_t* raw : all) {
    if (raw->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (raw->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || raw->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
        if (auto done = gap(*raw); !done) failed = done.error();
      } else if (raw->err == RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED) {
        log::warn("kafka: nothing was read for too long: the group gives the partitions to others");
      } else {
        Error error = kafka_error(raw->err, redact(rd_kafka_message_errstr(raw)));
        if (error.kind != ErrorKind::unavailable) failed = error;
        log::warn("kafka: {}", error.message);
      }
      continue;
    }
    if (raw->rkt != topic || raw->partition != number) {
      topic = raw->rkt;
      number = raw->partition;
      const KafkaPartition partition{rd_kafka_topic_name(topic), number};
      const auto [found, added] = index.emplace(partition, static_cast<std::uint32_t>(messages.partitions.size()));
      if (added) messages.partitions.push_back(partition.name());
      current = found->second;
      position = &at_[partition];
      next.try_emplace(partition, *position);
    }
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
    *position = raw->offset + 1;
  }
  for (const auto& [partition, before] : next) {
    if (const std::int64_t after = at_[partition]; after != before) {
      chunk.next.emplace(partition.name(), std::to_string(after));
    }
  }
  if (!messages.items.empty()) health_->recovered();
  if (failed) failed_ = std::move(failed);  // told once what came before it has been handed on
  if (chunk.next.empty()) return std::nullopt;
  messages.owner = std::move(taken);
  chunk.data = std::move(messages);
  return SourceEvent(std::move(chunk));
}

Result<void> KafkaSource::acknowledge(const Acknowledgement& acknowledgement) {
  if (!in_group() || client_ == nullptr || rd_kafka_assignment_lost(client_.get()) != 0) return {};
  std::map<KafkaPartition, std::int64_t> offsets;
  for (const auto& [name, text] : acknowledgement.positions) {
    AQ_ASSIGN(const KafkaPartition partition, KafkaPartition::parse(name));
    if (!owned_.contains(partition)) continue;
    AQ_ASSIGN(offsets[partition], offset_of(text));
  }
  return store(offsets);
}

Result<Positions> KafkaSource::position() {
  KafkaHandle client;
  std::set<KafkaPartition> owned;
  {
    const std::lock_guard lock(mutex_);
    client = client_;
    owned = owned_;
  }
  Positions out;
  for (const auto& partition : owned) {
    AQ_ASSIGN(const KafkaWatermarks ends, kafka_watermarks(client, partition));
    out.emplace(partition.name(), std::to_string(ends.high));
  }
  return out;
}

void KafkaSource::close() {
  if (client_ == nullptr) return;
  closing_ = true;
  for (auto* list : {&assigned_, &revoked_, &lost_}) list->clear();
  giving_back_.clear();
  rd_kafka_consumer_close(client_.get());
  const std::lock_guard lock(mutex_);
  owned_.clear();
  at_.clear();
  client_.reset();
}

}  // namespace aqueduck
