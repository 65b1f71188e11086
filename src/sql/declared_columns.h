#pragma once

#include <string>
#include <vector>

#include "columnar/column_type.h"

namespace aqueduck::sql {

class Database;

/// A column as a user declares it in a configuration.
struct DeclaredColumn {
  std::string name;
  std::string type;   ///< as SQL writes it
  std::string where;  ///< "pipeline.yml:3:9", for errors; may be empty
};

/// What the engine makes of declared types. `database` may be null only where there are no columns. Errors (config)
/// name the place, the column and its type.
Result<std::vector<Column>> declared_columns(Database* database, const std::vector<DeclaredColumn>& columns);

}  // namespace aqueduck::sql
