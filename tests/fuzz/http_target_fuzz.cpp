// Targets of HTTP requests: any text is taken apart or refused, and a path that was taken is one.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "net/http_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto target = aqueduck::net::parse_target(text);
  if (!target) return 0;
  if (!target->path.starts_with('/')) std::abort();
  if (target->path.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) std::abort();
  std::size_t total = target->path.size();
  for (const auto& [key, value] : target->query) total += key.size() + value.size();
  if (total > size + 1) std::abort();
  return 0;
}
