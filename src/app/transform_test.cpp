#include "pipeline/transform.h"

#include <gtest/gtest.h>

#include "codecs/json/component.h"
#include "columnar/json_text.h"

namespace aqueduck::pipeline {
namespace {

// A source of messages that offers every metadata column.
class Offering : public SourceFactory {
 public:
  std::unique_ptr<Source> make(const ComponentContext&) const override { return nullptr; }
  std::vector<MetadataColumn> metadata() const override {
    using What = MetadataColumn::What;
    return {{"_key", What::key},       {"_topic", What::topic},         {"_partition", What::partition},
            {"_offset", What::offset}, {"_timestamp", What::timestamp}, {"_headers", What::headers}};
  }
};

class TransformTest : public ::testing::Test {
 protected:
  void SetUp() override {
    database = sql::Database::open({}).value();
    definition.source = std::make_unique<Offering>();
    definition.errors.decode = OnError::skip;
    config::Faults faults;
    decoder_factory = json_decoder().parse(config::Node(), faults);
    ASSERT_TRUE(faults.empty()) << faults.to_error().message;
  }

  std::string run(const std::string& sql, const std::vector<Message>& messages) {
    definition.sql = Statement{sql, {}};
    if (transform == nullptr) {
      ComponentContext context;
      context.database = database.get();
      transform =
          std::make_unique<Transform>(definition, decoder_factory->make(context), database->connect().value(), columns);
      if (auto prepared = transform->prepare(); !prepared) return prepared.error().message;
    }
    Messages all;
    all.items = messages;
    all.partitions = {"events/3", "plain"};
    Batch batch;
    batch.add(Chunk{std::move(all), {{"events/3", "9"}}}, {});
    auto result = transform->run(batch);
    if (!result) return result.error().message;
    std::string out;
    for (const auto& rows : result->rows) EXPECT_TRUE(append_json_lines(rows, out));
    for (const auto& failure : result->failures) out += fmt::format("failed {}\n", failure.message);
    return out;
  }

  static Message message(std::string_view payload, std::int64_t offset) {
    Message made;
    made.payload = payload;
    made.offset = offset;
    return made;
  }

  Definition definition;
  SharedColumns columns;
  std::unique_ptr<sql::Database> database;
  std::unique_ptr<DecoderFactory> decoder_factory;
  std::unique_ptr<Transform> transform;
};

TEST_F(TransformTest, MetadataStandsBesideTheRows) {
  Message first = message(R"({"a":1,"b":"x"})", 7);
  first.key = "k1";
  first.timestamp_us = 1'000'000;
  const Headers headers = {{"h", "v\""}};
  first.headers = &headers;
  Message second = message(R"({"a":2})", 8);
  second.partition = 1;
  EXPECT_EQ(
      run("SELECT a, _key, _topic, _partition, _offset, _timestamp, _headers FROM batch", {first, second}),
      R"({"a":1,"_key":"azE=","_topic":"events","_partition":3,"_offset":7,"_timestamp":"1970-01-01T00:00:01Z","_headers":"[[\"h\",\"v\\\"\"]]"})"
      "\n"
      R"({"a":2,"_key":null,"_topic":"plain","_partition":null,"_offset":8,"_timestamp":null,"_headers":null})"
      "\n");
}

TEST_F(TransformTest, MetadataFollowsTheMessageThatARowCameFrom) {
  // A failed message gives no row, a list gives two.
  const std::vector<Message> messages = {message(R"({"a":1})", 0), message("{", 1), message(R"([{"a":2},{"a":3}])", 2)};
  const std::string expected = "{\"a\":1,\"_offset\":0}\n{\"a\":2,\"_offset\":2}\n{\"a\":3,\"_offset\":2}\nfailed 1\n";
  EXPECT_EQ(run("SELECT a, _offset FROM batch", messages), expected);
  EXPECT_EQ(run("SELECT a, _offset FROM batch", messages), expected);  // narrowed by now
}

TEST_F(TransformTest, MetadataAloneIsEnough) {
  const std::vector<Message> messages = {message(R"({"a":1})", 4), message(R"({"a":1})", 5)};
  EXPECT_EQ(run("SELECT sum(_offset)::INT AS s FROM batch", messages), "{\"s\":9}\n");
  EXPECT_EQ(run("SELECT sum(_offset)::INT AS s FROM batch", messages), "{\"s\":9}\n");
}

TEST_F(TransformTest, ADecodedColumnOfTheSameNameWins) {
  EXPECT_EQ(run("SELECT _offset FROM batch", {message(R"({"_offset":"mine"})", 4)}), "{\"_offset\":\"mine\"}\n");
}

TEST_F(TransformTest, ANewKeyReachesAStar) {
  EXPECT_EQ(
      run("SELECT * EXCLUDE (_key, _topic, _partition, _timestamp, _headers) FROM batch", {message(R"({"a":1})", 0)}),
      "{\"a\":1,\"_offset\":0}\n");
  EXPECT_EQ(run("", {message(R"({"a":2,"z":true})", 1)}), "{\"a\":2,\"z\":true,\"_offset\":1}\n");
  std::vector<std::string> saved;
  const auto save = [&](const std::string& schema) -> Result<void> {
    saved.push_back(schema);
    return {};
  };
  EXPECT_TRUE(transform->save_changed_schema(save));
  EXPECT_TRUE(transform->save_changed_schema(save));  // nothing changed since
  ASSERT_EQ(saved.size(), 1U);
  EXPECT_NE(saved[0].find("\"z\""), std::string::npos) << saved[0];
}

}  // namespace
}  // namespace aqueduck::pipeline
