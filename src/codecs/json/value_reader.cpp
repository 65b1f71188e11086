#include "codecs/json/value_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "columnar/parse_value.h"

namespace aqueduck::json {
namespace {

constexpr std::size_t kShownBytes = 60;

/// The beginning of a value, cut between characters.
std::string shown(std::string_view value) {
  if (value.size() <= kShownBytes) return std::string(value);
  std::size_t end = kShownBytes;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0U) == 0x80U) --end;
  return std::string(value.substr(0, end)) + "…";
}

/// Up to 18 digits and a sign: what needs no wide arithmetic. False: go the long way.
bool small_integer(std::string_view text, std::int64_t& out) {
  const bool negative = text[0] == '-';
  const std::size_t begin = negative ? 1 : 0;
  const std::size_t digits = text.size() - begin;
  if (digits == 0 || digits > 18 || (text[begin] == '0' && digits > 1)) return false;
  std::int64_t value = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const unsigned digit = static_cast<unsigned char>(text[i]) - unsigned{'0'};
    if (digit > 9) return false;
    value = value * 10 + static_cast<std::int64_t>(digit);
  }
  out = negative ? -value : value;
  return true;
}

bool is_integer(ColumnKind kind) { return kind >= ColumnKind::int8 && kind <= ColumnKind::hugeint; }

/// Copies whole words; true if no backslash was among the bytes. Both sides may be touched up to 7 bytes beyond.
bool copy_plain(const char* from, std::size_t size, char* to) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighs = 0x8080808080808080U;
  constexpr std::uint64_t kBackslashes = kOnes * '\\';
  std::uint64_t found = 0;
  std::size_t i = 0;
  std::uint64_t word = 0;
  for (; i + 8 <= size; i += 8) {
    std::memcpy(&word, from + i, 8);
    std::memcpy(to + i, &word, 8);
    const std::uint64_t difference = word ^ kBackslashes;
    found |= (difference - kOnes) & ~difference & kHighs;
  }
  if (i < size) {
    std::memcpy(&word, from + i, 8);
    std::memcpy(to + i, &word, 8);
    const std::uint64_t difference = word ^ kBackslashes;
    const std::uint64_t inside = ~std::uint64_t{0} >> (64 - 8 * (size - i));
    found |= (difference - kOnes) & ~difference & kHighs & inside;
  }
  return found == 0;
}

}  // namespace

bool ValueReader::fail(std::string what) {
  path_.clear();
  what_ = std::move(what);
  return false;
}

bool ValueReader::misfit(std::string_view value, const Column& column) {
  return fail(fmt::format("the value {} doesn't fit {}", shown(value), type_name(column)));
}

bool ValueReader::below(std::string_view name) {
  path_ = path_.empty() || path_[0] == '[' ? std::string(name) + path_ : std::string(name) + "." + path_;
  return false;
}

void ValueReader::fail_message(std::string text) { fail(std::move(text)); }

std::string ValueReader::reason() const { return path_.empty() ? what_ : "column '" + path_ + "': " + what_; }

bool ValueReader::read_row(TokenCursor& cursor, RowPlan& plan, std::int64_t row) {
  unknown_key_.clear();
  if (cursor.peek() != '{') {
    std::string_view value;
    const char* fault = cursor.verbatim(max_depth_, value);
    return fail(fault != nullptr ? std::string(fault)
                                 : fmt::format("a row must be an object, but this is {}", shown(value)));
  }
  return read_object(cursor, plan.root(), row, max_depth_);
}

bool ValueReader::unknown(std::string_view key, TokenCursor& cursor, int depth) {
  switch (new_columns_) {
    case NewColumns::ignore:
      break;
    case NewColumns::extend:
      if (full_) {
        return fail(fmt::format("the key '{}' is new, and there are max_columns columns already", shown(key)));
      }
      met_new_ = true;
      break;
    case NewColumns::fail:
      unknown_key_ = key.empty() ? "\"\"" : key;
      return fail("is not among the columns, and the setting is `columns: fail`") || below(key);
  }
  return cursor.skip(depth) || fail("an object or list doesn't end, or nests deeper than max_depth");
}

bool ValueReader::read_object(TokenCursor& cursor, ValuePlan& plan, std::int64_t row, int depth) {
  if (depth <= 0) return fail("the value nests deeper than max_depth");
  cursor.advance();
  if (cursor.take('}')) return true;
  std::uint32_t entry = 0;
  do {
    std::string_view key = cursor.string();
    if (key.data() == nullptr || !cursor.take(':')) return fail("a key and a colon are expected in an object");
    std::uint32_t found = plan.keys.guess(key, entry);
    if (found == KeyTable::kUnknown) {
      if (key.find('\\') != std::string_view::npos) {
        if (!unescape(key, key_)) return fail(fmt::format("the key \"{}\" contains a malformed escape", shown(key)));
        key = key_;
      }
      found = plan.keys.search(key, entry);
    }
    if (found == KeyTable::kUnknown) {
      if (!unknown(key, cursor, depth - 1)) return false;
      continue;
    }
    entry = found;
    const std::int32_t field = plan.keys.field(entry);
    if (field < 0) {
      if (!cursor.skip(depth - 1)) {
        return fail("an object or list doesn't end, or nests deeper than max_depth") || below(key);
      }
      continue;
    }
    ValuePlan& child = plan.fields[static_cast<std::size_t>(field)];
    if (!read(cursor, child, row, depth - 1)) return below(child.column.name);
  } while (cursor.take(','));
  return cursor.take('}') || fail("a comma or a closing brace is expected");
}

bool ValueReader::read(TokenCursor& cursor, ValuePlan& plan, std::int64_t row, int depth) {
  const ColumnKind kind = plan.column.kind;
  const Kind found = cursor.kind();
  if (found == Kind::null) {
    if (cursor.scalar() != "null") return fail("a value is expected (true, false, null …)");
    plan.builder->put_null(row);
    plan.builder->pad(row + 1);
    return true;
  }
  if (kind == ColumnKind::json) return read_verbatim(cursor, plan, row, depth);
  switch (found) {
    case Kind::string: {
      const std::string_view raw = cursor.string();
      if (raw.data() == nullptr) return fail("a string is malformed");
      return read_text(raw, plan, row);
    }
    case Kind::number:
      return read_number(cursor.scalar(), plan, row);
    case Kind::boolean: {
      const std::string_view word = cursor.scalar();
      const bool yes = word == "true";
      if (!yes && word != "false") return fail(fmt::format("{} is not a JSON value", shown(word)));
      if (kind == ColumnKind::boolean) {
        plan.builder->put(row, static_cast<std::uint8_t>(yes ? 1 : 0));
        return true;
      }
      if (kind == ColumnKind::text && plan.builder->put_bytes(row, word)) return true;
      return misfit(word, plan.column);
    }
    case Kind::object:
      if (kind == ColumnKind::structure) {
        plan.builder->put_struct(row);
        return read_object(cursor, plan, row, depth);
      }
      if (kind == ColumnKind::map) return read_map(cursor, plan, row, depth);
      break;
    case Kind::array:
      if (kind == ColumnKind::list || kind == ColumnKind::fixed_list) return read_list(cursor, plan, row, depth);
      break;
    case Kind::null:
    case Kind::invalid: {
      std::string_view rest(cursor.text() + cursor.offset(), cursor.done() ? 0 : cursor.token()[1] - cursor.offset());
      return fail(fmt::format("'{}' is not a JSON value", shown(rest)));
    }
  }
  return read_verbatim(cursor, plan, row, depth);
}

bool ValueReader::read_verbatim(TokenCursor& cursor, ValuePlan& plan, std::int64_t row, int depth) {
  std::string_view value;
  if (const char* fault = cursor.verbatim(depth, value)) return fail(fault);
  if (plan.column.kind != ColumnKind::json && plan.column.kind != ColumnKind::text) return misfit(value, plan.column);
  if (plan.pending && new_columns_ == NewColumns::extend && value != "{}" && value != "[]") met_new_ = true;
  return plan.builder->put_bytes(row, value) || fail("the batch would hold more than 2 GiB of text; make it smaller");
}

bool ValueReader::read_list(TokenCursor& cursor, ValuePlan& plan, std::int64_t row, int depth) {
  if (depth <= 0) return fail("the value nests deeper than max_depth");
  ColumnBuilder& builder = *plan.builder;
  const std::uint32_t begin = cursor.offset();
  builder.begin_list(row);
  cursor.advance();
  std::size_t count = 0;
  if (!cursor.take(']')) {
    do {
      if (!read(cursor, plan.fields[0], builder.next_element(), depth - 1)) return below(fmt::format("[{}]", count));
      ++count;
    } while (cursor.take(','));
    if (!cursor.take(']')) return fail("a comma or a closing bracket is expected");
  }
  if (builder.end_list(row)) return true;
  return misfit({cursor.text() + begin, cursor.token()[-1] - begin + std::size_t{1}}, plan.column);
}

bool ValueReader::read_map(TokenCursor& cursor, ValuePlan& plan, std::int64_t row, int depth) {
  if (depth <= 0) return fail("the value nests deeper than max_depth");
  ColumnBuilder& builder = *plan.builder;
  builder.begin_list(row);
  cursor.advance();
  // The engine's maps have no key twice.
  std::unordered_set<std::string> seen;
  if (!cursor.take('}')) {
    do {
      const std::string_view raw = cursor.string();
      if (raw.data() == nullptr || !cursor.take(':')) return fail("a key and a colon are expected in an object");
      if (!unescape(raw, key_)) return fail(fmt::format("the key \"{}\" contains a malformed escape", shown(raw)));
      if (!seen.insert(key_).second) return fail(fmt::format("the key \"{}\" stands twice in a MAP", shown(raw)));
      const std::int64_t element = builder.next_element();
      if (!plan.fields[0].builder->put_bytes(element, key_))
        return fail("the batch would hold more than 2 GiB of text");
      if (!read(cursor, plan.fields[1], element, depth - 1)) return below(shown(raw));
    } while (cursor.take(','));
    if (!cursor.take('}')) return fail("a comma or a closing brace is expected");
  }
  return builder.end_list(row) || fail("the batch would hold more than 2^31 elements; make it smaller");
}

bool ValueReader::read_number(std::string_view text, ValuePlan& plan, std::int64_t row) {
  const ColumnKind kind = plan.column.kind;
  std::int64_t small = 0;
  if (is_integer(kind) && small_integer(text, small)) {
    if (kind == ColumnKind::int64) {
      plan.builder->put(row, small);
      return true;
    }
    return put_integer(*plan.builder, row, small) || misfit(text, plan.column);
  }
  bool whole = false;
  if (!is_number(text, whole)) return fail(fmt::format("'{}' is not a JSON value", shown(text)));
  const bool numeric = is_integer(kind) || kind == ColumnKind::float32 || kind == ColumnKind::float64 ||
                       kind == ColumnKind::decimal || kind == ColumnKind::text;
  return (numeric && put_parsed(*plan.builder, plan.column, row, text)) || misfit(text, plan.column);
}

bool ValueReader::put_string(ColumnBuilder& builder, std::string_view raw, std::int64_t row) {
  char* const out = builder.begin_bytes(row, raw.size());
  if (out == nullptr) return fail("the batch would hold more than 2 GiB of text; make it smaller");
  std::size_t size = raw.size();
  if (!copy_plain(raw.data(), raw.size(), out)) {
    size = unescape(raw, out);
    if (size == std::string_view::npos) {
      return fail(fmt::format("the text \"{}\" contains a malformed escape or a lone surrogate", shown(raw)));
    }
  }
  builder.end_bytes(row, size);
  return true;
}

bool ValueReader::read_text(std::string_view raw, ValuePlan& plan, std::int64_t row) {
  switch (plan.column.kind) {
    case ColumnKind::text:
      return put_string(*plan.builder, raw, row);
    case ColumnKind::float32:
    case ColumnKind::float64:
      // The only way to say these in JSON.
      if (raw == "NaN" || raw == "Infinity" || raw == "-Infinity") break;
      return misfit(fmt::format("\"{}\"", shown(raw)), plan.column);
    case ColumnKind::decimal:
    case ColumnKind::uuid:
    case ColumnKind::blob:
    case ColumnKind::date:
    case ColumnKind::time:
    case ColumnKind::timestamp:
      break;
    default:
      return misfit(fmt::format("\"{}\"", shown(raw)), plan.column);
  }
  std::string_view text = raw;
  if (raw.find('\\') != std::string_view::npos) {
    if (!unescape(raw, buffer_)) {
      return fail(fmt::format("the text \"{}\" contains a malformed escape or a lone surrogate", shown(raw)));
    }
    text = buffer_;
  }
  return put_parsed(*plan.builder, plan.column, row, text) || misfit(fmt::format("\"{}\"", shown(raw)), plan.column);
}

}  // namespace aqueduck::json
