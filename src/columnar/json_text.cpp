#include "columnar/json_text.h"

#include <algorithm>

#include "columnar/value_text.h"

namespace aqueduck {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// The length of the valid UTF-8 sequence that begins at `at`, or 0.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned first = byte(0);
  const std::size_t left = text.size() - at;
  const auto continues = [&](std::size_t i) { return i < left && (byte(i) & 0xC0) == 0x80; };
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

void append_escape(char c, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\b':
      out += "\\b";
      break;
    case '\f':
      out += "\\f";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
  }
}

bool is_plain(char c) { return static_cast<signed char>(c) >= 0x20 && c != '"' && c != '\\'; }

/// A line stays one line: line breaks in JSON text can only stand between tokens, where a space is as good.
void append_json_column(std::string_view text, std::string& out) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    out += "null";
    return;
  }
  const std::size_t begin = out.size();
  append_utf8(text, out);
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

void append_key(const Cell& key, std::int64_t row, std::string& out) {
  if (key.kind() == CellKind::text && !key.is_null(row)) {
    append_json_string(key.bytes(row), out);
    return;
  }
  std::string text;
  append_json_value(key, row, text);
  if (text.size() > 1 && text.front() == '"') {
    out += text;
  } else {
    append_json_string(text, out);
  }
}

void append_structure(const Cell& cell, std::int64_t row, std::string& out) {
  out += '{';
  bool first = true;
  for (const Cell& child : cell.children()) {
    if (!first) out += ',';
    first = false;
    append_json_string(child.name(), out);
    out += ':';
    append_json_value(child, cell.child_row(row), out);
  }
  out += '}';
}

void append_list(const Cell& cell, std::int64_t row, std::string& out) {
  const auto [from, count] = cell.elements(row);
  out += '[';
  for (std::int64_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    append_json_value(cell.children()[0], from + i, out);
  }
  out += ']';
}

void append_map(const Cell& cell, std::int64_t row, std::string& out) {
  const auto [from, count] = cell.elements(row);
  const Cell& entries = cell.children()[0];
  out += '{';
  for (std::int64_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    const std::int64_t entry = entries.child_row(from + i);
    append_key(entries.children()[0], entry, out);
    out += ':';
    append_json_value(entries.children()[1], entry, out);
  }
  out += '}';
}

void append_union(const Cell& cell, std::int64_t row, std::string& out) {
  std::int64_t child_row = 0;
  const Cell* child = cell.alternative(row, &child_row);
  if (child == nullptr || is_null_value(*child, child_row)) {
    out += "null";
    return;
  }
  out += '{';
  append_json_string(child->name(), out);
  out += ':';
  append_json_value(*child, child_row, out);
  out += '}';
}

}  // namespace

void append_utf8(std::string_view text, std::string& out) {
  std::size_t from = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text, at);
    if (length > 0) {
      at += length;
      continue;
    }
    out.append(text, from, at - from);
    out += kReplacement;
    from = ++at;
  }
  out.append(text, from);
}

void append_json_string(std::string_view text, std::string& out) {
  out += '"';
  std::size_t from = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_plain(text[at])) {
      ++at;
      continue;
    }
    const std::size_t length = static_cast<unsigned char>(text[at]) < 0x80 ? 0 : utf8_length(text, at);
    if (length > 0) {
      at += length;
      continue;
    }
    out.append(text, from, at - from);
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      append_escape(text[at], out);
    } else {
      out += kReplacement;
    }
    from = ++at;
  }
  out.append(text, from);
  out += '"';
}

void append_json_value(const Cell& cell, std::int64_t row, std::string& out) {
  if (cell.is_null(row)) {
    out += "null";
    return;
  }
  switch (cell.kind()) {
    case CellKind::text:
      append_json_string(cell.bytes(row), out);
      return;
    case CellKind::json:
      append_json_column(cell.bytes(row), out);
      return;
    case CellKind::dictionary:
      append_json_value(cell.children()[0], cell.dictionary_row(row), out);
      return;
    case CellKind::structure:
      append_structure(cell, row, out);
      return;
    case CellKind::list:
      append_list(cell, row, out);
      return;
    case CellKind::map:
      append_map(cell, row, out);
      return;
    case CellKind::sparse_union:
    case CellKind::dense_union:
      append_union(cell, row, out);
      return;
    default:
      break;
  }
  const bool bare = is_bare(cell.kind());
  const std::size_t begin = out.size();
  if (!bare) out += '"';
  const bool whole = append_scalar(cell, row, out);
  if (!bare || !whole) out += '"';
  if (bare && !whole) out.insert(begin, 1, '"');
}

bool is_null_value(const Cell& cell, std::int64_t row) {
  if (cell.is_null(row)) return true;
  std::int64_t child_row = 0;
  switch (cell.kind()) {
    case CellKind::dictionary:
      return is_null_value(cell.children()[0], cell.dictionary_row(row));
    case CellKind::sparse_union:
    case CellKind::dense_union: {
      const Cell* child = cell.alternative(row, &child_row);
      return child == nullptr || is_null_value(*child, child_row);
    }
    default:
      return false;
  }
}

void append_plain_value(const Cell& cell, std::int64_t row, std::string& out) {
  std::int64_t child_row = row;
  switch (cell.kind()) {
    case CellKind::text:
      append_utf8(cell.bytes(row), out);
      return;
    case CellKind::dictionary:
      append_plain_value(cell.children()[0], cell.dictionary_row(row), out);
      return;
    case CellKind::sparse_union:
    case CellKind::dense_union:
      if (const Cell* child = cell.alternative(row, &child_row)) append_plain_value(*child, child_row, out);
      return;
    case CellKind::structure:
    case CellKind::list:
    case CellKind::map:
      append_json_value(cell, row, out);
      return;
    default:
      append_scalar(cell, row, out);
  }
}

Result<JsonText> JsonText::plan(std::shared_ptr<const Schema> schema) {
  JsonText text;
  AQ_ASSIGN(text.cells_, Cells::plan(std::move(schema)));
  for (const Cell& column : text.cells_.columns()) {
    std::string key;
    append_json_string(column.name(), key);
    text.keys_.push_back(key + ':');
  }
  return text;
}

void JsonText::append_row(std::int64_t row, std::string& out) const {
  out += '{';
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (i > 0) out += ',';
    out += keys_[i];
    append_json_value(cells_.columns()[i], cells_.at(row), out);
  }
  out += '}';
}

void JsonText::append_value(std::size_t column, std::int64_t row, std::string& out) const {
  append_json_value(cells_.columns()[column], cells_.at(row), out);
}

void JsonText::append_lines(const RecordBatch& batch, std::string& out) {
  if (batch.rows() == 0) return;
  bind(batch);
  for (std::int64_t row = 0; row < rows(); ++row) {
    append_row(row, out);
    out += '\n';
  }
}

Result<void> append_json_lines(const RecordBatch& batch, std::string& out) {
  if (batch.rows() == 0) return {};
  AQ_ASSIGN(auto text, JsonText::plan(batch.schema));
  text.append_lines(batch, out);
  return {};
}

}  // namespace aqueduck
