#include "connectors/kafka/kafka_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <regex>

namespace aqueduck {

namespace {

const config::ObjectSpec<KafkaTls>& tls_spec() {
  static const config::ObjectSpec<KafkaTls> spec(
      "tls", "TLS to the brokers.",
      {config::field("ca", &KafkaTls::ca, "File with the authorities to trust; the system's where it isn't set."),
       config::field("cert", &KafkaTls::cert, "File with the client's certificate."),
       config::field("key", &KafkaTls::key, "File with the client's key."),
       config::field("verify", &KafkaTls::verify, "Checks the brokers' certificates and names.")});
  return spec;
}

const config::ObjectSpec<KafkaSasl>& sasl_spec() {
  static const config::ObjectSpec<KafkaSasl> spec(
      "sasl", "User and password.",
      {config::choice("mechanism", &KafkaSasl::mechanism,
                      {{"plain", KafkaMechanism::plain, "the password itself, so use TLS"},
                       {"scram-sha-256", KafkaMechanism::scram_sha_256, "SCRAM with SHA-256"},
                       {"scram-sha-512", KafkaMechanism::scram_sha_512, "SCRAM with SHA-512"}},
                      "How the password is proven."),
       config::field("username", &KafkaSasl::username, "The user.").required().example("reader"),
       config::field("password", &KafkaSasl::password, "The password.").required().example("${KAFKA_PASSWORD}")});
  return spec;
}

const config::ObjectSpec<KafkaAssign>& assign_spec() {
  static const config::ObjectSpec<KafkaAssign> spec(
      "assign", "Fixed assignment: partition p is instance p mod `of`'s.",
      {config::field("instance", &KafkaAssign::instance, "This instance, from 0.").required().example("0"),
       config::field("of", &KafkaAssign::of, "How many instances there are.").required().example("2")});
  return spec;
}

const config::ObjectSpec<KafkaFetch>& fetch_spec() {
  static const config::ObjectSpec<KafkaFetch> spec(
      "fetch", "Limits of reading ahead.",
      {config::field("queue", &KafkaFetch::queue, "Fetched messages that wait in memory, all partitions together."),
       config::field("max_bytes", &KafkaFetch::max_bytes, "The most that a broker puts into one answer."),
       config::field("partition_bytes", &KafkaFetch::partition_bytes, "The most of one partition in an answer."),
       config::field("wait", &KafkaFetch::wait, "How long a broker waits for more before it answers.")});
  return spec;
}

template <typename Config>
std::vector<config::Field<Config>> connection_fields() {
  return {
      config::field("brokers", static_cast<std::vector<std::string> Config::*>(&Config::brokers),
                    "Brokers to begin with, `host:port`.")
          .required()
          .example("[localhost:9092]"),
      config::object("tls", static_cast<std::optional<KafkaTls> Config::*>(&Config::tls), tls_spec(),
                     "TLS; `{}` takes the system's authorities."),
      config::object("sasl", static_cast<std::optional<KafkaSasl> Config::*>(&Config::sasl), sasl_spec(),
                     "User and password."),
      config::field("properties", static_cast<std::map<std::string, std::string> Config::*>(&Config::properties),
                    "Other settings of librdkafka, by its names."),
  };
}

/// Digits only, all of them.
std::optional<int> number(std::string_view text) {
  int out = 0;
  if (text.empty() || text.size() > 9) return std::nullopt;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + (c - '0');
  }
  return out;
}

// What the source and the sink rely on, and what has a field of its own.
constexpr std::array kReserved{"group.id",
                               "enable.auto.commit",
                               "enable.auto.offset.store",
                               "bootstrap.servers",
                               "metadata.broker.list",
                               "partition.assignment.strategy",
                               "auto.offset.reset",
                               "group.protocol",
                               "enable.partition.eof",
                               "isolation.level",
                               "group.instance.id",
                               "session.timeout.ms",
                               "security.protocol",
                               "sasl.password",
                               "sasl.username",
                               "sasl.mechanism",
                               "sasl.mechanisms",
                               "acks",
                               "request.required.acks",
                               "enable.idempotence",
                               "transactional.id",
                               "ssl.key.password",
                               "log_level",
                               "plugin.library.paths"};

}  // namespace

Result<KafkaStart> parse_kafka_start(const std::string& text) {
  KafkaStart start;
  if (text == "earliest") return start;
  start.at = KafkaStart::At::latest;
  if (text == "latest") return start;
  start.at = KafkaStart::At::time;
  const auto bad = [&] {
    return fail(ErrorKind::config,
                "'{}' is no start: use earliest, latest, or a time with its zone like 2026-01-31T12:00:00Z", text);
  };
  static const std::regex form(
      R"((\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?([Zz]|([+-])(\d{2}):(\d{2})))");
  std::smatch part;
  if (text.size() > 64 || !std::regex_match(text, part, form)) return bad();
  const auto at = [&](std::size_t i) { return *number(part[i].str()); };
  const std::chrono::year_month_day day{std::chrono::year(at(1)), std::chrono::month(static_cast<unsigned>(at(2))),
                                        std::chrono::day(static_cast<unsigned>(at(3)))};
  if (!day.ok() || at(4) > 23 || at(5) > 59 || at(6) > 60) return bad();
  std::int64_t seconds =
      std::chrono::sys_days(day).time_since_epoch().count() * 86400LL + at(4) * 3600LL + at(5) * 60LL + at(6);
  if (part[9].matched) {
    if (at(10) > 23 || at(11) > 59) return bad();
    const std::int64_t zone = at(10) * 3600LL + at(11) * 60LL;
    seconds += part[9].str() == "-" ? zone : -zone;
  }
  std::string fraction = part[7].matched ? part[7].str().substr(1) : "";
  fraction.resize(3, '0');
  start.milliseconds = seconds * 1000 + *number(fraction);
  if (start.milliseconds < 0) return bad();
  return start;
}

const std::vector<MetadataColumn>& kafka_metadata() {
  using What = MetadataColumn::What;
  static const std::vector<MetadataColumn> all = {
      {"_key", What::key},       {"_topic", What::topic},         {"_partition", What::partition},
      {"_offset", What::offset}, {"_timestamp", What::timestamp}, {"_headers", What::headers}};
  return all;
}

const config::ObjectSpec<KafkaSourceConfig>& kafka_source_spec() {
  static const config::ObjectSpec<KafkaSourceConfig> spec = [] {
    using C = KafkaSourceConfig;
    auto fields = connection_fields<C>();
    std::vector<config::Field<C>> own{
        config::field("topics", &C::topics,
                      "Names of topics; one that begins with `^` is a regular expression (POSIX extended).")
            .required()
            .example("[events]"),
        config::field("group", &C::group,
                      "The consumer group: partitions are shared with its other members; offsets are kept in it."),
        config::object("assign", &C::assign, assign_spec(),
                       "Instead of a group: fixed partitions; positions are kept by the sink or in `state:`."),
        config::field(
            "start", &C::start,
            "Where to begin the first time: `earliest`, `latest`, or a time like `2026-01-31T12:00:00Z`. With "
            "`assign` all but `earliest` need `state:`, which keeps what they came to. A partition that appears later "
            "is read from its beginning."),
        config::field("session_timeout", &C::session_timeout,
                      "After this time without a heartbeat the group gives the partitions to others."),
        config::field("instance_id", &C::instance_id,
                      "A name for this member that stays over restarts, so that they move no partitions."),
        config::object("fetch", &C::fetch, fetch_spec(), "Limits of reading ahead."),
        config::choice("isolation", &C::isolation,
                       {{"read_committed", KafkaIsolation::committed, "messages of committed transactions only"},
                        {"read_uncommitted", KafkaIsolation::uncommitted, "all messages"}},
                       "What of transactions is read."),
        config::field("metadata", &C::metadata,
                      "Columns to add to the rows: `_key` (bytes), `_topic`, `_partition`, `_offset`, `_timestamp`, "
                      "`_headers` (a JSON list of [name, value]).")
            .example("[_key, _timestamp]"),
        config::choice("on_gap", &C::on_gap,
                       {{"fail", KafkaGap::fail, "the pipeline ends with exit code 14 and says what is missing"},
                        {"earliest", KafkaGap::earliest, "goes on with the first message there is"},
                        {"latest", KafkaGap::latest, "goes on with the next message that arrives"}},
                       "What to do about a position that isn't in the topic any more.")};
    fields.insert(fields.begin() + 1, own.begin(), own.end());
    config::ObjectSpec<C> out("kafka", "Reads topics of Kafka, in a consumer group or with a fixed assignment.",
                              fields);
    out.details(
        "Positions are next offsets. While a worker doesn't read, because its sink is away or a statement takes long, "
        "its partitions are paused and it stays in the group. Partitions that the group wants back meanwhile are given "
        "back after 10 seconds (or `session_timeout`, where that is less), and what hasn't been committed of them is "
        "dropped: who takes them over reads it again.");
    return out;
  }();
  return spec;
}

const config::ObjectSpec<KafkaSinkConfig>& kafka_sink_spec() {
  static const config::ObjectSpec<KafkaSinkConfig> spec = [] {
    using C = KafkaSinkConfig;
    auto fields = connection_fields<C>();
    std::vector<config::Field<C>> own{
        config::field("topic", &C::topic, "The topic.").required().example("views"),
        config::field("key", &C::key,
                      "A column whose value is the message's key, too: a text as it is, a "
                      "BLOB's bytes, of other types their text; NULL: no key."),
        config::field("headers", &C::headers,
                      "A column, MAP or STRUCT, whose entries are the message's headers "
                      "instead of a part of its JSON; NULL values are left out."),
        config::choice("compression", &C::compression,
                       {{"none", KafkaCompression::none, "none"},
                        {"gzip", KafkaCompression::gzip, "gzip"},
                        {"snappy", KafkaCompression::snappy, "snappy"},
                        {"lz4", KafkaCompression::lz4, "LZ4"},
                        {"zstd", KafkaCompression::zstd, "zstd"}},
                       "How batches of messages are compressed.")};
    fields.insert(fields.begin() + 1, own.begin(), own.end());
    return config::ObjectSpec<C>("kafka", "Writes a JSON message a row to a topic of Kafka.", fields);
  }();
  return spec;
}

namespace {

/// Where a key's value stands, or, where there is none, the object.
const config::Node& at(const config::Node& node, std::string_view key) {
  const config::Node* found = node.find(key);
  return found == nullptr ? node : *found;
}

std::chrono::milliseconds property(const KafkaConnection& config, std::string_view name,
                                   std::chrono::milliseconds otherwise) {
  const auto set = config.properties.find(std::string(name));
  if (set == config.properties.end()) return otherwise;
  const auto value = number(set->second);
  return value ? std::chrono::milliseconds(*value) : otherwise;
}

void check_connection(const KafkaConnection& config, const config::Node& node, config::Faults& faults) {
  if (config.brokers.empty()) faults.add(at(node, "brokers").where, "'brokers' names no broker");
  for (const auto& [name, value] : config.properties) {
    const bool reserved = std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
    const config::Location& where = at(at(node, "properties"), name).where;
    if (reserved) faults.add(where, "'properties' can't set '{}': it has a field or a fixed value", name);
    if ((name == kKafkaTopicGrace || name == kKafkaRefresh || name == kKafkaPollLimit) && !number(value)) {
      faults.add(where, "'{}': '{}' is no number of milliseconds", name, value);
    }
  }
  if (config.tls && config.tls->cert.empty() != config.tls->key.empty()) {
    faults.add(at(node, "tls").where, "'tls' needs 'cert' and 'key' together");
  }
}

}  // namespace

std::chrono::milliseconds kafka_topic_grace(const KafkaConnection& config) {
  return property(config, kKafkaTopicGrace, std::chrono::milliseconds(5000));
}

std::chrono::milliseconds kafka_refresh(const KafkaConnection& config) {
  return property(config, kKafkaRefresh, std::chrono::milliseconds(30'000));
}

std::chrono::milliseconds kafka_poll_limit(const KafkaConnection& config) {
  return property(config, kKafkaPollLimit, std::chrono::minutes(30));
}

void check_kafka_sink(const KafkaSinkConfig& config, const config::Node& node, config::Faults& faults) {
  check_connection(config, node, faults);
  if (KafkaTopics topic; config.topic.starts_with('^') || !topic.add(config.topic)) {
    faults.add(at(node, "topic").where, "'{}' is no name of a topic", config.topic);
  }
  if (!config.key.empty() && config.key == config.headers) {
    faults.add(at(node, "headers").where, "'key' and 'headers' can't be the same column");
  }
}

void check_kafka_source(KafkaSourceConfig& config, const config::Node& node, config::Faults& faults) {
  check_connection(config, node, faults);
  const config::Node& topics = at(node, "topics");
  if (config.topics.empty()) faults.add(topics.where, "'topics' names no topic");
  auto wanted = std::make_shared<KafkaTopics>();
  for (std::size_t i = 0; i < config.topics.size(); ++i) {
    const config::Location& where = i < topics.items.size() ? topics.items[i].where : topics.where;
    if (auto added = wanted->add(config.topics[i]); !added) faults.add_text(where, added.error().message);
  }
  config.wanted = std::move(wanted);
  if (config.group.empty() == !config.assign) {
    faults.add(node.where, "either 'group' (shared partitions) or 'assign' (fixed ones) is needed");
  }
  if (config.assign && config.assign->instance >= config.assign->of) {
    faults.add(at(node, "assign").where, "'assign': instance {} is not below {}", config.assign->instance,
               config.assign->of);
  }
  if (auto start = parse_kafka_start(config.start)) {
    config.from = *start;
  } else {
    faults.add(at(node, "start").where, "'start': {}", start.error().message);
  }
  for (std::size_t i = 0; i < config.metadata.size(); ++i) {
    std::vector<std::string_view> known;
    for (const MetadataColumn& column : kafka_metadata()) known.emplace_back(column.name);
    if (std::find(known.begin(), known.end(), config.metadata[i]) != known.end()) continue;
    const config::Node& list = at(node, "metadata");
    faults.add(i < list.items.size() ? list.items[i].where : list.where,
               "there is no metadata column '{}'{}; there is {}", config.metadata[i],
               config::did_you_mean(config.metadata[i], known), fmt::join(known, ", "));
  }
}

}  // namespace aqueduck
