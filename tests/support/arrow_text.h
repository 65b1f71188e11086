#pragma once

#include <nanoarrow/nanoarrow.h>

#include <cstdint>
#include <string>

#include "columnar/column_type.h"
#include "columnar/parse_value.h"

namespace aqueduck::testing {

template <typename T>
T buffer_value(const ArrowArray& array, int buffer, std::int64_t i) {
  T out;
  std::memcpy(&out, static_cast<const T*>(array.buffers[buffer]) + i, sizeof(T));
  return out;
}

inline std::string integer_text(Int128 value) {
  const bool negative = value < 0;
  std::string out;
  do {
    out.insert(out.begin(), static_cast<char>('0' + static_cast<int>(negative ? -(value % 10) : value % 10)));
    value /= 10;
  } while (value != 0);
  return negative ? "-" + out : out;
}

/// One cell, read from the Arrow buffers alone: text in quotes, structs {a=1}, lists [1, 2], integers of times as they
/// are stored, blobs and UUIDs in hexadecimal.
inline std::string cell_text(const Column& column, const ArrowArray& array, std::int64_t i) {
  const auto* validity = static_cast<const std::uint8_t*>(array.buffers[0]);
  if (validity != nullptr && ((validity[i / 8] >> (i % 8)) & 1) == 0) return "NULL";
  const auto number = [](auto value) { return fmt::format("{}", value); };
  const auto bytes = [&] {
    const auto begin = buffer_value<std::int32_t>(array, 1, i);
    return std::string(static_cast<const char*>(array.buffers[2]) + begin,
                       static_cast<std::size_t>(buffer_value<std::int32_t>(array, 1, i + 1) - begin));
  };
  const auto hex = [](const std::string& raw) {
    std::string out;
    for (const char c : raw) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return out;
  };
  const auto elements = [&](std::int64_t begin, std::int64_t end) {
    std::string out;
    for (std::int64_t j = begin; j < end; ++j) {
      out += (out.empty() ? "" : ", ") + cell_text(column.children[0], *array.children[0], j);
    }
    return "[" + out + "]";
  };
  switch (column.kind) {
    case ColumnKind::boolean: {
      const auto* data = static_cast<const std::uint8_t*>(array.buffers[1]);
      return (column.width == 1 ? data[i] : (data[i / 8] >> (i % 8)) & 1) != 0 ? "true" : "false";
    }
    case ColumnKind::int8:
      return number(static_cast<int>(buffer_value<std::int8_t>(array, 1, i)));
    case ColumnKind::int16:
      return number(buffer_value<std::int16_t>(array, 1, i));
    case ColumnKind::date:
    case ColumnKind::int32:
      return number(buffer_value<std::int32_t>(array, 1, i));
    case ColumnKind::time:
    case ColumnKind::timestamp:
    case ColumnKind::int64:
      return number(buffer_value<std::int64_t>(array, 1, i));
    case ColumnKind::uint8:
      return number(static_cast<int>(buffer_value<std::uint8_t>(array, 1, i)));
    case ColumnKind::uint16:
      return number(buffer_value<std::uint16_t>(array, 1, i));
    case ColumnKind::uint32:
      return number(buffer_value<std::uint32_t>(array, 1, i));
    case ColumnKind::uint64:
      return number(buffer_value<std::uint64_t>(array, 1, i));
    case ColumnKind::float32:
      return number(buffer_value<float>(array, 1, i));
    case ColumnKind::float64:
      return number(buffer_value<double>(array, 1, i));
    case ColumnKind::hugeint:
      return integer_text(buffer_value<Int128>(array, 1, i));
    case ColumnKind::decimal:
      switch (column.width) {
        case 4:
          return number(buffer_value<std::int32_t>(array, 1, i));
        case 8:
          return number(buffer_value<std::int64_t>(array, 1, i));
        default:
          return integer_text(buffer_value<Int128>(array, 1, i));
      }
    case ColumnKind::text:
      return "'" + bytes() + "'";
    case ColumnKind::json:
      return "`" + bytes() + "`";
    case ColumnKind::blob:
      return hex(bytes());
    case ColumnKind::uuid:
      return hex(std::string(static_cast<const char*>(array.buffers[1]) + i * 16, 16));
    case ColumnKind::structure: {
      std::string out;
      for (std::size_t c = 0; c < column.children.size(); ++c) {
        out += (out.empty() ? "" : ", ") + column.children[c].name + "=" +
               cell_text(column.children[c], *array.children[c], i);
      }
      return "{" + out + "}";
    }
    case ColumnKind::list:
      return elements(buffer_value<std::int32_t>(array, 1, i), buffer_value<std::int32_t>(array, 1, i + 1));
    case ColumnKind::fixed_list:
      return elements(i * column.size, (i + 1) * column.size);
    case ColumnKind::map: {
      std::string out;
      const ArrowArray& entries = *array.children[0];
      for (auto j = buffer_value<std::int32_t>(array, 1, i); j < buffer_value<std::int32_t>(array, 1, i + 1); ++j) {
        out += (out.empty() ? "" : ", ") + cell_text(column.children[0], *entries.children[0], j) + ": " +
               cell_text(column.children[1], *entries.children[1], j);
      }
      return "<" + out + ">";
    }
  }
  return "";
}

/// "a BIGINT, b VARCHAR"
inline std::string schema_text(const Schema& schema) {
  std::string out;
  const auto columns = columns_of(schema).value();
  for (const Column& column : columns) {
    out += (out.empty() ? "" : ", ") + column.name + " " + type_name(column);
  }
  return out;
}

/// "a=1 b='x'" for one row.
inline std::string row_text(const RecordBatch& batch, std::int64_t row) {
  std::string out;
  const auto columns = columns_of(*batch.schema).value();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    out +=
        (out.empty() ? "" : " ") + columns[c].name + "=" + cell_text(columns[c], *batch.array->raw()->children[c], row);
  }
  return out;
}

/// Checks lengths, offsets and buffer sizes of every array, as a careful reader would. "" or what is wrong.
inline std::string invalid(const RecordBatch& batch) {
  ArrowArrayView view;
  ArrowError error{};
  std::string out;
  if (ArrowArrayViewInitFromSchema(&view, batch.schema->raw(), &error) != NANOARROW_OK ||
      ArrowArrayViewSetArray(&view, batch.array->raw(), &error) != NANOARROW_OK ||
      ArrowArrayViewValidate(&view, NANOARROW_VALIDATION_LEVEL_FULL, &error) != NANOARROW_OK) {
    out = error.message;
  }
  ArrowArrayViewReset(&view);
  return out;
}

}  // namespace aqueduck::testing
