#include "connectors/kafka/kafka_sink.h"

#include <gtest/gtest.h>

#include "sql/database.h"
#include "tests/support/conformance_sink.h"
#include "tests/support/kafka_cluster.h"

namespace aqueduck {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

RecordBatch rows_of(const std::string& query) {
  auto database = sql::Database::open({}).value();
  auto session = database->connect().value();
  auto stream = session->query(query);
  EXPECT_TRUE(stream) << stream.error().error.message;
  auto batch = (*stream)->next();
  EXPECT_TRUE(batch);
  return *batch;
}

TEST(KafkaRows, KeysAreTextsAsTheyAreAndBytes) {
  const auto text = kafka_rows(rows_of("SELECT 'a\"b\\c\n' AS k UNION ALL SELECT NULL UNION ALL SELECT ''"), "k", "");
  ASSERT_TRUE(text);
  EXPECT_EQ((*text)[0].key, "a\"b\\c\n");
  EXPECT_EQ((*text)[0].payload, R"({"k":"a\"b\\c\n"})");
  EXPECT_EQ((*text)[1].key, std::nullopt);
  EXPECT_EQ((*text)[2].key, "");
  const auto bytes = kafka_rows(rows_of(R"(SELECT '\x00\xFFa'::BLOB AS k)"), "k", "");
  ASSERT_TRUE(bytes);
  EXPECT_EQ((*bytes)[0].key, std::string("\0\xFF"
                                         "a",
                                         3));
  const auto others =
      kafka_rows(rows_of("SELECT 7 AS i, 'x'::ENUM('x') AS e, {'a': 1} AS s, DATE '2026-01-31' AS d"), "s", "");
  ASSERT_TRUE(others);
  EXPECT_EQ((*others)[0].key, R"({"a":1})");
  for (const auto& [column, expected] : Pairs{{"i", "7"}, {"e", "x"}, {"d", "2026-01-31"}}) {
    const auto rows = kafka_rows(rows_of("SELECT 7 AS i, 'x'::ENUM('x') AS e, DATE '2026-01-31' AS d"), column, "");
    ASSERT_TRUE(rows);
    EXPECT_EQ((*rows)[0].key, expected);
  }
}

TEST(KafkaRows, HeadersComeFromAMapOrAStructAndLeaveTheMessage) {
  const auto map = kafka_rows(
      rows_of("SELECT * FROM (VALUES (1, MAP {'a': 'x\"', 'b': NULL}), (2, NULL), (3, MAP {'c': ''})) AS t(id, h)"), "",
      "h");
  ASSERT_TRUE(map);
  EXPECT_EQ((*map)[0].payload, R"({"id":1})");
  EXPECT_EQ((*map)[0].headers, (Pairs{{"a", "x\""}}));
  EXPECT_EQ((*map)[1].headers, Pairs{});
  EXPECT_EQ((*map)[2].headers, (Pairs{{"c", ""}}));
  const auto structure =
      kafka_rows(rows_of(R"(SELECT {'n': 7, 'raw': '\xFF'::BLOB, 'none': NULL} AS h, 'k' AS "k\")"), "k\\", "h");
  ASSERT_TRUE(structure);
  EXPECT_EQ((*structure)[0].payload, R"({"k\\":"k"})");
  EXPECT_EQ((*structure)[0].headers, (Pairs{{"n", "7"}, {"raw", "\xFF"}}));
  EXPECT_EQ((*structure)[0].key, "k");
}

TEST(KafkaRows, ColumnsThatAreMissingOrCantBeHeadersAreNamed) {
  const RecordBatch batch = rows_of("SELECT 1 AS id, [1] AS list");
  const auto key = kafka_rows(batch, "nokey", "");
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().kind, ErrorKind::config);
  EXPECT_NE(key.error().message.find("'nokey'"), std::string::npos);
  EXPECT_FALSE(kafka_rows(batch, "", "noheaders"));
  const auto list = kafka_rows(batch, "", "list");
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().kind, ErrorKind::config);
}

class KafkaSinkTest : public ::testing::Test {
 protected:
  KafkaSinkConfig config() const {
    KafkaSinkConfig config;
    config.brokers = {cluster.brokers()};
    config.topic = "out";
    config.properties = {{std::string(kKafkaTopicGrace), "300"}};
    return config;
  }
  testing::KafkaCluster cluster;
  ComponentContext context;
};

TEST_F(KafkaSinkTest, DoesWhatEverySinkMust) {
  KafkaSinkConfig fresh = config();
  fresh.properties["message.timeout.ms"] = "4000";
  fresh.properties["reconnect.backoff.max.ms"] = "100";
  int topics = 0;
  const auto down = [this] {
    cluster.set_down(true);
    return [this] { cluster.set_down(false); };
  };
  const auto rows = [&] {
    std::vector<std::string> values;
    for (auto& message : cluster.sent(fresh.topic)) values.push_back(std::move(message.value));
    return values;
  };
  conformance::check_sink({[&] {
                             fresh.topic = "out-" + std::to_string(++topics);
                             cluster.create(fresh.topic);
                           },
                           [&] { return std::make_unique<KafkaSink>(fresh, context); },
                           {rows},
                           {{down, ErrorKind::unavailable}},
                           {{down, ErrorKind::unavailable}},
                           conformance::Inapplicable{"it keeps no token: a message without a report is sent again"},
                           true});
}

TEST_F(KafkaSinkTest, SendsKeysAndHeaders) {
  cluster.create("out");
  KafkaSinkConfig with = config();
  with.key = "k";
  with.headers = "h";
  KafkaSink sink(with, context);
  ASSERT_TRUE(sink.open());
  ASSERT_TRUE(sink.write(rows_of("SELECT '\"q\"' AS k, MAP {'a': '1', 'b': '2'} AS h UNION ALL SELECT NULL, NULL")));
  ASSERT_TRUE(sink.commit({}, {}));
  const auto sent = cluster.sent("out");
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].key, "\"q\"");
  EXPECT_EQ(sent[0].headers, (Pairs{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(sent[1].key, std::nullopt);
  EXPECT_TRUE(sent[1].headers.empty());
}

TEST_F(KafkaSinkTest, ErrorsThatPassAreMet) {
  cluster.create("out");
  KafkaSink sink(config(), context);
  ASSERT_TRUE(sink.open());
  cluster.fail(testing::kProduce, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, 2);
  ASSERT_TRUE(sink.write(testing::id_name_batch(0, 3)));
  const auto committed = sink.commit({}, {});
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_EQ(cluster.sent("out").size(), 3U);
}

TEST_F(KafkaSinkTest, AMissingTopicIsWaitedForThenSaid) {
  cluster.create("out");
  cluster.set_topic_error("out", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  KafkaSink sink(config(), context);
  const auto opened = sink.open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::denied);
  EXPECT_NE(opened.error().message.find("there is no topic 'out' at " + cluster.brokers()), std::string::npos);
  cluster.set_topic_error("out", RD_KAFKA_RESP_ERR_NO_ERROR);
  EXPECT_TRUE(sink.open());
}

TEST_F(KafkaSinkTest, ATopicThatGoesAwayIsSaidAndItsRowsAreKept) {
  cluster.create("out");
  KafkaSinkConfig quick = config();
  quick.properties["message.timeout.ms"] = "500";
  KafkaSink sink(quick, context);
  ASSERT_TRUE(sink.open());
  ASSERT_TRUE(sink.write(testing::id_name_batch(0, 1)));
  cluster.set_topic_error("out", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  cluster.fail(testing::kProduce, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, 20);
  const auto committed = sink.commit({}, {});
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().kind, ErrorKind::denied) << committed.error().message;
  cluster.set_topic_error("out", RD_KAFKA_RESP_ERR_NO_ERROR);
  cluster.heal(testing::kProduce);
  ASSERT_TRUE(testing::wait_for([&] { return sink.commit({}, {}).has_value(); }));
  EXPECT_EQ(cluster.sent("out").size(), 1U);
}

}  // namespace
}  // namespace aqueduck
