#pragma once

#include <memory>
#include <string>

#include "columnar/cell.h"

namespace aqueduck {

/// Rows as CSV (RFC 4180, but lines end in "\n"). Values as in JSON without the quotes; nested ones are JSON text; NULL
/// is an empty field, an empty string is `""`. Planned once a schema; one thread.
class CsvText {
 public:
  static Result<CsvText> plan(std::shared_ptr<const Schema> schema, char delimiter = ',');
  void append_header(std::string& out) const;
  void append_rows(const RecordBatch& batch, std::string& out);

 private:
  void append_field(std::string_view text, std::string& out) const;

  Cells cells_;
  char delimiter_ = ',';
};

}  // namespace aqueduck
