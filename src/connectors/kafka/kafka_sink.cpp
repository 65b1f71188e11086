#include "connectors/kafka/kafka_sink.h"

#include <fmt/format.h>
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
  rd_kafka_conf_set_dr_msg_cb(conf.get(),
                              [](rd_kafka_t*, const rd_kafka_message_t* message, void*) { on_delivery(*message); });
  char text[512] = "";
  rd_kafka_t* made = rd_kafka_new(RD_KAFKA_PRODUCER, conf.get(), text, sizeof text);
  if (made == nullptr) return fail(ErrorKind::config, "kafka: {}", text);
  (void)conf.release();  // NOLINT(bugprone-unused-return-value): the client owns it now
  client_ = KafkaHandle(made, [](rd_kafka_t* client) { rd_kafka_destroy(client); });
  AQ_TRY(kafka_topic(client_, *health_, config_.topic, kafka_topic_grace(config_)));
  return Token{};
}

void KafkaSink::on_delivery(const rd_kafka_message_s& message) {
  auto* waiting = static_cast<Waiting*>(message._private);
  waiting->outcome = message.err;
  waiting->delivered = message.err == RD_KAFKA_RESP_ERR_NO_ERROR;
}

Result<void> KafkaSink::write(const RecordBatch& batch) {
  AQ_ASSIGN(auto rows, kafka_rows(batch, config_.key, config_.headers));
  for (KafkaRow& row : rows) waiting_.emplace_back().row = std::move(row);
  return {};
}

/// Puts a message into the client's queue, for which it waits.
int KafkaSink::send(Waiting& waiting) {
  const std::string_view key = waiting.row.key ? std::string_view(*waiting.row.key) : std::string_view();
  // Without a key the pointer is null; an empty key is another thing.
  const char* key_data = waiting.row.key ? key.data() : nullptr;
  while (true) {
    rd_kafka_headers_t* headers = nullptr;
    if (!waiting.row.headers.empty()) {
      headers = rd_kafka_headers_new(waiting.row.headers.size());
      for (const auto& [name, value] : waiting.row.headers) {
        rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                            static_cast<ssize_t>(value.size()));
      }
    }
    const auto code = rd_kafka_producev(client_.get(), RD_KAFKA_V_TOPIC(config_.topic.c_str()),
                                        RD_KAFKA_V_VALUE(waiting.row.payload.data(), waiting.row.payload.size()),
                                        RD_KAFKA_V_KEY(key_data, key.size()), RD_KAFKA_V_HEADERS(headers),
                                        RD_KAFKA_V_OPAQUE(&waiting), RD_KAFKA_V_END);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return code;
    if (headers != nullptr) rd_kafka_headers_destroy(headers);  // it takes them only where it takes the message
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) return code;
    rd_kafka_poll(client_.get(), kWaitMs);
  }
}

Result<CommitResult> KafkaSink::commit(const Token& /*expected*/, const Token& next) {
  if (waiting_.empty()) return Committed{next};
  if (client_ == nullptr) {
    auto opened = open();
    if (!opened) return fail(std::move(opened).error());
  }
  for (Waiting& waiting : waiting_) {
    if (waiting.delivered) continue;
    waiting.outcome = RD_KAFKA_RESP_ERR__IN_PROGRESS;
    if (const int code = send(waiting); code != RD_KAFKA_RESP_ERR_NO_ERROR) waiting.outcome = code;
  }
  // Every message gets a report, at the latest when its time is over.
  while (rd_kafka_flush(client_.get(), kWaitMs) == RD_KAFKA_RESP_ERR__TIMED_OUT) {
    const auto error = health_->error();
    if (error && error->kind == ErrorKind::denied) rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE);
  }
  const auto bad = std::find_if(waiting_.begin(), waiting_.end(), [](const Waiting& row) { return !row.delivered; });
  if (bad == waiting_.end()) {
    waiting_.clear();
    return Committed{next};
  }
  const auto left = std::count_if(bad, waiting_.end(), [](const Waiting& row) { return !row.delivered; });
  Error error = failure(*bad, static_cast<std::size_t>(left));
  char text[512] = "";
  if (rd_kafka_fatal_error(client_.get(), text, sizeof text) != RD_KAFKA_RESP_ERR_NO_ERROR) client_.reset();
  return fail(std::move(error));
}

/// Why messages were not taken: what is wrong with the connection or the topic, else the first one's report.
Error KafkaSink::failure(const Waiting& bad, std::size_t left) {
  if (const auto health = health_->error()) return *health;
  const bool unknown =
      bad.outcome == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || bad.outcome == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
      bad.outcome == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION || bad.outcome == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT;
  if (unknown) {
    if (auto topic = kafka_topic(client_, *health_, config_.topic, kafka_topic_grace(config_)); !topic) {
      return std::move(topic).error();
    }
  }
  return kafka_error(bad.outcome, fmt::format("{} messages were not taken by topic '{}'", left, config_.topic));
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
