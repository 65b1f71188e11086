#include "connectors/kafka/kafka_config.h"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include "config/loader.h"
#include "connectors/kafka/component.h"
#include "connectors/kafka/kafka_client.h"

namespace aqueduck {
namespace {

/// Every fault of a source or sink, a line each: "LINE:COLUMN: message".
template <typename F>
std::string faults_of(const ComponentType<F>& type, const std::string& text) {
  config::Faults faults;
  const auto node = config::load_text(text, "k.yml", config::process_environment(), faults);
  EXPECT_TRUE(node);
  const bool parsed = type.parse(*node, faults) != nullptr;
  EXPECT_EQ(parsed, faults.empty());
  return faults.empty() ? "" : faults.to_error().message;
}

TEST(KafkaConfig, StartsAreWordsOrTimesWithAZone) {
  EXPECT_EQ(parse_kafka_start("earliest")->at, KafkaStart::At::earliest);
  EXPECT_EQ(parse_kafka_start("latest")->at, KafkaStart::At::latest);
  EXPECT_EQ(parse_kafka_start("1970-01-01T00:00:01Z")->milliseconds, 1000);
  EXPECT_EQ(parse_kafka_start("2026-01-31t12:00:00.5z")->milliseconds, 1769860800500);
  EXPECT_EQ(parse_kafka_start("2026-01-31 12:00:00.123456+02:30")->milliseconds, 1769860800123 - 9'000'000);
  EXPECT_EQ(parse_kafka_start("2024-02-29T00:00:00-01:00")->milliseconds, 1709168400000);
  for (const char* bad :
       {"", "Earliest", "2026-01-31", "2026-01-31T12:00:00", "2026-02-30T12:00:00Z", "2026-01-31T24:00:00Z",
        "2026-01-31T12:60:00Z", "2026-01-31T12:00:00+25:00", "1969-12-31T23:59:59Z", "99999-01-01T00:00:00Z",
        "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00Z "}) {
    const auto start = parse_kafka_start(bad);
    ASSERT_FALSE(start) << bad;
    EXPECT_EQ(start.error().kind, ErrorKind::config);
    EXPECT_NE(start.error().message.find(std::string("'") + bad + "'"), std::string::npos);
  }
}

TEST(KafkaConfig, PartitionsHaveTwoNames) {
  const auto partition = KafkaPartition::parse("a.b/c/12");
  ASSERT_TRUE(partition);
  EXPECT_EQ(partition->topic, "a.b/c");
  EXPECT_EQ(partition->number, 12);
  EXPECT_EQ(partition->name(), "a.b/c/12");
  for (const char* bad : {"", "/", "t", "t/", "/1", "t/-1", "t/1x", "t/ 1", "t/99999999999"}) {
    const auto parsed = KafkaPartition::parse(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().kind, ErrorKind::conflict);
  }
}

TEST(KafkaConfig, PatternsAreCheckedOnceAndMatchLikeLibrdkafkas) {
  KafkaTopics topics;
  ASSERT_TRUE(topics.add("plain"));
  ASSERT_TRUE(topics.add("^events-[0-9]{1,3}$"));
  ASSERT_TRUE(topics.add("^(a+)+$"));
  EXPECT_EQ(topics.names(), std::vector<std::string>{"plain"});
  EXPECT_TRUE(topics.contains("plain"));
  EXPECT_FALSE(topics.contains("plainer"));
  EXPECT_TRUE(topics.contains("events-12"));
  EXPECT_FALSE(topics.contains("events-1234"));
  // What makes a backtracking matcher run for years.
  EXPECT_FALSE(topics.contains(std::string(200, 'a') + "b"));
  for (const char* bad :
       {"", "^(", "^[", "^*{", "^(a)\\1", "^((a{1,200}){1,200})", "^a{99999999999999999999}", "a b", "topic/1", ".."}) {
    const auto added = topics.add(bad);
    ASSERT_FALSE(added) << bad;
    EXPECT_EQ(added.error().kind, ErrorKind::config);
  }
  EXPECT_FALSE(topics.add(std::string(250, 't')));
  EXPECT_FALSE(topics.add("^" + std::string(1000, 't')));
}

TEST(KafkaConfig, FaultsOfASourceNameTheirPlaces) {
  EXPECT_EQ(faults_of(kafka_source(), "{brokers: [b], topics: [t], group: g}"), "");
  EXPECT_EQ(faults_of(kafka_source(), "{brokers: [b], topics: ['^t-.*'], assign: {instance: 0, of: 1}}"), "");
  const std::string text =
      "brokers: []\n"
      "topics:\n"
      "  - good\n"
      "  - '^ba(d'\n"
      "group: g\n"
      "assign: {instance: 2, of: 2}\n"
      "start: yesterday\n"
      "metadata: [_key, _ofset]\n"
      "tls: {cert: only}\n"
      "properties:\n"
      "  group.id: mine\n"
      "  topic.metadata.propagation.max.ms: soon\n";
  const std::string faults = faults_of(kafka_source(), text);
  for (const char* expected :
       {"k.yml:1:10: 'brokers' names no broker", "k.yml:4:5: '^ba(d' is no regular expression: ",
        "k.yml:1:1: either 'group'", "k.yml:6:9: 'assign': instance 2 is not below 2",
        "k.yml:7:8: 'start': 'yesterday'", "k.yml:8:18: there is no metadata column '_ofset' (did you mean '_offset'?)",
        "k.yml:9:6: 'tls' needs 'cert' and 'key' together", "k.yml:11:13: 'properties' can't set 'group.id'",
        "k.yml:12:38: 'topic.metadata.propagation.max.ms': 'soon' is no number"}) {
    EXPECT_NE(faults.find(expected), std::string::npos) << expected << "\nin\n" << faults;
  }
}

TEST(KafkaConfig, FaultsOfASinkNameTheirPlaces) {
  EXPECT_EQ(faults_of(kafka_sink(), "{brokers: [b], topic: t, key: k, headers: h}"), "");
  const std::string faults = faults_of(kafka_sink(), "brokers: [b]\ntopic: ^t\nkey: k\nheaders: k\n");
  EXPECT_NE(faults.find("k.yml:2:8: '^t' is no name of a topic"), std::string::npos) << faults;
  EXPECT_NE(faults.find("k.yml:4:10: 'key' and 'headers' can't be the same column"), std::string::npos) << faults;
}

TEST(KafkaConfig, AStartThatNothingElseKeepsNeedsState) {
  const auto need = [](const std::string& rest) {
    config::Faults faults;
    const std::string text = "{brokers: [b], topics: [t], " + rest + "}";
    const auto node = config::load_text(text, "k.yml", config::process_environment(), faults);
    const auto factory = kafka_source().parse(*node, faults);
    return factory == nullptr ? std::nullopt : factory->needs_state();
  };
  for (const char* start : {"latest", "2026-01-31T12:00:00Z"}) {
    const auto found = need(std::string("assign: {instance: 0, of: 1}, start: '") + start + "'");
    ASSERT_TRUE(found) << start;
    EXPECT_EQ(found->where.to_string(), "k.yml:1:66");
    EXPECT_NE(found->why.find(std::string("'start: ") + start + "'"), std::string::npos);
    EXPECT_FALSE(need(std::string("group: g, start: '") + start + "'")) << "the group keeps it";
  }
  EXPECT_FALSE(need("assign: {instance: 0, of: 1}"));
  EXPECT_FALSE(need("assign: {instance: 0, of: 1}, start: earliest"));
}

TEST(KafkaHealth, ARefusedCertificateIsFinalAndALostConnectionIsNot) {
  const std::string refused =
      "Receive failed: error:0A000416:SSL routines::sslv3 alert certificate unknown: SSL alert number 46";
  KafkaHealth fresh{KafkaConnection{}};
  fresh.report(RD_KAFKA_RESP_ERR__TRANSPORT, "Disconnected");
  fresh.report(RD_KAFKA_RESP_ERR__TRANSPORT, "Receive failed: tlsv1 alert internal error: SSL alert number 80");
  EXPECT_FALSE(fresh.error());
  fresh.report(RD_KAFKA_RESP_ERR__TRANSPORT, refused);
  ASSERT_TRUE(fresh.error());
  EXPECT_EQ(fresh.error()->kind, ErrorKind::denied);
  EXPECT_NE(fresh.error()->message.find("certificate unknown"), std::string::npos);
  KafkaHealth known{KafkaConnection{}};
  known.recovered();  // the certificate was good before
  known.report(RD_KAFKA_RESP_ERR__TRANSPORT, refused);
  EXPECT_FALSE(known.error());
}

}  // namespace
}  // namespace aqueduck
