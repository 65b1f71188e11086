#include "columnar/dense.h"

#include <nanoarrow/nanoarrow.h>

#include <cstring>
#include <new>

#include "columnar/cell.h"

namespace aqueduck {

namespace {

Result<void> densify(ArrowSchema& field) {
  ArrowSchemaView view{};
  ArrowError error{};
  if (ArrowSchemaViewInit(&view, &field, &error) != NANOARROW_OK) {
    return fail(ErrorKind::config, "invalid Arrow schema: {}", error.message);
  }
  const std::string_view name = field.name == nullptr ? "" : field.name;
  const char* format = nullptr;
  if (view.type == NANOARROW_TYPE_LIST_VIEW || view.type == NANOARROW_TYPE_LARGE_LIST_VIEW ||
      view.type == NANOARROW_TYPE_RUN_END_ENCODED) {
    return fail(ErrorKind::config, "column '{}' has the Arrow type '{}', which can't be written as Arrow IPC", name,
                field.format);
  }
  if (view.type == NANOARROW_TYPE_STRING_VIEW) format = "U";
  if (view.type == NANOARROW_TYPE_BINARY_VIEW) format = "Z";
  if (field.dictionary != nullptr) {
    AQ_ASSIGN(const Cell values, Cell::plan(*field.dictionary));
    if (values.kind() != CellKind::text) {
      return fail(ErrorKind::config, "column '{}' is a dictionary of values that aren't text: cast it in the SQL",
                  name);
    }
    ArrowSchemaRelease(field.dictionary);
    ArrowFree(field.dictionary);
    field.dictionary = nullptr;
    format = "U";
  }
  if (format != nullptr && ArrowSchemaSetFormat(&field, format) != NANOARROW_OK) throw std::bad_alloc();
  for (std::int64_t i = 0; i < field.n_children; ++i) AQ_TRY(densify(*field.children[i]));
  return {};
}

void release_nothing(ArrowArray* array) { array->release = nullptr; }

}  // namespace

Result<Schema> dense_schema(const Schema& schema) {
  Schema copy = schema.clone();
  ArrowSchema raw = *copy.raw();
  // The copy gives up its schema without a release: `raw` is the owner until it is adopted again.
  AQ_TRY(densify(raw));
  const_cast<ArrowSchema*>(copy.raw())->release = nullptr;
  return Schema::adopt(&raw);
}

ArrowArray* Dense::node(std::int64_t length, std::size_t buffers) {
  buffers_.emplace_back(buffers, nullptr);
  children_.emplace_back();
  ArrowArray& out = nodes_.emplace_back();
  std::memset(&out, 0, sizeof out);
  out.length = length;
  out.n_buffers = static_cast<std::int64_t>(buffers);
  out.buffers = buffers_.back().data();
  out.private_data = &children_.back();
  out.release = release_nothing;
  return &out;
}

const void* Dense::bits(const void* buffer, std::int64_t from, std::int64_t count) {
  if (buffer == nullptr) return nullptr;
  const auto* bytes = static_cast<const std::uint8_t*>(buffer);
  if (from % 8 == 0) return bytes + from / 8;
  std::string& copy = copies_.emplace_back(static_cast<std::size_t>((count + 7) / 8 + 1), '\0');
  for (std::int64_t i = 0; i < count; ++i) {
    if (ArrowBitGet(bytes, from + i) != 0) ArrowBitSet(reinterpret_cast<std::uint8_t*>(copy.data()), i);
  }
  return copy.data();
}

template <typename Offset>
std::pair<std::int64_t, std::int64_t> Dense::rebase(ArrowArray* out, const ArrowArray& array, std::int64_t from) {
  const auto* offsets = static_cast<const Offset*>(array.buffers[1]);
  const auto count = static_cast<std::size_t>(out->length);
  std::string& copy = copies_.emplace_back((count + 1) * sizeof(Offset), '\0');
  out->buffers[1] = copy.data();
  if (offsets == nullptr || count == 0) return {0, 0};
  const Offset first = offsets[from];
  const Offset last = offsets[from + out->length];
  if (first == 0) {
    out->buffers[1] = offsets + from;
  } else {
    auto* rebased = reinterpret_cast<Offset*>(copy.data());
    for (std::size_t i = 0; i <= count; ++i) rebased[i] = offsets[from + static_cast<std::int64_t>(i)] - first;
  }
  return {first, static_cast<std::int64_t>(last) - first};
}

Result<ArrowArray*> Dense::text(const ArrowSchema& schema, const ArrowArray& array, std::int64_t from,
                                std::int64_t count) {
  AQ_ASSIGN(Cell cell, Cell::plan(schema));
  cell.bind(array);
  const bool dictionary = cell.kind() == CellKind::dictionary;
  ArrowArray* out = node(count, 3);
  std::vector<std::int64_t>& offsets = offsets_.emplace_back();
  offsets.reserve(static_cast<std::size_t>(count) + 1);
  offsets.push_back(0);
  std::string validity(static_cast<std::size_t>(count / 8 + 1), '\0');
  std::string bytes;
  for (std::int64_t i = from; i < from + count; ++i) {
    bool null = cell.is_null(i);
    if (!null && dictionary) {
      const Cell& values = cell.children()[0];
      const std::int64_t row = cell.dictionary_row(i);
      null = values.is_null(row);
      if (!null) bytes += values.bytes(row);
    } else if (!null) {
      bytes += cell.bytes(i);
    }
    if (null) {
      ++out->null_count;
    } else {
      ArrowBitSet(reinterpret_cast<std::uint8_t*>(validity.data()), i - from);
    }
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  out->buffers[0] = out->null_count == 0 ? nullptr : copies_.emplace_back(std::move(validity)).data();
  out->buffers[1] = offsets.data();
  out->buffers[2] = copies_.emplace_back(std::move(bytes)).data();
  return out;
}

Result<void> Dense::add_child(ArrowArray* out, const ArrowSchema& schema, const ArrowArray& array, std::int64_t child,
                              std::int64_t from, std::int64_t count) {
  AQ_ASSIGN(ArrowArray * added, slice(*schema.children[child], *array.children[child], from, count));
  auto& children = *static_cast<std::vector<ArrowArray*>*>(out->private_data);
  children.push_back(added);
  out->children = children.data();
  out->n_children = static_cast<std::int64_t>(children.size());
  return {};
}

Result<ArrowArray*> Dense::slice(const ArrowSchema& schema, const ArrowArray& array, std::int64_t from,
                                 std::int64_t count) {
  ArrowSchemaView view{};
  if (ArrowSchemaViewInit(&view, &schema, nullptr) != NANOARROW_OK) {
    return fail(ErrorKind::internal, "invalid Arrow schema");
  }
  if (view.type == NANOARROW_TYPE_DICTIONARY || view.type == NANOARROW_TYPE_STRING_VIEW ||
      view.type == NANOARROW_TYPE_BINARY_VIEW) {
    return text(schema, array, from, count);
  }
  const std::int64_t at = array.offset + from;
  ArrowArray* out = node(count, static_cast<std::size_t>(array.n_buffers));
  const bool is_union = view.type == NANOARROW_TYPE_SPARSE_UNION || view.type == NANOARROW_TYPE_DENSE_UNION;
  if (!is_union && array.n_buffers > 0 && array.buffers[0] != nullptr && array.null_count != 0) {
    out->buffers[0] = bits(array.buffers[0], at, count);
    out->null_count = count - ArrowBitCountSet(static_cast<const std::uint8_t*>(out->buffers[0]), 0, count);
  }
  switch (view.type) {
    case NANOARROW_TYPE_NA:
      out->null_count = count;
      break;
    case NANOARROW_TYPE_BOOL:
      out->buffers[1] = bits(array.buffers[1], at, count);
      break;
    case NANOARROW_TYPE_STRING:
    case NANOARROW_TYPE_BINARY: {
      const auto [first, size] = rebase<std::int32_t>(out, array, at);
      out->buffers[2] = array.buffers[2] == nullptr ? "" : static_cast<const char*>(array.buffers[2]) + first;
      break;
    }
    case NANOARROW_TYPE_LARGE_STRING:
    case NANOARROW_TYPE_LARGE_BINARY: {
      const auto [first, size] = rebase<std::int64_t>(out, array, at);
      out->buffers[2] = array.buffers[2] == nullptr ? "" : static_cast<const char*>(array.buffers[2]) + first;
      break;
    }
    case NANOARROW_TYPE_STRUCT:
      for (std::int64_t i = 0; i < array.n_children; ++i) AQ_TRY(add_child(out, schema, array, i, at, count));
      break;
    case NANOARROW_TYPE_LIST:
    case NANOARROW_TYPE_MAP: {
      const auto [first, size] = rebase<std::int32_t>(out, array, at);
      AQ_TRY(add_child(out, schema, array, 0, first, size));
      break;
    }
    case NANOARROW_TYPE_LARGE_LIST: {
      const auto [first, size] = rebase<std::int64_t>(out, array, at);
      AQ_TRY(add_child(out, schema, array, 0, first, size));
      break;
    }
    case NANOARROW_TYPE_FIXED_SIZE_LIST:
      AQ_TRY(add_child(out, schema, array, 0, at * view.fixed_size, count * view.fixed_size));
      break;
    case NANOARROW_TYPE_SPARSE_UNION:
      out->buffers[0] = static_cast<const char*>(array.buffers[0]) + at;
      for (std::int64_t i = 0; i < array.n_children; ++i) AQ_TRY(add_child(out, schema, array, i, at, count));
      break;
    case NANOARROW_TYPE_DENSE_UNION:
      out->buffers[0] = static_cast<const char*>(array.buffers[0]) + at;
      out->buffers[1] = static_cast<const std::int32_t*>(array.buffers[1]) + at;
      for (std::int64_t i = 0; i < array.n_children; ++i) {
        AQ_TRY(add_child(out, schema, array, i, 0, array.children[i]->length));
      }
      break;
    default:
      out->buffers[1] = static_cast<const char*>(array.buffers[1]) + at * (view.layout.element_size_bits[1] / 8);
  }
  return out;
}

Result<const ArrowArray*> Dense::make(const RecordBatch& batch) {
  AQ_ASSIGN(const ArrowArray* out, slice(*batch.schema->raw(), *batch.array->raw(), 0, batch.rows()));
  return out;
}

}  // namespace aqueduck
