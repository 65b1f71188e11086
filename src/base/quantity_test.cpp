#include "base/quantity.h"

#include <gtest/gtest.h>

namespace aqueduck {
namespace {

using namespace std::chrono_literals;

TEST(Quantity, BytesAsPeopleWriteThem) {
  EXPECT_EQ(parse_bytes("64MiB").value(), 64U << 20U);
  EXPECT_EQ(parse_bytes("1.5KiB").value(), 1536U);
  EXPECT_EQ(parse_bytes("1 GB").value(), 1'000'000'000U);
  EXPECT_EQ(parse_bytes("4_096").value(), 4096U);
  EXPECT_EQ(parse_bytes("0").value(), 0U);
}

TEST(Quantity, BadBytesNameTheTextAndShowAnExample) {
  for (const char* text : {"", "MiB", "64 furlongs", "-1", "1.", ".5", "64MiB64", "1e9", "99999999999TiB"}) {
    const auto result = parse_bytes(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().kind, ErrorKind::config);
    EXPECT_NE(result.error().message.find(text), std::string::npos);
    EXPECT_NE(result.error().message.find("64MiB"), std::string::npos);
  }
}

TEST(Quantity, Durations) {
  EXPECT_EQ(parse_duration("1s").value(), 1s);
  EXPECT_EQ(parse_duration("250ms").value(), 250ms);
  EXPECT_EQ(parse_duration("1m30s").value(), 90s);
  EXPECT_EQ(parse_duration("1.5s").value(), 1500ms);
  EXPECT_EQ(parse_duration("2h").value(), 2h);
  EXPECT_EQ(parse_duration("0").value(), 0s);
  for (const char* text : {"", "5", "s", "1y", "1s5", "-1s"}) EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(Quantity, FormattedValuesReadBack) {
  for (const Duration d : {Duration{1}, Duration{1500}, Duration{90s}, Duration{25h}}) {
    EXPECT_EQ(parse_duration(format_duration(d)).value(), d);
  }
  EXPECT_EQ(format_bytes(64U << 20U), "64MiB");
  EXPECT_EQ(format_bytes(1536), "1.5KiB");
  EXPECT_EQ(format_count(5'000'000), "5_000_000");
  EXPECT_EQ(format_count(12), "12");
  EXPECT_EQ(parse_count("5_000_000").value(), 5'000'000U);
  EXPECT_FALSE(parse_count("5x"));
}

}  // namespace
}  // namespace aqueduck
