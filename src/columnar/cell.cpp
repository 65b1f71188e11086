#include "columnar/cell.h"

#include <nanoarrow/nanoarrow.h>

#include <cstring>

namespace aqueduck {

namespace {

int digits_of(ArrowTimeUnit unit) {
  switch (unit) {
    case NANOARROW_TIME_UNIT_SECOND:
      return 0;
    case NANOARROW_TIME_UNIT_MILLI:
      return 3;
    case NANOARROW_TIME_UNIT_MICRO:
      return 6;
    default:
      return 9;
  }
}

CellKind integer_kind(ArrowType type) {
  switch (type) {
    case NANOARROW_TYPE_INT8:
      return CellKind::int8;
    case NANOARROW_TYPE_INT16:
      return CellKind::int16;
    case NANOARROW_TYPE_INT32:
      return CellKind::int32;
    case NANOARROW_TYPE_INT64:
      return CellKind::int64;
    case NANOARROW_TYPE_UINT8:
      return CellKind::uint8;
    case NANOARROW_TYPE_UINT16:
      return CellKind::uint16;
    case NANOARROW_TYPE_UINT32:
      return CellKind::uint32;
    case NANOARROW_TYPE_UINT64:
      return CellKind::uint64;
    default:
      return CellKind::null;
  }
}

CellKind scalar_kind(ArrowType type) {
  switch (type) {
    case NANOARROW_TYPE_BOOL:
      return CellKind::boolean;
    case NANOARROW_TYPE_HALF_FLOAT:
      return CellKind::half;
    case NANOARROW_TYPE_FLOAT:
      return CellKind::float32;
    case NANOARROW_TYPE_DOUBLE:
      return CellKind::float64;
    case NANOARROW_TYPE_DECIMAL32:
    case NANOARROW_TYPE_DECIMAL64:
    case NANOARROW_TYPE_DECIMAL128:
      return CellKind::decimal;
    case NANOARROW_TYPE_STRING:
    case NANOARROW_TYPE_LARGE_STRING:
    case NANOARROW_TYPE_STRING_VIEW:
      return CellKind::text;
    case NANOARROW_TYPE_BINARY:
    case NANOARROW_TYPE_LARGE_BINARY:
    case NANOARROW_TYPE_BINARY_VIEW:
    case NANOARROW_TYPE_FIXED_SIZE_BINARY:
      return CellKind::blob;
    case NANOARROW_TYPE_DATE32:
      return CellKind::date32;
    case NANOARROW_TYPE_DATE64:
      return CellKind::date64;
    case NANOARROW_TYPE_TIME32:
    case NANOARROW_TYPE_TIME64:
      return CellKind::time;
    case NANOARROW_TYPE_TIMESTAMP:
      return CellKind::timestamp;
    case NANOARROW_TYPE_DURATION:
      return CellKind::duration;
    case NANOARROW_TYPE_INTERVAL_MONTH_DAY_NANO:
      return CellKind::interval;
    case NANOARROW_TYPE_INTERVAL_MONTHS:
      return CellKind::interval_months;
    case NANOARROW_TYPE_INTERVAL_DAY_TIME:
      return CellKind::interval_day_time;
    default:
      return integer_kind(type);
  }
}

CellKind nested_kind(ArrowType type) {
  switch (type) {
    case NANOARROW_TYPE_DICTIONARY:
      return CellKind::dictionary;
    case NANOARROW_TYPE_STRUCT:
      return CellKind::structure;
    case NANOARROW_TYPE_LIST:
    case NANOARROW_TYPE_LARGE_LIST:
    case NANOARROW_TYPE_FIXED_SIZE_LIST:
    case NANOARROW_TYPE_LIST_VIEW:
    case NANOARROW_TYPE_LARGE_LIST_VIEW:
      return CellKind::list;
    case NANOARROW_TYPE_MAP:
      return CellKind::map;
    case NANOARROW_TYPE_SPARSE_UNION:
      return CellKind::sparse_union;
    case NANOARROW_TYPE_DENSE_UNION:
      return CellKind::dense_union;
    default:
      return scalar_kind(type);
  }
}

bool is_bytes(ArrowType type) { return scalar_kind(type) == CellKind::text || scalar_kind(type) == CellKind::blob; }

/// The extension's meaning where its storage is what it should be; else the storage's own.
CellKind extended_kind(std::string_view extension, const ArrowSchemaView& view, CellKind plain) {
  const bool bytes = is_bytes(view.type);
  const bool fixed = view.type == NANOARROW_TYPE_FIXED_SIZE_BINARY;
  const auto wide = [&](int size) { return fixed && view.fixed_size == size; };
  if (extension == "arrow.bool8" && view.type == NANOARROW_TYPE_INT8) return CellKind::bool8;
  if (extension == "arrow.json" && bytes && !fixed) return CellKind::json;
  if (extension == "arrow.uuid" && wide(16)) return CellKind::uuid;
  if (extension == "duckdb.hugeint" && wide(16)) return CellKind::hugeint;
  if (extension == "duckdb.uhugeint" && wide(16)) return CellKind::uhugeint;
  if (extension == "duckdb.time_tz" && wide(8)) return CellKind::time_tz;
  if (extension == "duckdb.bit" && bytes) return CellKind::bit;
  if ((extension == "duckdb.bignum" || extension == "duckdb.varint") && bytes) return CellKind::bignum;
  return plain;
}

std::vector<int> parse_type_ids(const char* text) {
  std::vector<int> ids;
  int id = 0;
  bool digits = false;
  for (const char* p = text; p != nullptr; ++p) {
    if (*p >= '0' && *p <= '9') {
      id = id * 10 + (*p - '0');
      digits = true;
      continue;
    }
    if (digits) ids.push_back(id);
    id = 0;
    digits = false;
    if (*p == 0) break;
  }
  return ids;
}

constexpr std::int64_t kInlinedBytes = 12;

}  // namespace

Result<Cell> Cell::plan(const ArrowSchema& field) {
  ArrowSchemaView view{};
  ArrowError error{};
  Cell cell;
  cell.name_ = field.name == nullptr ? "" : field.name;
  if (ArrowSchemaViewInit(&view, &field, &error) != NANOARROW_OK) {
    return fail(ErrorKind::config, "column '{}' has an invalid Arrow type: {}", cell.name_, error.message);
  }
  const CellKind plain = nested_kind(view.type);
  cell.kind_ = extended_kind(extension_name(field), view, plain);
  if (cell.kind_ == CellKind::null && view.type != NANOARROW_TYPE_NA) {
    return fail(ErrorKind::config, "column '{}' has the Arrow type '{}', which has no text form: cast it in the SQL",
                cell.name_, field.format);
  }
  switch (view.type) {
    case NANOARROW_TYPE_STRING:
    case NANOARROW_TYPE_BINARY:
    case NANOARROW_TYPE_LIST:
    case NANOARROW_TYPE_MAP:
      cell.layout_ = Layout::offsets32;
      break;
    case NANOARROW_TYPE_LARGE_STRING:
    case NANOARROW_TYPE_LARGE_BINARY:
    case NANOARROW_TYPE_LARGE_LIST:
      cell.layout_ = Layout::offsets64;
      break;
    case NANOARROW_TYPE_STRING_VIEW:
    case NANOARROW_TYPE_BINARY_VIEW:
      cell.layout_ = Layout::views;
      break;
    case NANOARROW_TYPE_LIST_VIEW:
      cell.layout_ = Layout::views32;
      break;
    case NANOARROW_TYPE_LARGE_LIST_VIEW:
      cell.layout_ = Layout::views64;
      break;
    case NANOARROW_TYPE_FIXED_SIZE_LIST:
      cell.layout_ = Layout::fixed_list;
      break;
    default:
      break;
  }
  // Only these types set it.
  if (plain == CellKind::time || plain == CellKind::timestamp || plain == CellKind::duration) {
    cell.unit_digits_ = digits_of(view.time_unit);
  }
  cell.utc_ = view.type == NANOARROW_TYPE_TIMESTAMP && view.timezone != nullptr && view.timezone[0] != 0;
  cell.scale_ = cell.kind_ == CellKind::decimal ? view.decimal_scale : 0;
  if (cell.kind_ == CellKind::decimal) cell.width_ = view.decimal_bitwidth / 8;
  if (view.type == NANOARROW_TYPE_FIXED_SIZE_BINARY || view.type == NANOARROW_TYPE_FIXED_SIZE_LIST) {
    cell.width_ = view.fixed_size;
  }
  if (plain == CellKind::time) cell.width_ = view.type == NANOARROW_TYPE_TIME32 ? 4 : 8;
  if (plain == CellKind::dictionary) {
    cell.index_kind_ = integer_kind(view.storage_type);
    AQ_ASSIGN(auto values, plan(*field.dictionary));
    cell.children_.push_back(std::move(values));
    return cell;
  }
  if (plain == CellKind::sparse_union || plain == CellKind::dense_union) {
    cell.type_ids_ = parse_type_ids(view.union_type_ids);
  }
  for (std::int64_t i = 0; i < field.n_children; ++i) {
    AQ_ASSIGN(auto child, plan(*field.children[i]));
    cell.children_.push_back(std::move(child));
  }
  return cell;
}

void Cell::bind(const ArrowArray& array) {
  array_ = &array;
  if (kind_ == CellKind::dictionary) {
    children_[0].bind(*array.dictionary);
    return;
  }
  for (std::size_t i = 0; i < children_.size(); ++i) children_[i].bind(*array.children[i]);
}

bool Cell::is_null(std::int64_t row) const {
  if (kind_ == CellKind::null) return true;
  if (kind_ == CellKind::sparse_union || kind_ == CellKind::dense_union || array_->null_count == 0) return false;
  const auto* validity = static_cast<const std::uint8_t*>(buffer(0));
  return validity != nullptr && ArrowBitGet(validity, array_->offset + row) == 0;
}

bool Cell::bit(std::int64_t row) const {
  return ArrowBitGet(static_cast<const std::uint8_t*>(buffer(1)), array_->offset + row) != 0;
}

std::string_view Cell::bytes(std::int64_t row) const {
  const std::int64_t i = array_->offset + row;
  if (layout_ == Layout::views) return view(i);
  if (layout_ == Layout::fixed) {
    return {static_cast<const char*>(buffer(1)) + i * width_, static_cast<std::size_t>(width_)};
  }
  std::int64_t from = 0;
  std::int64_t to = 0;
  if (layout_ == Layout::offsets32) {
    const auto* offsets = static_cast<const std::int32_t*>(buffer(1));
    from = offsets[i];
    to = offsets[i + 1];
  } else {
    const auto* offsets = static_cast<const std::int64_t*>(buffer(1));
    from = offsets[i];
    to = offsets[i + 1];
  }
  if (to <= from || buffer(2) == nullptr) return std::string_view("");
  return {static_cast<const char*>(buffer(2)) + from, static_cast<std::size_t>(to - from)};
}

std::string_view Cell::view(std::int64_t row) const {
  const char* entry = static_cast<const char*>(buffer(1)) + row * 16;
  std::int32_t words[4];
  std::memcpy(words, entry, sizeof words);
  const std::int64_t size = words[0];
  if (size <= 0) return std::string_view("");
  if (size <= kInlinedBytes) return {entry + 4, static_cast<std::size_t>(size)};
  const std::int64_t variadic = array_->n_buffers - 3;  // the last buffer holds their sizes
  const std::int64_t which = words[2];
  const std::int64_t from = words[3];
  if (which < 0 || which >= variadic || from < 0) return std::string_view("");
  const auto* sizes = static_cast<const std::int64_t*>(array_->buffers[array_->n_buffers - 1]);
  if (sizes[which] - from < size) return std::string_view("");
  return {static_cast<const char*>(array_->buffers[2 + which]) + from, static_cast<std::size_t>(size)};
}

std::pair<std::int64_t, std::int64_t> Cell::elements(std::int64_t row) const {
  const std::int64_t i = array_->offset + row;
  const auto range = [i](const auto* offsets) {
    return std::pair<std::int64_t, std::int64_t>(offsets[i], static_cast<std::int64_t>(offsets[i + 1]) - offsets[i]);
  };
  const auto sized = [i](const auto* offsets, const auto* sizes) {
    return std::pair<std::int64_t, std::int64_t>(offsets[i], sizes[i]);
  };
  switch (layout_) {
    case Layout::offsets32:
      return range(static_cast<const std::int32_t*>(buffer(1)));
    case Layout::offsets64:
      return range(static_cast<const std::int64_t*>(buffer(1)));
    case Layout::views32:
      return sized(static_cast<const std::int32_t*>(buffer(1)), static_cast<const std::int32_t*>(buffer(2)));
    case Layout::views64:
      return sized(static_cast<const std::int64_t*>(buffer(1)), static_cast<const std::int64_t*>(buffer(2)));
    default:
      return {i * width_, width_};
  }
}

std::int64_t Cell::dictionary_row(std::int64_t row) const {
  switch (index_kind_) {
    case CellKind::int8:
      return value<std::int8_t>(row);
    case CellKind::uint8:
      return value<std::uint8_t>(row);
    case CellKind::int16:
      return value<std::int16_t>(row);
    case CellKind::uint16:
      return value<std::uint16_t>(row);
    case CellKind::int32:
      return value<std::int32_t>(row);
    case CellKind::uint32:
      return value<std::uint32_t>(row);
    default:
      return value<std::int64_t>(row);
  }
}

const Cell* Cell::alternative(std::int64_t row, std::int64_t* child_row) const {
  const std::int64_t i = array_->offset + row;
  const int id = static_cast<int>(static_cast<const std::int8_t*>(buffer(0))[i]);
  for (std::size_t c = 0; c < children_.size(); ++c) {
    if (c >= type_ids_.size() || type_ids_[c] != id) continue;
    *child_row = kind_ == CellKind::sparse_union ? i : static_cast<const std::int32_t*>(buffer(1))[i];
    return &children_[c];
  }
  return nullptr;
}

Result<Cells> Cells::plan(std::shared_ptr<const Schema> schema) {
  Cells cells;
  for (std::size_t i = 0; i < schema->size(); ++i) {
    AQ_ASSIGN(auto cell, Cell::plan(schema->column(i)));
    cells.columns_.push_back(std::move(cell));
  }
  cells.schema_ = std::move(schema);
  return cells;
}

void Cells::bind(const RecordBatch& batch) {
  batch_ = batch;
  for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].bind(*batch.array->raw()->children[i]);
}

}  // namespace aqueduck
