#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "columnar/schema.h"

namespace aqueduck::golden {

/// A row as people see it, and as it is compared: keys sorted, numbers and texts in one spelling each.
struct Row {
  std::string shown;
  std::string key;
};

/// A JSON value in one spelling. What differs in type differs: 1, 1.0 and "1"; 1.0 and 1.00 are the same number, 0.0
/// and -0.0 are not. The order of an object's keys doesn't count. Errors (config) say where the text is no JSON.
Result<std::string> canonical_json(std::string_view text);

/// Rows of JSON lines; `name` stands for the file in errors.
Result<std::vector<Row>> rows_of_json_lines(std::string_view text, const std::string& name);
/// Records of CSV, the header first; compared as they are written.
std::vector<Row> rows_of_csv(std::string_view text);

/// Batches as text, as the file sink writes them. CSV: an error where the columns change in between.
Result<std::string> json_lines(const std::vector<RecordBatch>& batches);
Result<std::string> csv_text(const std::vector<RecordBatch>& batches);

/// The rows with only those of their keys that some row of `pattern` has: for files that leave columns out.
Result<std::vector<Row>> narrowed(const std::vector<Row>& rows, const std::vector<Row>& pattern);
/// The lines with only those keys that some row of `pattern` has; without a pattern, those that aren't null everywhere.
Result<std::string> chosen_columns(std::string_view json_lines, const std::vector<Row>& pattern);

/// What differs, as lines to show, or nullopt. Unordered: as multisets; CSV's header stays the first (`heading`).
std::optional<std::string> difference(std::vector<Row> expected, std::vector<Row> actual, bool ordered,
                                      bool heading = false);

/// The lines sorted, for expected files whose order doesn't count; `heading` lines stay first.
std::string sorted_text(std::vector<Row> rows, bool heading);

}  // namespace aqueduck::golden
