#include "codecs/csv/csv_decoder.h"

#include <gtest/gtest.h>

#include "tests/support/arrow_text.h"

namespace aqueduck::csv {
namespace {

using Lines = std::vector<std::string>;

Decoded decode_all(CsvDecoder& decoder, const Lines& texts) {
  std::vector<Message> messages;
  for (const std::string& text : texts) messages.emplace_back().payload = text;
  EXPECT_TRUE(decoder.decode(messages));
  auto decoded = decoder.finish();
  EXPECT_TRUE(decoded);
  EXPECT_EQ(aqueduck::testing::invalid(decoded->batch), "");
  return std::move(*decoded);
}

Lines decode(CsvDecoder& decoder, const Lines& texts) {
  const Decoded decoded = decode_all(decoder, texts);
  Lines out;
  for (std::int64_t row = 0; row < decoded.batch.rows(); ++row) {
    out.push_back(aqueduck::testing::row_text(decoded.batch, row));
  }
  for (const auto& failure : decoded.failures) out.push_back(fmt::format("{}: {}", failure.message, failure.reason));
  return out;
}

Column column(std::string name, ColumnKind kind) {
  Column out;
  out.name = std::move(name);
  out.kind = kind;
  return out;
}

TEST(Csv, AHeaderNamesTheColumnsAndOutlivesARestart) {
  CsvDecoder decoder{{}};
  EXPECT_EQ(decoder.schema(), nullptr);
  EXPECT_EQ(decode(decoder, {std::string("\xEF\xBB\xBF") + "a,\"b c\"\r", "1,x\r\n", "", "a,\"b c\"", ",\"\""}),
            (Lines{"a='1' b c='x'", "a=NULL b c=''"}));
  CsvDecoder restarted{{}};
  ASSERT_TRUE(restarted.restore(decoder.saved_schema()));
  EXPECT_EQ(decode(restarted, {"2,y"}), (Lines{"a='2' b c='y'"}));
  EXPECT_FALSE(restarted.restore("{}"));
}

TEST(Csv, FieldsAndTheirFaults) {
  CsvOptions options;
  options.header = false;
  options.declared = {column("n", ColumnKind::int32), column("t", ColumnKind::text)};
  options.dialect = {';', '\''};
  options.null = "-";
  CsvDecoder decoder{options};
  EXPECT_EQ(decode(decoder, {"1;'it''s; x'", "-;", "'2';'-'", "3", "4;'x", "5;'x'y", "x;y", "6;\xFF", "7;z"}),
            (Lines{"n=1 t='it's; x'", "n=NULL t=''", "n=2 t='-'", "n=7 t='z'",
                   "3: the line has 1 fields, but there are 2 columns", "4: a quoted field has no closing quote",
                   "5: text follows a field's closing quote", "6: column 'n': the value 'x' doesn't fit INTEGER",
                   "7: the line is not valid UTF-8"}));
  decoder.restrict_to(std::vector<ColumnPath>{{"t"}});
  EXPECT_EQ(decode(decoder, {"x;y"}), (Lines{"t='y'"}));
}

TEST(Csv, DeclaredTypesGoByTheHeadersNames) {
  CsvOptions options;
  options.declared = {column("n", ColumnKind::int64)};
  CsvDecoder decoder{options};
  EXPECT_EQ(decode(decoder, {"t,n", "x,5"}), (Lines{"t='x' n=5"}));
  for (const std::string header : {"t,m", "n,n", "n,"}) {
    CsvDecoder refusing{options};
    const Decoded refused = decode_all(refusing, {"", header, "1,2"});
    ASSERT_EQ(refused.failures.size(), 1U) << header;
    EXPECT_EQ(refused.failures[0].message, 1U);
    EXPECT_EQ(refused.failures[0].ends, header == "t,m" ? ErrorKind::config : ErrorKind::decode);
  }
}

}  // namespace
}  // namespace aqueduck::csv
