#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "component/line_blocks.h"
#include "connectors/file/file_bytes.h"

// Any bytes as a file, compressed or not, cut into lines. The first byte chooses the rules.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
  if (descriptor < 0 || write(descriptor, data + 1, size - 1) != static_cast<ssize_t>(size - 1)) return 0;
  lseek(descriptor, 0, SEEK_SET);
  auto bytes = aqueduck::FileBytes::adopt(descriptor, "fuzz");
  aqueduck::LineRules rules;
  rules.quoted_breaks = (data[0] & 1) != 0;
  rules.skip_empty = (data[0] & 2) != 0;
  rules.max_line = 64 << 10;
  aqueduck::LineBlocks lines("fuzz", rules);
  lines.restart(0);
  constexpr std::uint64_t kLimit = 4 << 20;  // a small input may unpack to gigabytes
  for (std::uint64_t total = 0; total < kLimit;) {
    const std::span<char> space = lines.space();
    const std::size_t step = std::min<std::size_t>(space.size(), 1000 + data[0]);
    auto got = bytes.read(space.first(step));
    if (!got) return 0;
    lines.filled(*got);
    total += *got;
    auto messages = lines.take(*got == 0, SIZE_MAX);
    if (!messages || *got == 0) return 0;
    for (const auto& message : messages->items) {
      if (message.payload.size() > kLimit) __builtin_trap();
    }
  }
  return 0;
}
