#include "connectors/kafka/kafka_rehearsal.h"

#include <gtest/gtest.h>

#include "config/loader.h"
#include "connectors/kafka/component.h"
#include "tests/support/batches.h"

namespace aqueduck {
namespace {

using testing::id_name_batch;

struct KafkaRehearsalTest : ::testing::Test {
  Rehearsal rehearse(const std::string& settings) {
    config::Faults faults;
    const auto node = config::load_text(settings, "", nullptr, faults);
    const auto factory = kafka_sink().parse(*node, faults);
    EXPECT_TRUE(faults.empty()) << faults.to_error().message;
    return factory->rehearse(folder.path());
  }

  testing::TemporaryFolder folder;
};

TEST_F(KafkaRehearsalTest, ShowsTheMessagesOfCommittedRows) {
  const Rehearsal rehearsal = rehearse("{brokers: ['nowhere:1'], topic: out, key: name}");
  EXPECT_EQ(rehearsal.contents()->text, "");
  const auto sink = rehearsal.sink->make({});
  ASSERT_TRUE(sink->open());
  ASSERT_TRUE(sink->write(id_name_batch(1, 1)));
  EXPECT_EQ(rehearsal.contents()->text, "");
  ASSERT_TRUE(sink->commit({}, {}));
  ASSERT_TRUE(sink->write(id_name_batch(2, 1)));
  ASSERT_TRUE(sink->abort());
  ASSERT_TRUE(sink->write(id_name_batch(3, 1)));
  ASSERT_TRUE(sink->commit({}, {}));
  sink->close();
  EXPECT_EQ(rehearsal.contents()->form, SinkContents::Form::json_lines);
  EXPECT_EQ(rehearsal.contents()->text,
            "{\"topic\":\"out\",\"key\":\"n1\",\"value\":{\"id\":1,\"name\":\"n1\"}}\n"
            "{\"topic\":\"out\",\"key\":\"n3\",\"value\":{\"id\":3,\"name\":\"n3\"}}\n");
}

TEST_F(KafkaRehearsalTest, FindsTheFaultsOfTheSink) {
  const auto sink = rehearse("{brokers: ['nowhere:1'], topic: out, key: absent}").sink->make({});
  ASSERT_TRUE(sink->open());
  const auto written = sink->write(id_name_batch(1, 1));
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("'absent'"), std::string::npos) << written.error().message;
}

}  // namespace
}  // namespace aqueduck
