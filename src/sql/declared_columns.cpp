#include "sql/declared_columns.h"

#include <utility>

#include "sql/database.h"

namespace aqueduck::sql {

Result<std::vector<Column>> declared_columns(Database* database, const std::vector<DeclaredColumn>& columns) {
  if (columns.empty()) return std::vector<Column>();
  if (database == nullptr) return fail(ErrorKind::internal, "declared types need the engine, which isn't open");
  AQ_ASSIGN(const auto session, database->connect());
  std::vector<std::pair<std::string, std::string>> types;
  types.reserve(columns.size());
  for (const DeclaredColumn& column : columns) types.emplace_back(column.name, column.type);
  std::size_t index = 0;
  auto schema = session->schema_of(types, &index);
  if (!schema) {
    const DeclaredColumn& column = columns[index < columns.size() ? index : 0];
    return fail(ErrorKind::config, "{}{}column '{}' is declared as '{}': {}", column.where,
                column.where.empty() ? "" : ": ", column.name, column.type, schema.error().error.message);
  }
  auto out = columns_of(*schema);
  if (!out) return fail(with_context(std::move(out).error(), columns[0].where));
  return out;
}

}  // namespace aqueduck::sql
