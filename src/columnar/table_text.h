#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "columnar/schema.h"

namespace aqueduck {

struct TableStyle {
  std::size_t width = 100;         ///< columns of the terminal
  std::size_t rows = 40;           ///< more than these are left out in the middle
  std::size_t left_out = 0;        ///< rows of the middle that aren't in the batches, where those hold more than `rows`
  std::vector<std::string> types;  ///< the second line of the heading; empty: from the Arrow types
};

/// Rows as a box-drawn table with names, types, and the number of rows below. Long values and columns that don't fit
/// are cut, visibly.
Result<std::string> table_text(const std::vector<RecordBatch>& batches, const TableStyle& style);

}  // namespace aqueduck
