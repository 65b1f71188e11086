#include "columnar/csv_text.h"

#include "columnar/value_text.h"

namespace aqueduck {

Result<CsvText> CsvText::plan(std::shared_ptr<const Schema> schema, char delimiter) {
  CsvText text;
  AQ_ASSIGN(text.cells_, Cells::plan(std::move(schema)));
  text.delimiter_ = delimiter;
  return text;
}

void CsvText::append_field(std::string_view text, std::string& out) const {
  const char special[] = {delimiter_, '"', '\n', '\r'};
  if (!text.empty() && text.find_first_of(std::string_view(special, sizeof special)) == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void CsvText::append_header(std::string& out) const {
  bool first = true;
  for (const Cell& column : cells_.columns()) {
    if (!first) out += delimiter_;
    first = false;
    append_field(column.name(), out);
  }
  out += '\n';
}

void CsvText::append_rows(const RecordBatch& batch, std::string& out) {
  if (batch.rows() == 0) return;
  cells_.bind(batch);
  std::string value;
  for (std::int64_t row = 0; row < batch.rows(); ++row) {
    bool first = true;
    for (const Cell& column : cells_.columns()) {
      if (!first) out += delimiter_;
      first = false;
      if (is_null_value(column, cells_.at(row))) continue;
      value.clear();
      append_plain_value(column, cells_.at(row), value);
      append_field(value, out);
    }
    out += '\n';
  }
}

}  // namespace aqueduck
