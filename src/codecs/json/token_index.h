#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace simdjson::internal {
class dom_parser_implementation;  // NOLINT(readability-identifier-naming): not our name
}

namespace aqueduck::json {

/// Where the tokens of one message begin: brackets, colons, commas, and the first byte of each scalar. Found by
/// simdjson's first stage, which checks UTF-8, the ends of strings and control characters, too. Owned by a decoder; the
/// message is copied into padded memory, so that words may be read past its end.
class TokenIndex {
 public:
  TokenIndex();
  ~TokenIndex();
  TokenIndex(const TokenIndex&) = delete;
  TokenIndex& operator=(const TokenIndex&) = delete;

  /// Null, or what is wrong with the text, for people.
  const char* build(std::string_view message);

  const char* text() const { return text_.get(); }
  std::uint32_t size() const { return size_; }
  /// Offsets, ascending; behind the last one stands size(), where a blank can be read.
  const std::uint32_t* begin() const { return begin_; }
  const std::uint32_t* end() const { return end_; }

  /// Gives the memory of an exceptionally large message back.
  void trim();

 private:
  bool reserve(std::size_t size);

  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser_;
  std::unique_ptr<char[]> text_;
  std::size_t capacity_ = 0;
  std::uint32_t size_ = 0;
  const std::uint32_t* begin_ = nullptr;
  const std::uint32_t* end_ = nullptr;
};

}  // namespace aqueduck::json
