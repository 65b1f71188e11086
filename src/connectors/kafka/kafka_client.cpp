#include "connectors/kafka/kafka_client.h"

#include <librdkafka/rdkafka.h>

#include <charconv>

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
                       (code == RD_KAFKA_RESP_ERR__SSL && !connected_);
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
  KafkaSettings all{
      {"client.id", "aqueduck"}, {"bootstrap.servers", joined(config.brokers)}, {"reconnect.backoff.max.ms", "2000"}};
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

Result<std::vector<std::pair<std::string, int>>> kafka_topics(const KafkaHandle& client, KafkaHealth& health) {
  const struct rd_kafka_metadata* found = nullptr;
  rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TIMED_OUT;
  for (int tries = 0; tries < 10 && code != RD_KAFKA_RESP_ERR_NO_ERROR; ++tries) {
    code = rd_kafka_metadata(client.get(), 1, nullptr, &found, kRequestMs / 10);
    rd_kafka_poll(client.get(), 0);
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
  std::vector<std::pair<std::string, int>> out;
  for (int i = 0; i < found->topic_cnt; ++i) {
    if (found->topics[i].err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      out.emplace_back(found->topics[i].topic, found->topics[i].partition_cnt);
    }
  }
  rd_kafka_metadata_destroy(found);
  return out;
}

Result<KafkaWatermarks> kafka_watermarks(const KafkaHandle& client, const KafkaPartition& partition) {
  KafkaWatermarks out;
  const auto code = rd_kafka_query_watermark_offsets(client.get(), partition.topic.c_str(), partition.number, &out.low,
                                                     &out.high, kRequestMs);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return fail(kafka_error(code, "cannot ask for the ends of " + partition.name()));
  return out;
}

}  // namespace aqueduck
