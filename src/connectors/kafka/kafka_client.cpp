#include "connectors/kafka/kafka_client.h"

#include <librdkafka/rdkafka.h>

#include <charconv>
#include <thread>

#include "base/log.h"

namespace aqueduck {

namespace {

constexpr int kRequestMs = 5000;

void on_error(rd_kafka_t* /*client*/, int code, const char* reason, void* opaque) {
  static_cast<KafkaHealth*>(opaque)->report(code, reason == nullptr ? "" : reason);
}

void on_log(const rd_kafka_t* /*client*/, int level, const char* facility, const char* text) {
  // librdkafka counts like syslog; what matters comes as an error, too.
  log::log(level <= 2 ? log::Level::warn : log::Level::debug, "kafka: {}: {}", facility, text);
}

Result<void> set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  char text[512] = "";
  if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof text) == RD_KAFKA_CONF_OK) return {};
  return fail(ErrorKind::config, "kafka: {}", text);
}

std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "" : ",") + item;
  return out;
}

// With TLS 1.3 a broker refuses the client's certificate after the handshake: librdkafka calls that a transport error.
bool refuses_certificate(const std::string& reason) {
  constexpr std::string_view kAlert = "SSL alert number ";
  const auto at = reason.find(kAlert);
  if (at == std::string::npos) return false;
  int alert = 0;
  const char* const first = reason.data() + at + kAlert.size();
  std::from_chars(first, reason.data() + reason.size(), alert);
  // Of RFC 8446: handshake_failure to access_denied, and certificate_required.
  return (alert >= 40 && alert <= 49) || alert == 116;
}

}  // namespace

std::string_view kafka_mechanism(KafkaMechanism mechanism) {
  if (mechanism == KafkaMechanism::plain) return "PLAIN";
  return mechanism == KafkaMechanism::scram_sha_256 ? "SCRAM-SHA-256" : "SCRAM-SHA-512";
}

KafkaHealth::KafkaHealth(const KafkaConnection& config) : peer_(joined(config.brokers)) {
  if (config.sasl) {
    peer_ += fmt::format(" ({}, user '{}')", kafka_mechanism(config.sasl->mechanism), config.sasl->username);
  }
}

void KafkaHealth::report(int code, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  const bool refused = code == RD_KAFKA_RESP_ERR__AUTHENTICATION ||
                       code == RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED ||
                       (code == RD_KAFKA_RESP_ERR__SSL && !connected_) ||
                       (code == RD_KAFKA_RESP_ERR__TRANSPORT && !connected_ && refuses_certificate(reason));
  if (refused) {
    error_ = make_error(ErrorKind::denied, "Kafka at {} refused the connection: {}", peer_, redact(reason));
  } else if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && !error_) {
    error_ = make_error(ErrorKind::unavailable, "no broker of Kafka at {} can be reached", peer_);
  } else {
    log::debug("kafka: {}: {}", rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(code)), reason);
  }
}

void KafkaHealth::recovered() {
  const std::lock_guard lock(mutex_);
  connected_ = true;
  if (error_ && error_->kind == ErrorKind::unavailable) error_.reset();
}

std::optional<Error> KafkaHealth::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

Result<KafkaPartition> KafkaPartition::parse(std::string_view name) {
  const auto slash = name.rfind('/');
  KafkaPartition out;
  if (slash != std::string_view::npos && slash > 0) {
    out.topic = name.substr(0, slash);
    const char* end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + slash + 1, end, out.number);
    if (read.ec == std::errc() && read.ptr == end && out.number >= 0) return out;
  }
  return fail(ErrorKind::conflict, "'{}' is no partition of Kafka", name);
}

Error kafka_error(int code, std::string_view what) {
  const auto error = static_cast<rd_kafka_resp_err_t>(code);
  ErrorKind kind = ErrorKind::unavailable;
  switch (error) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      kind = ErrorKind::denied;
      break;
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
      kind = ErrorKind::conflict;
      break;
    case RD_KAFKA_RESP_ERR__UNKNOWN_GROUP:
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
    case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:  // no valid name
      kind = ErrorKind::config;
      break;
    default:
      break;
  }
  return make_error(kind, "{}: {}", what, redact(rd_kafka_err2str(error)));
}

Result<std::unique_ptr<rd_kafka_conf_s, void (*)(rd_kafka_conf_s*)>> kafka_settings(const KafkaConnection& config,
                                                                                    const KafkaSettings& settings,
                                                                                    KafkaHealth* health) {
  std::unique_ptr<rd_kafka_conf_s, void (*)(rd_kafka_conf_s*)> conf(rd_kafka_conf_new(), rd_kafka_conf_destroy);
  KafkaSettings all{{"client.id", "aqueduck"},
                    {"bootstrap.servers", joined(config.brokers)},
                    {"reconnect.backoff.max.ms", "2000"},
                    {std::string(kKafkaTopicGrace), std::to_string(kafka_topic_grace(config).count())}};
  std::string protocol = config.tls ? "ssl" : "plaintext";
  if (config.sasl) protocol = config.tls ? "sasl_ssl" : "sasl_plaintext";
  all.emplace_back("security.protocol", protocol);
  if (config.tls) {
    if (!config.tls->ca.empty()) all.emplace_back("ssl.ca.location", config.tls->ca);
    if (!config.tls->cert.empty()) all.emplace_back("ssl.certificate.location", config.tls->cert);
    if (!config.tls->key.empty()) all.emplace_back("ssl.key.location", config.tls->key);
    all.emplace_back("enable.ssl.certificate.verification", config.tls->verify ? "true" : "false");
  }
  if (config.sasl) {
    all.emplace_back("sasl.mechanism", kafka_mechanism(config.sasl->mechanism));
    all.emplace_back("sasl.username", config.sasl->username);
    all.emplace_back("sasl.password", config.sasl->password.reveal());
  }
  all.insert(all.end(), settings.begin(), settings.end());
  for (const auto& [name, value] : config.properties) all.emplace_back(name, value);
  for (const auto& [name, value] : all) AQ_TRY(set(conf.get(), name, value));
  rd_kafka_conf_set_opaque(conf.get(), health);
  rd_kafka_conf_set_error_cb(conf.get(), on_error);
  rd_kafka_conf_set_log_cb(conf.get(), on_log);
  return conf;
}

namespace {

using Metadata = std::unique_ptr<const struct rd_kafka_metadata, void (*)(const struct rd_kafka_metadata*)>;

/// Of one topic, or of all where it is null; waits a few seconds for brokers.
Result<Metadata> metadata(const KafkaHandle& client, KafkaHealth& health, rd_kafka_topic_t* topic) {
  const struct rd_kafka_metadata* found = nullptr;
  rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TIMED_OUT;
  for (int tries = 0; tries < 10 && code != RD_KAFKA_RESP_ERR_NO_ERROR; ++tries) {
    code = rd_kafka_metadata(client.get(), topic == nullptr ? 1 : 0, topic, &found, kRequestMs / 10);
    if (!health.is_read_with_messages())
      rd_kafka_poll(client.get(), 0);  // for errors: it would meet messages otherwise
    if (const auto error = health.error(); error && error->kind == ErrorKind::denied) {
      if (found != nullptr) rd_kafka_metadata_destroy(found);
      return fail(*error);
    }
  }
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (const auto error = health.error()) return fail(*error);
    return fail(kafka_error(code, "cannot list the topics of Kafka"));
  }
  health.recovered();
  return Metadata(found, rd_kafka_metadata_destroy);
}

}  // namespace

Result<std::vector<std::pair<std::string, int>>> kafka_topics(const KafkaHandle& client, KafkaHealth& health) {
  AQ_ASSIGN(const Metadata found, metadata(client, health, nullptr));
  std::vector<std::pair<std::string, int>> out;
  for (int i = 0; i < found->topic_cnt; ++i) {
    if (found->topics[i].err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      out.emplace_back(found->topics[i].topic, found->topics[i].partition_cnt);
    }
  }
  return out;
}

Error kafka_no_topic(const KafkaHealth& health, const std::string& topic, const std::vector<std::string_view>& known) {
  return make_error(ErrorKind::denied,
                    "there is no topic '{}' at {}, or its user may not see it{}; create it first, or see to its rights",
                    topic, health.peer(), config::did_you_mean(topic, known));
}

Result<void> kafka_topic(const KafkaHandle& client, KafkaHealth& health, const std::string& topic,
                         std::chrono::milliseconds grace) {
  const std::unique_ptr<rd_kafka_topic_t, void (*)(rd_kafka_topic_t*)> handle(
      rd_kafka_topic_new(client.get(), topic.c_str(), nullptr), rd_kafka_topic_destroy);
  if (handle == nullptr) return fail(kafka_error(rd_kafka_last_error(), "topic '" + topic + "'"));
  const auto until = std::chrono::steady_clock::now() + grace;
  while (true) {
    AQ_ASSIGN(const Metadata found, metadata(client, health, handle.get()));
    const rd_kafka_resp_err_t code =
        found->topic_cnt == 1 ? found->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    const bool missing =
        code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
    if (!missing) return fail(kafka_error(code, "topic '" + topic + "'"));
    if (std::chrono::steady_clock::now() >= until) {
      if (code == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE) return fail(kafka_error(code, "topic '" + topic + "'"));
      return fail(kafka_no_topic(health, topic, {}));
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

Result<KafkaWatermarks> kafka_watermarks(const KafkaHandle& client, const KafkaPartition& partition,
                                         std::chrono::milliseconds limit) {
  KafkaWatermarks out;
  // librdkafka (2.12) asks for both ends apart, and where the answer about the beginning failed it may give the end for
  // both: messages would seem gone. An empty partition says so twice.
  for (int times = 0; times < 2 && out.low == out.high; ++times) {
    const auto code = rd_kafka_query_watermark_offsets(client.get(), partition.topic.c_str(), partition.number,
                                                       &out.low, &out.high, static_cast<int>(limit.count()));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
      return fail(kafka_error(code, "cannot ask for the ends of " + partition.name()));
  }
  if (out.low < 0 || out.high < 0) {
    return fail(ErrorKind::unavailable, "cannot ask for the ends of {}: only one answer came", partition.name());
  }
  return out;
}

}  // namespace aqueduck
