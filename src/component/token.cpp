#include "component/token.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

namespace aqueduck {
namespace {

constexpr int kVersion = 1;
constexpr std::size_t kLargestToken = std::size_t{16} << 20;

// Keeps what parsing would lose silently: of two equal keys it would take the last.
class KeyWatch {
 public:
  bool operator()(int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= 2) too_deep_ = true;
      keys_.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      if (!keys_.empty()) keys_.pop_back();
    } else if (event == Event::key && !keys_.empty()) {
      auto& keys = keys_.back();
      if (!keys.insert(parsed.get<std::string>()).second) twice_ = true;
    }
    return !too_deep_;
  }
  bool bad() const { return twice_ || too_deep_; }

 private:
  std::vector<std::set<std::string>> keys_;
  bool twice_ = false;
  bool too_deep_ = false;
};

std::string beginning(std::string_view text) {
  constexpr std::size_t kShown = 80;
  return text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "…";
}

}  // namespace

bool Token::matches(const Token& expected, const Token& next) const {
  const bool same = std::all_of(expected.entries.begin(), expected.entries.end(), [this](const auto& entry) {
    const auto found = entries.find(entry.first);
    return found != entries.end() && found->second == entry.second;
  });
  return same && std::all_of(next.entries.begin(), next.entries.end(), [&](const auto& entry) {
           return expected.entries.contains(entry.first) || !entries.contains(entry.first);
         });
}

Token Token::merged(const Token& next) const {
  Token out = *this;
  for (const auto& [partition, position] : next.entries) out.entries.insert_or_assign(partition, position);
  return out;
}

std::string Token::to_json() const {
  nlohmann::ordered_json out;
  out["v"] = kVersion;
  auto& json_entries = out["entries"] = nlohmann::ordered_json::object();
  for (const auto& [partition, position] : entries) json_entries[partition] = position;
  // Names come from peers: a byte that isn't UTF-8 must not end the process.
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<Token> Token::from_json(std::string_view text) {
  const auto damaged = [text](std::string_view why) {
    return fail(ErrorKind::conflict, "a stored token is damaged ({}): {}", why, beginning(text));
  };
  if (text.size() > kLargestToken) return damaged("too large");
  KeyWatch watch;
  nlohmann::json parsed;
  try {
    parsed = nlohmann::json::parse(text, std::ref(watch), /*allow_exceptions=*/false);
  } catch (const std::exception&) {
    return damaged("not JSON");
  }
  if (watch.bad()) return damaged("a key stands twice, or it is nested");
  if (parsed.is_discarded() || !parsed.is_object()) return damaged("not a JSON object");
  const auto version = parsed.find("v");
  if (version == parsed.end() || !version->is_number_integer()) return damaged("it has no version");
  if (*version != kVersion) {
    return fail(ErrorKind::conflict,
                "a stored token has version {}, this program knows version {}: use the program that wrote it, or a "
                "newer one",
                version->dump(), kVersion);
  }
  const auto stored = parsed.find("entries");
  if (stored == parsed.end() || !stored->is_object()) return damaged("it has no entries");
  if (parsed.size() != 2) return damaged("it has more than a version and entries");
  Token token;
  for (const auto& [partition, position] : stored->items()) {
    if (!position.is_string()) return damaged("a position is not text");
    token.entries.emplace(partition, position.get<std::string>());
  }
  return token;
}

}  // namespace aqueduck
