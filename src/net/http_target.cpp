#include "net/http_target.h"

#include <algorithm>
#include <optional>

namespace aqueduck::net {
namespace {

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (text.size() - i < 3 || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0) return std::nullopt;
      out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

bool control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// "http://host/path" → "/path"
std::string_view without_origin(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    const auto path = text.find_first_of("/?", scheme.size());
    return path == std::string_view::npos ? std::string_view() : text.substr(path);
  }
  return text;
}

}  // namespace

Result<Target> parse_target(std::string_view text) {
  const std::string_view whole = without_origin(text);
  const bool had_origin = whole.size() != text.size();
  const auto mark = whole.find('?');
  const std::string_view path = whole.substr(0, mark);
  if (!path.starts_with('/') && !(had_origin && path.empty())) return fail(ErrorKind::decode, "the target is no path");
  if (whole.find('#') != std::string_view::npos) return fail(ErrorKind::decode, "the target has a fragment");
  Target out;
  auto clean = decoded(path.empty() ? "/" : path, false);
  if (!clean) return fail(ErrorKind::decode, "the path has an escape that is none");
  if (std::any_of(clean->begin(), clean->end(), control)) {
    return fail(ErrorKind::decode, "the path has a control character");
  }
  out.path = std::move(*clean);
  std::string_view rest = mark == std::string_view::npos ? std::string_view() : whole.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    if (item.empty()) continue;
    const auto equals = item.find('=');
    auto key = decoded(item.substr(0, equals), true);
    auto value = decoded(equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1), true);
    if (!key || !value) return fail(ErrorKind::decode, "the query has an escape that is none");
    out.query.emplace_back(std::move(*key), std::move(*value));
  }
  return out;
}

}  // namespace aqueduck::net
