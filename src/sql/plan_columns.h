#pragma once

#include <duckdb.hpp>
#include <string>
#include <vector>

namespace aqueduck::sql {

using Path = std::vector<std::string>;

/// Which columns and struct fields of the batch scan a plan reads, filters and joins included, sorted. An
/// empty list: rows are at most counted.
std::vector<Path> columns_read(const duckdb::PreparedStatement& prepared);

/// Whether a plan reads tables or files beside the batch. `unoptimized` because the optimizer leaves none of them where
/// it takes a count, a minimum or a maximum from what it knows of a table.
bool reads_elsewhere(const duckdb::PreparedStatement& unoptimized);

}  // namespace aqueduck::sql
