#pragma once

#include "component/registry.h"

namespace aqueduck {

/// `duckdb: {path: out.duckdb, table: events}`: appends rows to a table of a DuckDB file, exactly once.
const ComponentType<SinkFactory>& duckdb_sink();

}  // namespace aqueduck
