#include "base/secret.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace aqueduck {
namespace {

constexpr std::size_t kShortestSecret = 4;

struct Known {
  std::mutex mutex;
  std::vector<std::string> values;  // longest first, so that a secret within a secret leaves no tail
};
Known& known() {
  static Known instance;
  return instance;
}

}  // namespace

Secret::Secret(std::string value) : value_(std::move(value)) { remember_secret(value_); }

void remember_secret(std::string_view value) {
  if (value.size() < kShortestSecret) return;
  const std::lock_guard lock(known().mutex);
  auto& values = known().values;
  if (std::find(values.begin(), values.end(), value) != values.end()) return;
  values.emplace_back(value);
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::string redact(std::string_view text) {
  std::string out(text);
  const std::lock_guard lock(known().mutex);
  for (const std::string& secret : known().values) {
    for (std::size_t at = out.find(secret); at != std::string::npos; at = out.find(secret, at + 3)) {
      out.replace(at, secret.size(), "***");
    }
  }
  return out;
}

}  // namespace aqueduck
