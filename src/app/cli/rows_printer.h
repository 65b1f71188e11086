#pragma once

#include <string>
#include <vector>

#include "sql/database.h"

namespace aqueduck::app {

enum class RowFormat { table, jsonl, csv };

/// "table", "jsonl", "csv", or "auto": a table on a terminal, jsonl otherwise.
Result<RowFormat> parse_row_format(std::string_view word);

/// Prints all rows to stdout. Memory stays bounded: of a table's rows only the first and last are kept. Errors keep
/// the engine's offset.
sql::SqlResult<void> print_rows(sql::Session& session, sql::Rows& rows, RowFormat format);

}  // namespace aqueduck::app
