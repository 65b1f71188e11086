#include "columnar/table_text.h"

#include <nanoarrow/nanoarrow.h>

#include <algorithm>
#include <iterator>

#include "columnar/value_text.h"

namespace aqueduck {

namespace {

constexpr std::size_t kMinWidth = 3;
constexpr std::string_view kEllipsis = "…";

struct Column {
  std::vector<std::string> lines;  ///< name, type, values
  std::size_t width = 0;
  bool right = false;
  bool shown = true;
};

bool is_wide(char32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
         (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
}

bool is_combining(char32_t c) {
  return (c >= 0x300 && c <= 0x36F) || (c >= 0x200B && c <= 0x200F) || (c >= 0xFE00 && c <= 0xFE0F);
}

struct Glyph {
  std::size_t bytes = 1;
  std::size_t width = 1;
};

/// The next character of valid UTF-8.
Glyph glyph_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {1, 1};
  const std::size_t bytes = std::min<std::size_t>(first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2, text.size() - at);
  char32_t c = first & (0xFF >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) c = c << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  return {bytes, is_combining(c) ? 0U : is_wide(c) ? 2U : 1U};
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Glyph glyph = glyph_at(text, at);
    at += glyph.bytes;
    width += glyph.width;
  }
  return width;
}

/// Control characters would move the cursor (or worse): they are shown as escapes. C1 ones come as two bytes.
std::string visible(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte == '\r') {
      out += "\\r";
    } else if (byte < 0x20 || byte == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string fitted(std::string_view text, std::size_t width, bool right) {
  const std::size_t whole = width_of(text);
  if (whole <= width) {
    const std::string padding(width - whole, ' ');
    return right ? padding + std::string(text) : std::string(text) + padding;
  }
  std::string out;
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Glyph glyph = glyph_at(text, at);
    if (used + glyph.width + 1 > width) break;
    out += text.substr(at, glyph.bytes);
    used += glyph.width;
    at += glyph.bytes;
  }
  out += kEllipsis;
  out.append(width - used - 1, ' ');
  return out;
}

std::string type_text(const ArrowSchema& field) {
  const std::string_view extension = extension_name(field);
  if (!extension.empty()) {
    const std::size_t dot = extension.find('.');
    return std::string(extension.substr(dot == std::string_view::npos ? 0 : dot + 1));
  }
  ArrowSchemaView view{};
  if (ArrowSchemaViewInit(&view, &field, nullptr) != NANOARROW_OK) return "?";
  switch (view.type) {
    case NANOARROW_TYPE_DICTIONARY:
      return "enum";
    case NANOARROW_TYPE_STRING:
    case NANOARROW_TYPE_LARGE_STRING:
    case NANOARROW_TYPE_STRING_VIEW:
      return "varchar";
    case NANOARROW_TYPE_BINARY:
    case NANOARROW_TYPE_LARGE_BINARY:
    case NANOARROW_TYPE_BINARY_VIEW:
      return "blob";
    case NANOARROW_TYPE_INT64:
      return "bigint";
    case NANOARROW_TYPE_INT32:
      return "integer";
    case NANOARROW_TYPE_INT16:
      return "smallint";
    case NANOARROW_TYPE_INT8:
      return "tinyint";
    case NANOARROW_TYPE_BOOL:
      return "boolean";
    case NANOARROW_TYPE_DATE32:
      return "date";
    case NANOARROW_TYPE_TIMESTAMP:
      return view.timezone != nullptr && view.timezone[0] != 0 ? "timestamptz" : "timestamp";
    case NANOARROW_TYPE_DECIMAL32:
    case NANOARROW_TYPE_DECIMAL64:
    case NANOARROW_TYPE_DECIMAL128:
      return fmt::format("decimal({},{})", view.decimal_precision, view.decimal_scale);
    default:
      return ArrowTypeString(view.type);
  }
}

bool is_number(CellKind kind) {
  return is_bare(kind) && kind != CellKind::json && kind != CellKind::boolean && kind != CellKind::bool8;
}

/// Shrinks the widest columns first, then leaves columns out from the right, until the table fits.
void fit(std::vector<Column>& columns, std::size_t width) {
  const auto total = [&] {
    std::size_t sum = 1;
    for (const Column& c : columns) sum += c.shown ? c.width + 3 : 0;
    return sum;
  };
  constexpr std::size_t kReadable = 12;
  for (std::size_t sum = total(); sum > width; sum = total()) {
    auto widest = std::max_element(columns.begin(), columns.end(), [](const Column& a, const Column& b) {
      return (a.shown ? a.width : 0) < (b.shown ? b.width : 0);
    });
    if (widest->width > kReadable) {
      widest->width = std::max(kReadable, widest->width - std::min(widest->width, sum - width));
      continue;
    }
    auto last = std::find_if(columns.rbegin(), columns.rend(), [](const Column& c) { return c.shown; });
    if (last == columns.rend() || std::next(last) == columns.rend()) return;
    last->shown = false;
  }
}

void append_rule(const std::vector<Column>& columns, std::string_view left, std::string_view middle,
                 std::string_view right, std::string& out) {
  out += left;
  bool first = true;
  for (const Column& c : columns) {
    if (!c.shown) continue;
    if (!first) out += middle;
    first = false;
    for (std::size_t i = 0; i < c.width + 2; ++i) out += "─";
  }
  out += right;
  out += '\n';
}

void append_line(const std::vector<Column>& columns, std::size_t line, std::string& out) {
  for (const Column& c : columns) {
    if (!c.shown) continue;
    out += "│ ";
    out += fitted(c.lines[line], c.width, c.right && line >= 2);
    out += ' ';
  }
  out += "│\n";
}

std::string summary(std::size_t rows, std::size_t shown, const std::vector<Column>& columns) {
  std::string out = fmt::format("{} row{}", rows, rows == 1 ? "" : "s");
  if (shown < rows) out += fmt::format(" ({} shown)", shown);
  const auto visible_columns =
      static_cast<std::size_t>(std::count_if(columns.begin(), columns.end(), [](const Column& c) { return c.shown; }));
  if (visible_columns < columns.size()) {
    out += fmt::format(", {} columns ({} shown)", columns.size(), visible_columns);
  }
  return out + '\n';
}

}  // namespace

Result<std::string> table_text(const std::vector<RecordBatch>& batches, const TableStyle& style) {
  if (batches.empty() || batches[0].schema == nullptr) return std::string();
  AQ_ASSIGN(auto cells, Cells::plan(batches[0].schema));
  std::size_t rows = 0;
  for (const RecordBatch& batch : batches) rows += static_cast<std::size_t>(batch.rows());
  const std::size_t head = rows <= style.rows ? rows : (style.rows + 1) / 2;
  const std::size_t tail = rows <= style.rows ? 0 : style.rows / 2;

  std::vector<Column> columns(batches[0].schema->size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i].right = is_number(cells.columns()[i].kind());
    columns[i].lines.push_back(visible(batches[0].schema->name(i)));
    columns[i].lines.push_back(
        visible(i < style.types.size() ? style.types[i] : type_text(batches[0].schema->column(i))));
  }
  std::size_t row = 0;
  for (const RecordBatch& batch : batches) {
    if (batch.rows() == 0) continue;
    cells.bind(batch);
    for (std::int64_t r = 0; r < batch.rows(); ++r, ++row) {
      if (row >= head && row < rows - tail) {
        if (row == head) {
          for (Column& c : columns) c.lines.emplace_back("·");
        }
        continue;
      }
      for (std::size_t i = 0; i < columns.size(); ++i) {
        std::string text;
        if (is_null_value(cells.columns()[i], cells.at(r))) {
          text = "NULL";
        } else {
          append_plain_value(cells.columns()[i], cells.at(r), text);
        }
        columns[i].lines.push_back(visible(text));
      }
    }
  }
  for (Column& c : columns) {
    c.width = kMinWidth;
    for (const std::string& line : c.lines) c.width = std::max(c.width, width_of(line));
  }
  fit(columns, style.width);

  std::string out;
  append_rule(columns, "┌", "┬", "┐", out);
  append_line(columns, 0, out);
  append_line(columns, 1, out);
  append_rule(columns, "├", "┼", "┤", out);
  for (std::size_t line = 2; !columns.empty() && line < columns[0].lines.size(); ++line) {
    append_line(columns, line, out);
  }
  append_rule(columns, "└", "┴", "┘", out);
  return out + summary(rows, head + tail, columns);
}

}  // namespace aqueduck
