#pragma once

#include <duckdb.hpp>
#include <string>
#include <vector>

namespace aqueduck::sql {

using Path = std::vector<std::string>;

/// Which columns and struct fields of the batch scan a plan reads, filters and joins included, sorted. An
/// empty list: rows are at most counted.
std::vector<Path> columns_read(const duckdb::PreparedStatement& prepared);

}  // namespace aqueduck::sql
