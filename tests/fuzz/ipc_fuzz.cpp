#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "columnar/ipc.h"
#include "columnar/json_text.h"

// Any bytes as an Arrow IPC stream: an error, or rows that can be written as text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kLimit = 1 << 20;
  std::size_t at = 0;
  auto reader = aqueduck::IpcReader::open(
      [&](std::span<char> into) -> aqueduck::Result<std::size_t> {
        const std::size_t count = std::min(into.size(), size - at);
        std::copy_n(data + at, count, reinterpret_cast<std::uint8_t*>(into.data()));
        at += count;
        return count;
      },
      kLimit);
  if (!reader) return 0;
  for (int i = 0; i < 16; ++i) {
    auto batch = reader->next();
    if (!batch || batch->rows() == 0) return 0;
    constexpr std::int64_t kMaxRows = 4096;
    if (batch->rows() > kMaxRows) return 0;
    std::string text;
    (void)aqueduck::append_json_lines(*batch, text);
    (void)aqueduck::byte_size(*batch);
  }
  return 0;
}
