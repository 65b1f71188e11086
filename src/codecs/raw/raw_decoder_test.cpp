#include "codecs/raw/raw_decoder.h"

#include <gtest/gtest.h>

#include "tests/support/arrow_text.h"

namespace aqueduck::raw {
namespace {

TEST(Raw, BytesAsTheyAre) {
  const auto decoder = RawDecoder::make(ValueType::blob).value();
  std::vector<Message> messages(3);
  messages[0].payload = std::string_view("\xFF\0", 2);
  messages[1].payload = "";
  ASSERT_TRUE(decoder->decode(messages));
  const auto decoded = decoder->finish().value();
  EXPECT_EQ(aqueduck::testing::invalid(decoded.batch), "");
  EXPECT_EQ(aqueduck::testing::schema_text(*decoded.batch.schema), "value BLOB");
  EXPECT_EQ(aqueduck::testing::row_text(decoded.batch, 0), "value=ff00");
  EXPECT_EQ(aqueduck::testing::row_text(decoded.batch, 1), "value=");
  EXPECT_EQ(aqueduck::testing::row_text(decoded.batch, 2), "value=NULL");
  EXPECT_TRUE(decoded.row_message.empty());
}

TEST(Raw, TextMustBeUtf8) {
  const auto decoder = RawDecoder::make(ValueType::text).value();
  std::vector<Message> messages(3);
  messages[0].payload = "\xC3\xA9";
  messages[1].payload = "\xC3";
  messages[2].payload = "\xF4\x8F\xBF\xBF 12345678 \xED\x9F\xBF";
  ASSERT_TRUE(decoder->decode(messages));
  const auto decoded = decoder->finish().value();
  EXPECT_EQ(decoded.batch.rows(), 2);
  ASSERT_EQ(decoded.failures.size(), 1U);
  EXPECT_EQ(decoded.failures[0].message, 1U);
  EXPECT_EQ(decoded.row_message, (std::vector<std::uint32_t>{0, 2}));
}

}  // namespace
}  // namespace aqueduck::raw
