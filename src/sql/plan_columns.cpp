#include "sql/plan_columns.h"

#include <algorithm>
#include <duckdb/execution/operator/scan/physical_table_scan.hpp>
#include <duckdb/execution/physical_plan_generator.hpp>
#include <duckdb/main/prepared_statement_data.hpp>
#include <set>

#include "sql/arrow_bridge.h"

namespace aqueduck::sql {
namespace {

void add_fields(const duckdb::ColumnIndex& index, const duckdb::LogicalType& type, Path path, std::set<Path>& out) {
  if (!index.HasChildren() || type.id() != duckdb::LogicalTypeId::STRUCT) {
    out.insert(std::move(path));
    return;
  }
  const auto& fields = duckdb::StructType::GetChildTypes(type);
  for (const auto& child : index.GetChildIndexes()) {
    if (!child.HasPrimaryIndex() || child.GetPrimaryIndex() >= fields.size()) {
      out.insert(path);
      return;
    }
    const auto& [name, child_type] = fields[child.GetPrimaryIndex()];
    Path longer = path;
    longer.push_back(name);
    add_fields(child, child_type, std::move(longer), out);
  }
}

void visit(const duckdb::PhysicalOperator& op, std::set<Path>& out) {
  if (op.type == duckdb::PhysicalOperatorType::TABLE_SCAN) {
    const auto& scan = op.Cast<duckdb::PhysicalTableScan>();
    if (scan.function.name == kBatchScan) {
      for (const auto& column : scan.column_ids) {
        if (!column.HasPrimaryIndex() || column.GetPrimaryIndex() >= scan.names.size()) continue;  // row id, count(*)
        const auto i = column.GetPrimaryIndex();
        add_fields(column, scan.returned_types[i], {scan.names[i]}, out);
      }
    }
  }
  for (const auto& child : op.GetChildren()) visit(child.get(), out);
}

/// Table functions that give the same rows whenever they are asked.
bool is_pure(const std::string& function) {
  return function == kBatchScan || function == "range" || function == "generate_series" || function == "repeat" ||
         function == "unnest";
}

bool scans_something_else(const duckdb::PhysicalOperator& op) {
  if (op.type == duckdb::PhysicalOperatorType::TABLE_SCAN &&
      !is_pure(op.Cast<duckdb::PhysicalTableScan>().function.name)) {
    return true;
  }
  const auto children = op.GetChildren();
  return std::any_of(children.begin(), children.end(),
                     [](const auto& child) { return scans_something_else(child.get()); });
}

}  // namespace

bool reads_elsewhere(const duckdb::PreparedStatement& unoptimized) {
  if (!unoptimized.data || !unoptimized.data->physical_plan) return true;
  return !unoptimized.data->properties.read_databases.empty() ||
         scans_something_else(unoptimized.data->physical_plan->Root());
}

std::vector<Path> columns_read(const duckdb::PreparedStatement& prepared) {
  if (!prepared.data || !prepared.data->physical_plan) return {};
  std::set<Path> paths;
  visit(prepared.data->physical_plan->Root(), paths);
  // A whole struct beside one of its fields: the whole counts.
  std::vector<Path> out;
  for (const Path& path : paths) {
    const bool covered = std::any_of(out.begin(), out.end(), [&](const Path& shorter) {
      return shorter.size() < path.size() && std::equal(shorter.begin(), shorter.end(), path.begin());
    });
    if (!covered) out.push_back(path);
  }
  return out;
}

}  // namespace aqueduck::sql
