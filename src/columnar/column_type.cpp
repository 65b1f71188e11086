#include "columnar/column_type.h"

#include <fmt/format.h>
#include <nanoarrow/nanoarrow.h>

#include <algorithm>
#include <new>
#include <optional>

namespace aqueduck {
namespace {

constexpr std::string_view kExtensionName = "ARROW:extension:name";
constexpr std::string_view kExtensionMetadata = "ARROW:extension:metadata";
constexpr std::string_view kHugeintMetadata = R"({"type_name":"hugeint","vendor_name":"DuckDB"})";
constexpr std::uint8_t kHugeintDigits = 38;

struct Plain {
  ArrowType arrow;
  ColumnKind kind;
};
constexpr Plain kPlain[] = {
    {NANOARROW_TYPE_BOOL, ColumnKind::boolean},
    {NANOARROW_TYPE_INT8, ColumnKind::int8},
    {NANOARROW_TYPE_INT16, ColumnKind::int16},
    {NANOARROW_TYPE_INT32, ColumnKind::int32},
    {NANOARROW_TYPE_INT64, ColumnKind::int64},
    {NANOARROW_TYPE_UINT8, ColumnKind::uint8},
    {NANOARROW_TYPE_UINT16, ColumnKind::uint16},
    {NANOARROW_TYPE_UINT32, ColumnKind::uint32},
    {NANOARROW_TYPE_UINT64, ColumnKind::uint64},
    {NANOARROW_TYPE_FLOAT, ColumnKind::float32},
    {NANOARROW_TYPE_DOUBLE, ColumnKind::float64},
    {NANOARROW_TYPE_STRING, ColumnKind::text},
    {NANOARROW_TYPE_BINARY, ColumnKind::blob},
    {NANOARROW_TYPE_DATE32, ColumnKind::date},
    {NANOARROW_TYPE_STRUCT, ColumnKind::structure},
    {NANOARROW_TYPE_LIST, ColumnKind::list},
    {NANOARROW_TYPE_FIXED_SIZE_LIST, ColumnKind::fixed_list},
};

std::string_view view_of(ArrowStringView view) {
  return view.data == nullptr ? std::string_view()
                              : std::string_view(view.data, static_cast<std::size_t>(view.size_bytes));
}

/// The kind of an extension type whose storage alone would say too little; nullopt: judge by the storage.
std::optional<ColumnKind> extension_kind(const ArrowSchemaView& view, std::uint8_t& width) {
  const std::string_view extension = view_of(view.extension_name);
  if (extension == "arrow.json" && view.type == NANOARROW_TYPE_STRING) return ColumnKind::json;
  if (extension == "arrow.uuid" && view.type == NANOARROW_TYPE_FIXED_SIZE_BINARY) return ColumnKind::uuid;
  if (extension == "arrow.bool8" && view.type == NANOARROW_TYPE_INT8) {
    width = 1;
    return ColumnKind::boolean;
  }
  if (extension == "arrow.opaque" && view.type == NANOARROW_TYPE_FIXED_SIZE_BINARY && view.fixed_size == 16 &&
      view_of(view.extension_metadata).find("\"hugeint\"") != std::string_view::npos) {
    return ColumnKind::hugeint;
  }
  return std::nullopt;
}

/// Fills kind and parameters; false where no decoder can write the type.
bool read_type(const ArrowSchemaView& view, Column& out) {
  if (const auto kind = extension_kind(view, out.width)) {
    out.kind = *kind;
    return true;
  }
  if (view.extension_name.data != nullptr) return false;
  switch (view.type) {
    case NANOARROW_TYPE_DECIMAL32:
    case NANOARROW_TYPE_DECIMAL64:
    case NANOARROW_TYPE_DECIMAL128:
      out.kind = ColumnKind::decimal;
      out.width = static_cast<std::uint8_t>(view.decimal_bitwidth / 8);
      out.precision = static_cast<std::uint8_t>(view.decimal_precision);
      out.scale = static_cast<std::int8_t>(view.decimal_scale);
      return view.decimal_precision > 0 && view.decimal_precision <= kHugeintDigits && view.decimal_scale >= 0 &&
             view.decimal_scale <= view.decimal_precision;
    case NANOARROW_TYPE_TIME64:
      out.kind = ColumnKind::time;
      return view.time_unit == NANOARROW_TIME_UNIT_MICRO;
    case NANOARROW_TYPE_TIMESTAMP:
      out.kind = ColumnKind::timestamp;
      out.unit = static_cast<TimeUnit>(view.time_unit);
      out.zoned = view.timezone != nullptr && view.timezone[0] != '\0';
      return true;
    case NANOARROW_TYPE_MAP:
      out.kind = ColumnKind::map;
      return true;
    default:
      break;
  }
  const auto* found = std::find_if(std::begin(kPlain), std::end(kPlain), [&](Plain p) { return p.arrow == view.type; });
  if (found == std::end(kPlain)) return false;
  out.kind = found->kind;
  out.size = found->kind == ColumnKind::fixed_list ? view.fixed_size : 0;
  return true;
}

Result<Column> read_column(const ArrowSchema& raw, const std::string& parent) {
  Column out;
  out.name = raw.name == nullptr ? "" : raw.name;
  const std::string path = parent.empty() ? out.name : parent + "." + out.name;
  ArrowSchemaView view{};
  ArrowError error{};
  if (ArrowSchemaViewInit(&view, &raw, &error) != NANOARROW_OK || !read_type(view, out)) {
    return fail(
        ErrorKind::config,
        "column '{}' has a type that can't be decoded (Arrow format '{}'{}); declare VARCHAR or JSON and cast in SQL",
        path, raw.format, view.extension_name.data == nullptr ? "" : ", " + std::string(view_of(view.extension_name)));
  }
  // Arrow wraps a map's key and value in one more struct.
  const ArrowSchema& owner = out.kind == ColumnKind::map ? *raw.children[0] : raw;
  for (std::int64_t i = 0; i < owner.n_children; ++i) {
    AQ_ASSIGN(Column child, read_column(*owner.children[i], path));
    out.children.push_back(std::move(child));
  }
  if (out.kind == ColumnKind::map && out.children[0].kind != ColumnKind::text) {
    return fail(ErrorKind::config, "column '{}' is a MAP with keys of type {}; only VARCHAR keys can be decoded", path,
                type_name(out.children[0]));
  }
  return out;
}

bool good(ArrowErrorCode code) { return code == NANOARROW_OK; }

bool set_extension(ArrowSchema* out, std::string_view name, std::string_view metadata) {
  ArrowBuffer buffer;
  const auto text = [](std::string_view s) { return ArrowStringView{s.data(), static_cast<std::int64_t>(s.size())}; };
  bool done = good(ArrowMetadataBuilderInit(&buffer, nullptr)) &&
              good(ArrowMetadataBuilderAppend(&buffer, text(kExtensionName), text(name))) &&
              good(ArrowMetadataBuilderAppend(&buffer, text(kExtensionMetadata), text(metadata))) &&
              good(ArrowSchemaSetMetadata(out, reinterpret_cast<const char*>(buffer.data)));
  ArrowBufferReset(&buffer);
  return done;
}

bool write_column(const Column& column, ArrowSchema* out);

bool write_children(const std::vector<Column>& children, ArrowSchema* out) {
  if (!good(ArrowSchemaAllocateChildren(out, static_cast<std::int64_t>(children.size())))) return false;
  for (std::size_t i = 0; i < children.size(); ++i) {
    ArrowSchemaInit(out->children[i]);
    if (!write_column(children[i], out->children[i])) return false;
  }
  return true;
}

bool write_type(const Column& column, ArrowSchema* out) {
  switch (column.kind) {
    case ColumnKind::boolean:
      return column.width == 0
                 ? good(ArrowSchemaSetType(out, NANOARROW_TYPE_BOOL))
                 : good(ArrowSchemaSetType(out, NANOARROW_TYPE_INT8)) && set_extension(out, "arrow.bool8", "");
    case ColumnKind::hugeint:
      return good(ArrowSchemaSetFormat(out, "w:16")) && set_extension(out, "arrow.opaque", kHugeintMetadata);
    case ColumnKind::uuid:
      return good(ArrowSchemaSetFormat(out, "w:16")) && set_extension(out, "arrow.uuid", "");
    case ColumnKind::json:
      return good(ArrowSchemaSetType(out, NANOARROW_TYPE_STRING)) && set_extension(out, "arrow.json", "");
    case ColumnKind::decimal: {
      const ArrowType type = column.width == 4   ? NANOARROW_TYPE_DECIMAL32
                             : column.width == 8 ? NANOARROW_TYPE_DECIMAL64
                                                 : NANOARROW_TYPE_DECIMAL128;
      return good(ArrowSchemaSetTypeDecimal(out, type, column.precision, column.scale));
    }
    case ColumnKind::time:
      return good(ArrowSchemaSetTypeDateTime(out, NANOARROW_TYPE_TIME64, NANOARROW_TIME_UNIT_MICRO, nullptr));
    case ColumnKind::timestamp:
      return good(ArrowSchemaSetTypeDateTime(out, NANOARROW_TYPE_TIMESTAMP, static_cast<ArrowTimeUnit>(column.unit),
                                             column.zoned ? "UTC" : nullptr));
    case ColumnKind::structure:
      return good(ArrowSchemaSetFormat(out, "+s")) && write_children(column.children, out);
    case ColumnKind::list:
      return good(ArrowSchemaSetFormat(out, "+l")) && write_children(column.children, out);
    case ColumnKind::fixed_list:
      return good(ArrowSchemaSetFormat(out, fmt::format("+w:{}", column.size).c_str())) &&
             write_children(column.children, out);
    case ColumnKind::map: {
      if (!good(ArrowSchemaSetFormat(out, "+m")) || !good(ArrowSchemaAllocateChildren(out, 1))) return false;
      ArrowSchema* entries = out->children[0];
      ArrowSchemaInit(entries);
      if (!good(ArrowSchemaSetFormat(entries, "+s")) || !good(ArrowSchemaSetName(entries, "entries")) ||
          !write_children(column.children, entries)) {
        return false;
      }
      entries->flags &= ~ARROW_FLAG_NULLABLE;
      entries->children[0]->flags &= ~ARROW_FLAG_NULLABLE;
      return true;
    }
    default:
      break;
  }
  const auto* found =
      std::find_if(std::begin(kPlain), std::end(kPlain), [&](Plain p) { return p.kind == column.kind; });
  return found != std::end(kPlain) && good(ArrowSchemaSetType(out, found->arrow));
}

bool write_column(const Column& column, ArrowSchema* out) {
  return write_type(column, out) && good(ArrowSchemaSetName(out, column.name.c_str()));
}

std::string quoted_name(const std::string& name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
  return plain ? name : '"' + name + '"';
}

}  // namespace

const Column* Column::child(std::string_view wanted) const {
  const auto found = std::find_if(children.begin(), children.end(), [&](const Column& c) { return c.name == wanted; });
  return found == children.end() ? nullptr : &*found;
}

Column* Column::child(std::string_view wanted) {
  const auto found = std::find_if(children.begin(), children.end(), [&](const Column& c) { return c.name == wanted; });
  return found == children.end() ? nullptr : &*found;
}

Result<std::vector<Column>> columns_of(const Schema& schema) {
  std::vector<Column> out;
  for (std::size_t i = 0; i < schema.size(); ++i) {
    AQ_ASSIGN(Column column, read_column(schema.column(i), ""));
    out.push_back(std::move(column));
  }
  return out;
}

Result<Schema> schema_from(const std::vector<Column>& columns) {
  ArrowSchema raw;
  ArrowSchemaInit(&raw);
  if (!good(ArrowSchemaSetFormat(&raw, "+s")) || !write_children(columns, &raw)) {
    ArrowSchemaRelease(&raw);
    return fail(ErrorKind::limit, "no memory for a schema of {} columns", columns.size());
  }
  return Schema::adopt(&raw);
}

std::string type_name(const Column& column) {
  switch (column.kind) {
    case ColumnKind::boolean:
      return "BOOLEAN";
    case ColumnKind::int8:
      return "TINYINT";
    case ColumnKind::int16:
      return "SMALLINT";
    case ColumnKind::int32:
      return "INTEGER";
    case ColumnKind::int64:
      return "BIGINT";
    case ColumnKind::uint8:
      return "UTINYINT";
    case ColumnKind::uint16:
      return "USMALLINT";
    case ColumnKind::uint32:
      return "UINTEGER";
    case ColumnKind::uint64:
      return "UBIGINT";
    case ColumnKind::hugeint:
      return "HUGEINT";
    case ColumnKind::float32:
      return "FLOAT";
    case ColumnKind::float64:
      return "DOUBLE";
    case ColumnKind::decimal:
      return fmt::format("DECIMAL({},{})", column.precision, column.scale);
    case ColumnKind::text:
      return "VARCHAR";
    case ColumnKind::json:
      return "JSON";
    case ColumnKind::blob:
      return "BLOB";
    case ColumnKind::uuid:
      return "UUID";
    case ColumnKind::date:
      return "DATE";
    case ColumnKind::time:
      return "TIME";
    case ColumnKind::timestamp: {
      if (column.zoned) return "TIMESTAMPTZ";
      constexpr std::string_view kNames[] = {"TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS"};
      return std::string(kNames[static_cast<std::size_t>(column.unit)]);
    }
    case ColumnKind::structure: {
      std::string out;
      for (const Column& child : column.children) {
        out += (out.empty() ? "" : ", ") + quoted_name(child.name) + " " + type_name(child);
      }
      return "STRUCT(" + out + ")";
    }
    case ColumnKind::list:
      return type_name(column.children[0]) + "[]";
    case ColumnKind::fixed_list:
      return fmt::format("{}[{}]", type_name(column.children[0]), column.size);
    case ColumnKind::map:
      return "MAP(VARCHAR, " + type_name(column.children[1]) + ")";
  }
  return "";
}

}  // namespace aqueduck
