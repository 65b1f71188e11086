#include "golden/envelopes.h"

#include <gtest/gtest.h>

#include "golden/memory_source.h"
#include "tests/support/conformance_source.h"

namespace aqueduck::golden {
namespace {

Input read(std::string_view text) {
  auto input = read_envelopes(text, "m");
  EXPECT_TRUE(input) << input.error().message;
  return input ? std::move(*input) : Input();
}

std::string fault(std::string_view text) {
  const auto input = read_envelopes(text, "m");
  EXPECT_FALSE(input) << text;
  return input ? "" : input.error().message;
}

TEST(Envelopes, AJsonValueKeepsItsTextAndATextIsItsBytes) {
  const Input input = read(
      "{\"value\": {\"n\": 1.00, \"big\": 123456789012345678901234567890} }\n\n"
      "{\"value\":\"a\\n\\u00e9\"}\n{\"value\": -0.0 }\n{\"value_base64\":\"AP8=\"}\n{\"value\":[1 , "
      "2]}\n{\"value\":true}");
  ASSERT_EQ(input.messages.size(), 6U);
  EXPECT_EQ(input.messages[0].payload, "{\"n\": 1.00, \"big\": 123456789012345678901234567890}");
  EXPECT_EQ(input.messages[1].payload, "a\n\xC3\xA9");
  EXPECT_EQ(input.messages[2].payload, "-0.0");
  EXPECT_EQ(input.messages[3].payload, std::string_view("\0\xFF", 2));
  EXPECT_EQ(input.messages[4].payload, "[1 , 2]");
  EXPECT_EQ(input.messages[5].payload, "true");
}

TEST(Envelopes, ATombstoneIsNoEmptyValue) {
  const Input input =
      read("{\"value\":null,\"key\":\"a\"}\n{\"value\":\"\",\"key\":null}\n{\"value\":\"\",\"key\":\"\"}");
  EXPECT_EQ(input.messages[0].payload.data(), nullptr);
  EXPECT_EQ(input.messages[0].key, "a");
  EXPECT_NE(input.messages[1].payload.data(), nullptr);
  EXPECT_EQ(input.messages[1].key.data(), nullptr);
  EXPECT_NE(input.messages[2].key.data(), nullptr);
}

TEST(Envelopes, OffsetsGoOnWithinAPartition) {
  const Input input = read(
      "{\"value\":1,\"topic\":\"t\",\"offset\":7}\n{\"value\":1,\"topic\":\"t\",\"partition\":1}\n"
      "{\"value\":1,\"topic\":\"t\"}\n{\"value\":1}");
  EXPECT_EQ(input.partitions, (std::vector<std::string>{"t/0", "t/1", "input/0"}));
  EXPECT_EQ(input.messages[0].offset, 7);
  EXPECT_EQ(input.messages[1].offset, 0);
  EXPECT_EQ(input.messages[2].offset, 8);
  EXPECT_EQ(input.messages[3].partition, 2U);
}

TEST(Envelopes, HeadersAndTimestamps) {
  const Input input = read(
      "{\"value\":1,\"headers\":{\"a\":\"1\",\"b\":\"\"},\"timestamp\":1500}\n"
      "{\"value\":1,\"headers\":[[\"a\",\"1\"],[\"a\",\"2\"]],\"timestamp\":\"1970-01-01T01:00:00.25+01:00\"}\n{"
      "\"value\":1}");
  EXPECT_EQ(*input.messages[0].headers, (Headers{{"a", "1"}, {"b", ""}}));
  EXPECT_EQ(input.messages[0].timestamp_us, 1'500'000);
  EXPECT_EQ(*input.messages[1].headers, (Headers{{"a", "1"}, {"a", "2"}}));
  EXPECT_EQ(input.messages[1].timestamp_us, 250'000);
  EXPECT_EQ(input.messages[2].headers, nullptr);
  EXPECT_EQ(input.messages[2].timestamp_us, kNoTimestamp);
}

TEST(Envelopes, FaultsNameTheLine) {
  EXPECT_NE(fault("{\"value\":1}\n\n{\"valu\":1}").find("m:3: there is no 'valu'"), std::string::npos);
  EXPECT_NE(fault("{\"valu\":1}").find("did you mean 'value'"), std::string::npos);
  for (const std::string_view bad :
       {"{\"key\":\"a\"}", "[1]", "1", "{\"value\":1", "{\"value\":tru}", "{\"value\":1,\"value_base64\":\"\"}",
        "{\"value_base64\":\"?\"}", "{\"value\":1,\"headers\":{\"a\":1}}", "{\"value\":1,\"headers\":[[\"a\"]]}",
        "{\"value\":1,\"headers\":[1]}", "{\"value\":1,\"headers\":1}", "{\"value\":1,\"topic\":1}",
        "{\"value\":1,\"partition\":-1}", "{\"value\":1,\"offset\":1.5}", "{\"value\":1,\"timestamp\":\"noon\"}",
        "{\"value\":1,\"timestamp\":99999999999999999}", "{\"value\":1,\"offset\":9223372036854775807}", "\xFF"}) {
    EXPECT_TRUE(fault(bad).starts_with("m:1: ")) << bad;
  }
  EXPECT_NE(fault("{\"value\":1,\"offset\":3}\n{\"value\":1,\"offset\":3}").find("offset 3 of 'input/0'"),
            std::string::npos);
}

TEST(Envelopes, SeveralPartitionsKeepTheContractOfSources) {
  FakeClock clock;
  const Input input = read(
      "{\"value\":\"a\",\"partition\":1,\"offset\":5}\n{\"value\":\"b\",\"partition\":0}\n"
      "{\"value\":\"c\",\"partition\":1,\"offset\":9}\n{\"value\":\"d\",\"partition\":0}");
  const auto check = [&](const Input& given, std::vector<std::string> expected) {
    const conformance::Inapplicable memory{"memory is always there"};
    conformance::check_source({[&] { return std::make_unique<MemorySource>(given, std::vector<ClockStep>(), clock); },
                               std::move(expected), true, memory, memory, memory});
  };
  check(input, {"a", "b", "c", "d"});
  check(read(""), {});
}

TEST(Envelopes, AGroupRemembersWhatWasAcknowledged) {
  FakeClock clock;
  Positions group;
  const Input input = read("{\"value\":1}\n{\"value\":2}");
  MemorySource first(input, {}, clock, &group);
  EXPECT_TRUE(first.traits().stores_positions);
  ASSERT_TRUE(first.open());
  ASSERT_TRUE(first.acknowledge({{{"input/0", "1"}}, {}}));
  MemorySource second(input, {}, clock, &group);
  ASSERT_TRUE(second.open());
  const auto event = second.read(conformance::limits(std::chrono::seconds(1)));
  ASSERT_TRUE(event);
  const auto& assigned = std::get<Assigned>(*event);
  EXPECT_EQ(assigned.start.at("input/0"), "1");
  EXPECT_EQ(assigned.resolved.at("input/0"), "0");
}

}  // namespace
}  // namespace aqueduck::golden
