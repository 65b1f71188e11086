#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "columnar/column_type.h"
#include "component/decoder.h"

namespace aqueduck::json {

/// A column that a decoder knows, declared or inferred, with what may be below it. `type.children` is unused.
struct KnownColumn {
  Column type;
  std::vector<KnownColumn> children;
  bool declared = false;
  /// Nothing but null, {} and [] was seen so far: shown as JSON, gets its type from the first value that tells it.
  bool pending = false;
  /// Appeared since the last restriction: built whatever that says.
  bool fresh = false;
};

/// All columns of a decoder; a struct's shape is the same as that of the whole row.
using KnownColumns = std::vector<KnownColumn>;

KnownColumns declared_columns(const std::vector<Column>& columns);
std::size_t count(const KnownColumns& columns);
void forget_fresh(KnownColumns& columns);

/// Adds what is new in `seen`: columns, fields of structs, types of pending ones. What has a type keeps it. True if
/// anything changed; names in `seen` are unique. At most `room` columns are added, nested ones included; `room` says
/// how many are left, and is SIZE_MAX where one had to be left out.
bool extend(KnownColumns& known, const KnownColumns& seen, std::size_t& room);
inline constexpr std::size_t kLeftOut = SIZE_MAX;

/// Which columns are read: `fields` below a node that isn't `whole`.
struct Selection {
  bool whole = false;
  std::map<std::string, Selection, std::less<>> fields;

  static Selection of(const std::optional<std::vector<ColumnPath>>& paths);
  const Selection* field(std::string_view name) const;
};

/// The inferred columns as text: {"version":1,"columns":[{"name":"a","type":"BIGINT"}, …]}; empty if there are none.
std::string save(const KnownColumns& columns);
/// Adds saved columns to declared ones. Errors (conflict): text that save() did not write.
Result<void> restore(KnownColumns& columns, const std::string& saved);

}  // namespace aqueduck::json
