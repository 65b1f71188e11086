#include "codecs/json/token_cursor.h"

#include <algorithm>

namespace aqueduck::json {
namespace {

int hex4(std::string_view raw, std::size_t at) {
  if (at + 4 > raw.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const char c = raw[i];
    int digit = 0;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = c - 'A' + 10;
    } else {
      return -1;
    }
    value = value * 16 + digit;
  }
  return value;
}

char* put_utf8(std::uint32_t code, char* out) {
  const auto tail = [&](unsigned shift) { *out++ = static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) {
    *out++ = static_cast<char>(code);
  } else if (code < 0x800) {
    *out++ = static_cast<char>(0xC0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    *out++ = static_cast<char>(0xE0U | (code >> 12U));
    tail(6);
    tail(0);
  } else {
    *out++ = static_cast<char>(0xF0U | (code >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
  return out;
}

/// Whether every escape is one of the grammar's; a lone surrogate is allowed, for text that is kept as it stands.
bool escapes_are_valid(std::string_view raw) {
  for (std::size_t at = raw.find('\\'); at != std::string_view::npos; at = raw.find('\\', at)) {
    if (at + 1 >= raw.size()) return false;
    const char c = raw[at + 1];
    if (c == 'u') {
      if (hex4(raw, at + 2) < 0) return false;
    } else if (std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) {
      return false;
    }
    at += c == 'u' ? 6 : 2;
  }
  return true;
}

constexpr const char* kTooDeep = "the value nests deeper than max_depth";

}  // namespace

bool is_number(std::string_view text, bool& whole) {
  std::size_t at = 0;
  const auto digit = [&] { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  const auto digits = [&] {
    const std::size_t begin = at;
    while (digit()) ++at;
    return at > begin;
  };
  whole = true;
  if (at < text.size() && text[at] == '-') ++at;
  if (at < text.size() && text[at] == '0') {
    ++at;
  } else if (!digits()) {
    return false;
  }
  if (at < text.size() && text[at] == '.') {
    ++at;
    whole = false;
    if (!digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    whole = false;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

std::size_t unescape(std::string_view raw, char* out) {
  char* const begin = out;
  std::size_t at = 0;
  while (at < raw.size()) {
    const std::size_t next = std::min(raw.find('\\', at), raw.size());
    std::memcpy(out, raw.data() + at, next - at);
    out += next - at;
    at = next;
    if (at == raw.size()) break;
    if (at + 1 == raw.size()) return std::string_view::npos;
    const char c = raw[at + 1];
    at += 2;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        *out++ = c;
        break;
      case 'b':
        *out++ = '\b';
        break;
      case 'f':
        *out++ = '\f';
        break;
      case 'n':
        *out++ = '\n';
        break;
      case 'r':
        *out++ = '\r';
        break;
      case 't':
        *out++ = '\t';
        break;
      case 'u': {
        const int unit = hex4(raw, at);
        at += 4;
        if (unit < 0 || (unit >= 0xDC00 && unit < 0xE000)) return std::string_view::npos;
        auto code = static_cast<std::uint32_t>(unit);
        if (unit >= 0xD800 && unit < 0xDC00) {
          if (raw.substr(std::min(at, raw.size()), 2) != "\\u") return std::string_view::npos;
          const int low = hex4(raw, at + 2);
          if (low < 0xDC00 || low >= 0xE000) return std::string_view::npos;
          at += 6;
          code = 0x10000U + ((code - 0xD800U) << 10U) + (static_cast<std::uint32_t>(low) - 0xDC00U);
        }
        out = put_utf8(code, out);
        break;
      }
      default:
        return std::string_view::npos;
    }
  }
  return static_cast<std::size_t>(out - begin);
}

bool unescape(std::string_view raw, std::string& out) {
  out.resize(raw.size());
  const std::size_t size = unescape(raw, out.data());
  if (size == std::string_view::npos) return false;
  out.resize(size);
  return true;
}

bool TokenCursor::skip(int depth) {
  int open = 0;
  do {
    const char c = peek();
    if (c == '{' || c == '[') {
      if (++open > depth) return false;
    } else if (c == '}' || c == ']') {
      if (--open < 0) return false;
    } else if (open == 0 && (c == ',' || c == ':')) {
      return false;
    }
    if (done()) return false;
    ++at_;
  } while (open > 0);
  return true;
}

const char* TokenCursor::validate(int depth) {
  std::string open;  // the brackets that aren't closed yet
  while (true) {
    if (!open.empty() && open.back() == '{') {
      const std::string_view key = string();
      if (key.data() == nullptr || !take(':')) return "a key and a colon are expected";
      if (!escapes_are_valid(key)) return "a key contains a malformed escape";
    }
    switch (kind()) {
      case Kind::object:
      case Kind::array: {
        if (open.size() >= static_cast<std::size_t>(depth)) return kTooDeep;
        const char c = peek();
        advance();
        if (take(c == '{' ? '}' : ']')) break;
        open.push_back(c);
        continue;
      }
      case Kind::string: {
        const std::string_view raw = string();
        if (raw.data() == nullptr) return "a string is malformed";
        if (!escapes_are_valid(raw)) return "a string contains a malformed escape";
        break;
      }
      case Kind::number: {
        bool whole = false;
        if (!is_number(scalar(), whole)) return "a number is malformed";
        break;
      }
      case Kind::boolean:
      case Kind::null: {
        const std::string_view word = scalar();
        if (word != "true" && word != "false" && word != "null") return "a value is expected (true, false, null …)";
        break;
      }
      case Kind::invalid:
        return "a value is expected";
    }
    // Behind a value: close what ends here, or go on behind a comma.
    while (!open.empty() && take(open.back() == '{' ? '}' : ']')) open.pop_back();
    if (open.empty()) return nullptr;
    if (!take(',')) return "a comma or a closing bracket is expected";
  }
}

const char* TokenCursor::verbatim(int depth, std::string_view& out) {
  const std::uint32_t begin = offset();
  if (const char* fault = validate(depth)) return fault;
  const char* last = text_ + *at_ - 1;
  while (is_blank(*last)) --last;
  out = {text_ + begin, static_cast<std::size_t>(last - (text_ + begin)) + 1};
  return nullptr;
}

}  // namespace aqueduck::json
