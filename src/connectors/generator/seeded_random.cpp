#include "connectors/generator/seeded_random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace aqueduck {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The end of what begins at `at` and must be left alone: a text, a quoted name, a comment; `at` if none does.
std::size_t skip_opaque(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '\'' || c == '"') {
    const std::size_t end = text.find(c, at + 1);  // a doubled quote just begins the next one
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  if (text.substr(at, 2) == "--") {
    const std::size_t end = text.find('\n', at);
    return end == std::string_view::npos ? text.size() : end;
  }
  if (text.substr(at, 2) == "/*") {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  return at;
}

/// The end of "random()" at `at`, any case and blanks; 0 if it isn't there.
std::size_t random_call(std::string_view text, std::size_t at) {
  constexpr std::string_view kName = "random";
  if (text.size() - at < kName.size()) return 0;
  for (const char c : kName) {
    if (std::tolower(static_cast<unsigned char>(text[at])) != c) return 0;
    ++at;
  }
  for (const char wanted : {'(', ')'}) {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
    if (at >= text.size() || text[at] != wanted) return 0;
    ++at;
  }
  return at;
}

}  // namespace

std::string with_seeded_random(std::string_view expression, std::uint64_t seed, std::uint64_t& salt) {
  std::string out;
  for (std::size_t at = 0; at < expression.size();) {
    std::size_t end = skip_opaque(expression, at);
    if (end == at && is_word(expression[at])) {
      if (const std::size_t call = random_call(expression, at); call != 0) {
        // 53 bits of the hash are a double's precision.
        out += fmt::format("((hash(i, {}, {}) >> 11)::DOUBLE / 9007199254740992)", salt++, seed);
        at = call;
        continue;
      }
      while (end < expression.size() && is_word(expression[end])) ++end;
    }
    end = std::max(end, at + 1);
    out += expression.substr(at, end - at);
    at = end;
  }
  return out;
}

}  // namespace aqueduck
