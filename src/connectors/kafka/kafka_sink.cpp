#include "connectors/kafka/kafka_sink.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>

#include "connectors/kafka/kafka_rows.h"

namespace aqueduck {

namespace {
constexpr int kWaitMs = 100;
}  // namespace

SinkTraits kafka_sink_traits() {
  SinkTraits traits;
  traits.many_writers = true;
  traits.guarantee =
      "at-least-once: the sink 'kafka' can't store positions in one transaction with the messages, so rows that were "
      "sent just before a crash are sent again";
  return traits;
}

KafkaSink::KafkaSink(KafkaSinkConfig config, const ComponentContext& /*context*/) : config_(std::move(config)) {}
KafkaSink::~KafkaSink() { close(); }

Result<Token> KafkaSink::open() {
  client_.reset();  // rows that wait stay: a commit opens again after a fatal error
  health_ = std::make_unique<KafkaHealth>(config_);
  constexpr const char* kNames[] = {"none", "gzip", "snappy", "lz4", "zstd"};
  const KafkaSettings settings{{"acks", "all"},
                               {"enable.idempotence", "true"},
                               {"linger.ms", "5"},
                               {"message.timeout.ms", "30000"},
                               {"queue.buffering.max.kbytes", "65536"},
                               {"compression.codec", kNames[static_cast<int>(config_.compression)]}};
  AQ_ASSIGN(auto conf, kafka_settings(config_, settings, health_.get()));
  rd_kafka_conf_set_dr_msg_cb(conf.get(), [](rd_kafka_t*, const rd_kafka_message_t* message, void*) {
    Row* row = static_cast<Row*>(message->_private);
    row->outcome = message->err;
    row->delivered = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
  });
  char text[512] = "";
  rd_kafka_t* made = rd_kafka_new(RD_KAFKA_PRODUCER, conf.get(), text, sizeof text);
  if (made == nullptr) return fail(ErrorKind::config, "kafka: {}", text);
  (void)conf.release();
  client_ = KafkaHandle(made, [](rd_kafka_t* client) { rd_kafka_destroy(client); });
  AQ_TRY(kafka_topics(client_, *health_));
  return Token{};
}

Result<void> KafkaSink::write(const RecordBatch& batch) {
  return append_kafka_rows(config_, batch, [this](KafkaRow row) {
    Row& waiting = waiting_.emplace_back();
    waiting.payload = std::move(row.payload);
    waiting.key = std::move(row.key);
  });
}

Result<CommitResult> KafkaSink::commit(const Token& /*expected*/, const Token& next) {
  if (waiting_.empty()) return Committed{next};
  if (client_ == nullptr) {
    auto opened = open();
    if (!opened) return fail(std::move(opened).error());
  }
  for (Row& row : waiting_) {
    if (row.delivered) continue;
    row.outcome = RD_KAFKA_RESP_ERR__IN_PROGRESS;
    const std::string_view key = row.key ? std::string_view(*row.key) : std::string_view();
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__QUEUE_FULL;
    while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      code = rd_kafka_producev(client_.get(), RD_KAFKA_V_TOPIC(config_.topic.c_str()),
                               RD_KAFKA_V_VALUE(row.payload.data(), row.payload.size()),
                               RD_KAFKA_V_KEY(key.data(), key.size()), RD_KAFKA_V_OPAQUE(&row), RD_KAFKA_V_END);
      if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) rd_kafka_poll(client_.get(), kWaitMs);
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) row.outcome = code;
  }
  // Every message gets a report, at the latest when its time is over.
  while (rd_kafka_flush(client_.get(), kWaitMs) == RD_KAFKA_RESP_ERR__TIMED_OUT) {
    const auto error = health_->error();
    if (error && error->kind == ErrorKind::denied) rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE);
  }
  const auto bad = std::find_if(waiting_.begin(), waiting_.end(), [](const Row& row) { return !row.delivered; });
  if (bad == waiting_.end()) {
    waiting_.clear();
    return Committed{next};
  }
  const auto left = std::count_if(bad, waiting_.end(), [](const Row& row) { return !row.delivered; });
  Error error = kafka_error(bad->outcome, fmt::format("{} messages were not taken by topic '{}'", left, config_.topic));
  if (const auto health = health_->error()) error = *health;
  char text[512] = "";
  if (rd_kafka_fatal_error(client_.get(), text, sizeof text) != RD_KAFKA_RESP_ERR_NO_ERROR) client_.reset();
  return fail(std::move(error));
}

Result<void> KafkaSink::abort() {
  waiting_.clear();
  return {};
}

void KafkaSink::close() {
  client_.reset();
  waiting_.clear();
}

}  // namespace aqueduck
