#pragma once

#include <duckdb/common/error_data.hpp>
#include <exception>

#include "sql/database.h"

namespace aqueduck::sql {

/// The engine's error as ours: kind by what the caller can do, the text without the engine's own excerpt of the query,
/// the offset in the statement's text where it is known.
SqlError to_sql_error(const duckdb::ErrorData& error);
SqlError to_sql_error(const std::exception& exception);

/// Runs `body` (which returns an SqlResult) and turns an exception of the engine's into its error.
template <typename Body>
auto guarded(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& exception) {
    return tl::make_unexpected(to_sql_error(exception));
  }
}

}  // namespace aqueduck::sql
