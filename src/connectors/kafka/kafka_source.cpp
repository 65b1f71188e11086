#include "connectors/kafka/kafka_source.h"

#include <algorithm>
#include <charconv>

#include "base/log.h"
#include "connectors/kafka/kafka_callbacks.h"
#include "connectors/kafka/kafka_list.h"

namespace aqueduck {

namespace {

constexpr std::chrono::milliseconds kFirstWait{100};
constexpr std::chrono::milliseconds kLongestWait{5000};
constexpr std::chrono::seconds kFresh{5};       // an end of a partition as librdkafka last saw it
constexpr std::chrono::seconds kAskForEnds{1};  // all partitions together

}  // namespace

void KafkaRetry::failed() {
  wait_ = std::clamp(wait_ * 2, kFirstWait, kLongestWait);
  at_ = std::chrono::steady_clock::now() + wait_;
}

KafkaSource::KafkaSource(KafkaSourceConfig config, const ComponentContext& context)
    : config_(std::move(config)), context_(context), look_for_new_(kafka_refresh(config_)) {
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
  traits.give_back = std::min(traits.give_back, config_.session_timeout);
  return traits;
}

Result<rd_kafka_s*> KafkaSource::make_client() {
  auto callbacks = std::make_shared<KafkaCallbacks>(config_, this);
  const auto milliseconds = [](const Duration& duration) { return duration.count() / 1000; };
  const std::int64_t session = milliseconds(config_.session_timeout);
  KafkaSettings settings{
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"auto.offset.reset", "error"},
      // Batches count an end-of-partition event as a message (librdkafka 2.12): when a rebalance has paused a
      // partition, it would go on one message too far.
      {"enable.partition.eof", "false"},
      {"partition.assignment.strategy", "cooperative-sticky"},
      {"isolation.level", config_.isolation == KafkaIsolation::committed ? "read_committed" : "read_uncommitted"},
      {"session.timeout.ms", std::to_string(session)},
      {"heartbeat.interval.ms", std::to_string(std::max<std::int64_t>(1, session / 5))},
      {std::string(kKafkaPollLimit), std::to_string(std::max(kafka_poll_limit(config_).count(), session))},
      // New topics and partitions are found within this time.
      {"topic.metadata.refresh.interval.ms", std::to_string(kafka_refresh(config_).count())},
      // The bytes are the limit. Without the second, fetching rests for a second whenever it was reached.
      {"queued.min.messages", "10000000"},
      {"fetch.queue.backoff.ms", "5"},
      {"queued.max.messages.kbytes", std::to_string(std::max<std::uint64_t>(1, config_.fetch.queue.value / 1024))},
      {"fetch.max.bytes", std::to_string(config_.fetch.max_bytes.value)},
      {"message.max.bytes", std::to_string(std::clamp<std::uint64_t>(config_.fetch.max_bytes.value, 1000, 1'000'000))},
      {"max.partition.fetch.bytes", std::to_string(config_.fetch.partition_bytes.value)},
      {"fetch.wait.max.ms", std::to_string(milliseconds(config_.fetch.wait))},
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
  const std::lock_guard lock(mutex_);
  health_ = callbacks.get();
  client_ = KafkaHandle(made, [callbacks](rd_kafka_t* client) { rd_kafka_destroy(client); });
  return made;
}

Result<void> KafkaSource::open() {
  close();
  closing_ = false;
  AQ_ASSIGN(rd_kafka_t * client, make_client());
  AQ_ASSIGN(const auto all, find_partitions());
  for (const auto& [name, offset] : saved_starts_) {
    AQ_ASSIGN(const KafkaPartition partition, KafkaPartition::parse(name));
    AQ_ASSIGN(resolved_[partition], offset_of(offset));
  }
  if (in_group()) AQ_TRY(resolve_fresh(all));
  health_->read_with_messages();
  rd_kafka_poll_set_consumer(client);
  looked_ = std::chrono::steady_clock::now();
  if (!in_group()) {
    auto own = mine(all);
    AQ_TRY(resolve_assigned(own));
    if (!own.empty()) assigned_.push_back(std::move(own));
    return {};
  }
  const List topics = new_list(config_.topics.size());
  for (const auto& topic : config_.topics) add(topics, {topic, RD_KAFKA_PARTITION_UA});
  const auto code = rd_kafka_subscribe(client, topics.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return fail(kafka_error(code, "cannot subscribe"));
  polled_ = std::chrono::steady_clock::now();
  try {
    keeper_ = std::jthread([this](const std::stop_token& stop) { keep_alive(stop); });
  } catch (const std::system_error& error) {
    return fail(ErrorKind::limit, "cannot start a thread for Kafka: {}", error.code().message());
  }
  return {};
}

Result<void> KafkaSource::start_at(const Positions& positions) {
  const std::lock_guard turn(turn_);
  Offsets offsets;
  for (const auto& [name, text] : positions) {
    AQ_ASSIGN(const KafkaPartition partition, KafkaPartition::parse(name));
    AQ_ASSIGN(offsets[partition], offset_of(text));
  }
  // read() does it: a broker that is away just now must not end the pipeline.
  for (const auto& [partition, offset] : offsets) {
    const bool ours = owned_.contains(partition) || told_.contains(partition) || beginning_.contains(partition);
    if (ours) beginning_.insert_or_assign(partition, offset);
  }
  beginning_.merge(told_);
  told_.clear();
  settling_.succeeded();
  return {};
}

Result<SourceEvent> KafkaSource::read(const ReadLimits& limits) {
  if (client_ == nullptr) return fail(ErrorKind::internal, "Kafka is not open");
  const std::lock_guard turn(turn_);
  wake_up();
  if (!giving_back_.empty()) hand_over();
  while (true) {
    if (auto failed = std::exchange(failed_, std::nullopt)) return fail(std::move(*failed));
    if (auto event = next_event()) return std::move(*event);
    AQ_ASSIGN(auto assigned, settle());
    if (assigned) return std::move(*assigned);
    AQ_ASSIGN(auto chunk, take(limits));
    if (chunk) return std::move(*chunk);
    if (!revoked_.empty() || !lost_.empty()) continue;
    if (const auto error = health_->error()) {
      if (error->kind == ErrorKind::denied) return fail(*error);
      AQ_TRY(kafka_topics(client_, *health_));
    }
    if (limits.stop.stop_requested()) return Idle{};
    if (std::chrono::steady_clock::now() < limits.deadline || (!assigned_.empty() && !trouble_)) continue;
    if (trouble_) return fail(*trouble_);
    return Idle{};
  }
}

Result<void> KafkaSource::acknowledge(const Acknowledgement& acknowledgement) {
  const std::lock_guard turn(turn_);
  if (!in_group() || client_ == nullptr || rd_kafka_assignment_lost(client_.get()) != 0) return {};
  for (const auto& [name, text] : acknowledgement.positions) {
    AQ_ASSIGN(const KafkaPartition partition, KafkaPartition::parse(name));
    AQ_ASSIGN(const std::int64_t offset, offset_of(text));
    if (owned_.contains(partition)) unstored_.insert_or_assign(partition, offset);
  }
  const int code = store_acknowledged();
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  // A group that is just sharing out its partitions takes no offsets: they are stored a moment later.
  if (code == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS || code == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION) return {};
  return fail(kafka_error(code, "cannot store the offsets of the group yet"));
}

Result<Positions> KafkaSource::position() {
  using Clock = std::chrono::steady_clock;
  KafkaHandle client;
  std::map<KafkaPartition, Owned> owned;
  {
    const std::lock_guard lock(mutex_);
    client = client_;
    owned = owned_;
  }
  Positions out;
  const auto until = Clock::now() + kAskForEnds;
  for (auto& [partition, state] : owned) {
    std::int64_t low = 0;
    std::int64_t high = -1;
    const bool seen = rd_kafka_get_watermark_offsets(client.get(), partition.topic.c_str(), partition.number, &low,
                                                     &high) == RD_KAFKA_RESP_ERR_NO_ERROR &&
                      high >= 0;
    // Every answer to a fetch brings the end: it is as good as asked for while it moves, or where all was read and
    // fetches wait there.
    const auto now = Clock::now();
    if (seen && (high > state.high || high <= state.at)) {
      state.asked = now;
    } else if (!seen || now - state.asked > kFresh) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - now);
      Result<KafkaWatermarks> ends = fail(ErrorKind::unavailable, "no answer yet about {}", partition.name());
      if (left.count() > 0) ends = kafka_watermarks(client, partition, left);
      if (ends) {
        high = ends->high;
        state.asked = now;
      } else if (!seen) {
        return fail(std::move(ends).error());
      }
    }
    state.high = std::max(state.high, high);
    out.emplace(partition.name(), std::to_string(std::max(high, state.high)));
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [partition, state] : owned) {
    const auto found = owned_.find(partition);
    if (found == owned_.end()) continue;
    found->second.high = state.high;
    found->second.asked = state.asked;
  }
  return out;
}

void KafkaSource::close() {
  keeper_ = {};
  if (client_ == nullptr) return;
  if (!unstored_.empty() && rd_kafka_assignment_lost(client_.get()) == 0) {
    if (const int code = store_acknowledged(); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
      log::warn("{}: who reads on may read some messages again",
                kafka_error(code, "kafka: cannot store the last offsets of the group").message);
    }
  }
  closing_ = true;
  assigned_.clear();
  revoked_.clear();
  lost_.clear();
  giving_back_.clear();
  paused_.clear();
  for (auto* offsets : {&told_, &beginning_, &unstored_}) offsets->clear();
  trouble_.reset();
  failed_.reset();
  settling_.succeeded();
  storing_.succeeded();
  topic_missing_ = false;
  rd_kafka_consumer_close(client_.get());
  const std::lock_guard lock(mutex_);
  owned_.clear();
  client_.reset();
}

}  // namespace aqueduck
