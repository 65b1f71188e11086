#include "connectors/kafka/kafka_rows.h"

#include "columnar/cell.h"
#include "columnar/json_text.h"
#include "columnar/value_text.h"

namespace aqueduck {

namespace {

Result<std::size_t> column_of(const Schema& schema, const std::string& name, std::string_view what) {
  for (std::size_t i = 0; i < schema.size(); ++i) {
    if (schema.name(i) == name) return i;
  }
  return fail(ErrorKind::config, "the rows have no column '{}' for the {} of the messages", name, what);
}

/// Bytes as they are, texts without quotes; none for NULL.
std::optional<std::string> plain(const Cell& cell, std::int64_t row) {
  if (is_null_value(cell, row)) return std::nullopt;
  if (cell.kind() == CellKind::blob) return std::string(cell.bytes(row));
  std::string out;
  append_plain_value(cell, row, out);
  return out;
}

using KafkaHeaders = std::vector<std::pair<std::string, std::string>>;

KafkaHeaders headers_of(const Cell& cell, std::int64_t row) {
  KafkaHeaders out;
  if (is_null_value(cell, row)) return out;
  if (cell.kind() == CellKind::structure) {
    for (const Cell& field : cell.children()) {
      if (auto value = plain(field, cell.child_row(row))) out.emplace_back(field.name(), std::move(*value));
    }
    return out;
  }
  const auto [from, count] = cell.elements(row);
  const Cell& entries = cell.children()[0];
  for (std::int64_t i = from; i < from + count; ++i) {
    const std::int64_t entry = entries.child_row(i);
    auto name = plain(entries.children()[0], entry);
    auto value = plain(entries.children()[1], entry);
    if (name && value) out.emplace_back(std::move(*name), std::move(*value));
  }
  return out;
}

}  // namespace

Result<std::vector<KafkaRow>> kafka_rows(const RecordBatch& batch, const std::string& key_column,
                                         const std::string& headers_column) {
  std::vector<KafkaRow> out;
  if (batch.rows() == 0) return out;
  AQ_ASSIGN(JsonText json, JsonText::plan(batch.schema));
  AQ_ASSIGN(Cells cells, Cells::plan(batch.schema));
  const std::size_t none = batch.schema->size();
  std::size_t key = none;
  std::size_t headers = none;
  if (!key_column.empty()) {
    AQ_ASSIGN(key, column_of(*batch.schema, key_column, "key"));
  }
  if (!headers_column.empty()) {
    AQ_ASSIGN(headers, column_of(*batch.schema, headers_column, "headers"));
    const CellKind kind = cells.columns()[headers].kind();
    if (kind != CellKind::map && kind != CellKind::structure) {
      return fail(ErrorKind::config, "the column '{}' can't be the headers of messages: it must be a MAP or a STRUCT",
                  headers_column);
    }
  }
  json.bind(batch);
  cells.bind(batch);
  out.resize(static_cast<std::size_t>(batch.rows()));
  std::vector<std::string> names(none);
  for (std::size_t i = 0; i < none; ++i) append_json_string(batch.schema->name(i), names[i]);
  for (std::int64_t i = 0; i < batch.rows(); ++i) {
    KafkaRow& row = out[static_cast<std::size_t>(i)];
    if (headers == none) {
      json.append_row(i, row.payload);
    } else {
      row.payload = '{';
      for (std::size_t column = 0; column < none; ++column) {
        if (column == headers) continue;
        if (row.payload.size() > 1) row.payload += ',';
        row.payload += names[column];
        row.payload += ':';
        json.append_value(column, i, row.payload);
      }
      row.payload += '}';
      row.headers = headers_of(cells.columns()[headers], cells.at(i));
    }
    if (key != none) row.key = plain(cells.columns()[key], cells.at(i));
  }
  return out;
}

}  // namespace aqueduck
