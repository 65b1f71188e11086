// Byte sizes, durations and counts of any text; and what is read is written so that it reads the same again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/quantity.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(aqueduck::parse_bytes(text));
  if (const auto duration = aqueduck::parse_duration(text)) {
    const auto again = aqueduck::parse_duration(aqueduck::format_duration(*duration));
    if (!again || *again != *duration) std::abort();
  }
  if (const auto count = aqueduck::parse_count(text)) {
    const auto again = aqueduck::parse_count(aqueduck::format_count(*count));
    if (!again || *again != *count) std::abort();
  }
  return 0;
}
