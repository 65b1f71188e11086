#include "codecs/json/token_index.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>

namespace aqueduck::json {
namespace {

constexpr std::size_t kPadding = 64;
constexpr std::size_t kFirstCapacity = 4096;
constexpr std::size_t kKeptCapacity = 1U << 20U;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

TokenIndex::TokenIndex() = default;
TokenIndex::~TokenIndex() = default;

bool TokenIndex::reserve(std::size_t size) {
  if (size <= capacity_) return true;
  if (size > simdjson::SIMDJSON_MAXSIZE_BYTES - kPadding) return false;
  const std::size_t wanted = std::min<std::size_t>(std::max({size, capacity_ * 2, kFirstCapacity}),
                                                   simdjson::SIMDJSON_MAXSIZE_BYTES - kPadding);
  const auto* implementation = static_cast<const simdjson::implementation*>(simdjson::get_active_implementation());
  const auto code = parser_ == nullptr ? implementation->create_dom_parser_implementation(wanted, 1, parser_)
                                       : parser_->set_capacity(wanted);
  if (code != simdjson::SUCCESS) return false;
  text_ = std::make_unique_for_overwrite<char[]>(wanted + kPadding);
  capacity_ = wanted;
  return true;
}

const char* TokenIndex::build(std::string_view message) {
  if (message.substr(0, kByteOrderMark.size()) == kByteOrderMark) message.remove_prefix(kByteOrderMark.size());
  if (message.empty()) return "the message is empty";
  if (!reserve(message.size())) return "the message is too large";
  std::memcpy(text_.get(), message.data(), message.size());
  std::memset(text_.get() + message.size(), ' ', kPadding);
  size_ = static_cast<std::uint32_t>(message.size());
  const auto code = parser_->stage1(reinterpret_cast<const std::uint8_t*>(text_.get()), message.size(),
                                    simdjson::stage1_mode::regular);
  switch (code) {
    case simdjson::SUCCESS:
      break;
    case simdjson::UTF8_ERROR:
      return "the message is not valid UTF-8";
    case simdjson::UNCLOSED_STRING:
      return "a string has no closing quote";
    case simdjson::UNESCAPED_CHARS:
      return "a string contains a control character that isn't escaped";
    case simdjson::EMPTY:
      return "the message contains only blanks";
    default:
      return simdjson::error_message(code);
  }
  begin_ = parser_->structural_indexes.get();
  end_ = begin_ + parser_->n_structural_indexes;
  return nullptr;
}

void TokenIndex::trim() {
  if (capacity_ <= kKeptCapacity) return;
  parser_.reset();
  text_.reset();
  capacity_ = 0;
}

}  // namespace aqueduck::json
