#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "codecs/json/token_index.h"

namespace aqueduck::json {

/// What a JSON value is, by its first byte.
enum class Kind : std::uint8_t { invalid, null, boolean, number, string, array, object };

/// A place among the tokens of one message. Reading never passes the sentinel behind the last token: what stands there
/// is a blank, which no rule of the grammar takes. Cheap to copy; valid until the index is built again.
class TokenCursor {
 public:
  TokenCursor() = default;
  explicit TokenCursor(const TokenIndex& index) : text_(index.text()), at_(index.begin()), end_(index.end()) {}

  char peek() const { return text_[*at_]; }
  bool done() const { return at_ == end_; }
  void advance() { ++at_; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  std::uint32_t offset() const { return *at_; }
  const std::uint32_t* token() const { return at_; }
  void rewind(const std::uint32_t* token) { at_ = token; }
  const char* text() const { return text_; }
  Kind kind() const;

  /// At a string token: the bytes between its quotes, still escaped; moves past it. Data is null where it is no string.
  std::string_view string() {
    const char* const begin = text_ + *at_ + 1;
    const char* last = text_ + at_[1] - 1;  // the next token begins behind the closing quote and blanks
    while (is_blank(*last)) --last;
    if (begin[-1] != '"' || *last != '"' || last < begin) return {};
    ++at_;
    return {begin, static_cast<std::size_t>(last - begin)};
  }
  /// At a number, true, false or null: its text; moves past it.
  std::string_view scalar() {
    const char* const begin = text_ + *at_;
    const char* last = text_ + at_[1] - 1;
    while (is_blank(*last) && last > begin) --last;
    ++at_;
    return {begin, static_cast<std::size_t>(last - begin) + 1};
  }

  /// Moves past a value without looking into it: brackets are counted, nothing else is checked. False: the brackets
  /// don't close, or nest deeper than `depth`.
  bool skip(int depth);
  /// Moves past a value and checks it whole. Null, or what is wrong.
  const char* validate(int depth);
  /// validate(), and the value's text as it stands in the message.
  const char* verbatim(int depth, std::string_view& out);

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  const char* text_ = nullptr;
  const std::uint32_t* at_ = nullptr;
  const std::uint32_t* end_ = nullptr;
};

inline Kind TokenCursor::kind() const {
  switch (peek()) {
    case '{':
      return Kind::object;
    case '[':
      return Kind::array;
    case '"':
      return Kind::string;
    case 't':
    case 'f':
      return Kind::boolean;
    case 'n':
      return Kind::null;
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      return Kind::number;
    default:
      return Kind::invalid;
  }
}

/// Whether the text is a number as JSON writes them. `whole`: it has neither fraction nor exponent.
bool is_number(std::string_view text, bool& whole);
/// Writes an escaped string without its escapes; `out` has room for as many bytes as `raw` has. The size, or npos where
/// an escape is malformed or a surrogate stands alone.
std::size_t unescape(std::string_view raw, char* out);
/// unescape() into `out`; false where it fails.
bool unescape(std::string_view raw, std::string& out);

}  // namespace aqueduck::json
