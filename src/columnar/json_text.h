#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "columnar/cell.h"

namespace aqueduck {

/// Rows as JSON objects, one form for every type (docs/internals/json-output.md). Planned once a schema; one thread.
class JsonText {
 public:
  /// An error of kind config names a column whose type has no JSON form.
  static Result<JsonText> plan(std::shared_ptr<const Schema> schema);

  /// The rows to write next; keeps the batch alive. It must be of the planned schema.
  void bind(const RecordBatch& batch) { cells_.bind(batch); }
  std::int64_t rows() const { return cells_.rows(); }
  /// Appends one object, without a newline.
  void append_row(std::int64_t row, std::string& out) const;
  /// Appends the value of one column.
  void append_value(std::size_t column, std::int64_t row, std::string& out) const;
  /// Binds the batch and appends a line for each of its rows.
  void append_lines(const RecordBatch& batch, std::string& out);

 private:
  Cells cells_;
  std::vector<std::string> keys_;  ///< `"name":`
};

/// A plan used once: a line for each row.
Result<void> append_json_lines(const RecordBatch& batch, std::string& out);

}  // namespace aqueduck
