#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "codecs/csv/csv_decoder.h"
#include "tests/support/arrow_text.h"

// The bytes, split at line ends, as lines below a header of their own and below declared columns.
namespace {

void check(aqueduck::csv::CsvDecoder& decoder, const std::vector<aqueduck::Message>& messages) {
  if (!decoder.decode(messages)) return;  // a header that can't be read ends the pipeline
  const auto decoded = decoder.finish();
  if (!decoded || !aqueduck::testing::invalid(decoded->batch).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<aqueduck::Message> messages;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    messages.emplace_back().payload = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  aqueduck::csv::CsvDecoder named{{}};
  check(named, messages);
  aqueduck::csv::CsvOptions options;
  options.header = false;
  options.declared.resize(2);
  options.declared[0].name = "a";
  options.declared[0].kind = aqueduck::ColumnKind::timestamp;
  options.declared[1].name = "b";
  aqueduck::csv::CsvDecoder declared{options};
  check(declared, messages);
  return 0;
}
