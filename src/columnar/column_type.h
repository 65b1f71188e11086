#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "columnar/schema.h"

namespace aqueduck {

/// What a column's values are and how their Arrow buffers look.
enum class ColumnKind : std::uint8_t {
  boolean,  ///< Arrow's bits, or a byte each for the extension arrow.bool8
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  hugeint,  ///< 16 bytes, two's complement, little-endian (DuckDB's HUGEINT)
  float32,
  float64,
  decimal,    ///< 4, 8 or 16 bytes, by Arrow's declared width
  text,       ///< UTF-8
  json,       ///< UTF-8 that is a JSON value (extension arrow.json)
  blob,       ///< bytes
  uuid,       ///< 16 bytes, as written (extension arrow.uuid)
  date,       ///< int32, days since 1970
  time,       ///< int64, microseconds since midnight
  timestamp,  ///< int64, `unit` since 1970; `zoned`: a moment in UTC
  structure,
  list,
  fixed_list,  ///< `size` elements each
  map,         ///< child 0: key, child 1: value
};

enum class TimeUnit : std::uint8_t { second, milli, micro, nano };

/// A column: name, type and children. A value; an Arrow schema's own tree, reduced to what decoders write.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::text;
  std::uint8_t width = 0;      ///< bytes of a decimal; 1 for a boolean that takes a byte
  std::uint8_t precision = 0;  ///< of a decimal
  std::int8_t scale = 0;       ///< of a decimal
  TimeUnit unit = TimeUnit::micro;
  bool zoned = false;
  std::int32_t size = 0;  ///< of a fixed_list
  std::vector<Column> children;

  const Column* child(std::string_view wanted) const;
  Column* child(std::string_view wanted);
};

/// Reads an Arrow schema's columns. Errors (config) name the first column whose type no decoder can write.
Result<std::vector<Column>> columns_of(const Schema& schema);
/// The Arrow schema of columns.
Result<Schema> schema_from(const std::vector<Column>& columns);
/// As the engine writes it: "BIGINT", "DECIMAL(18,3)", "STRUCT(a INTEGER, b VARCHAR[])".
std::string type_name(const Column& column);

}  // namespace aqueduck
