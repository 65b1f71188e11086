#include <nanoarrow/nanoarrow.h>

#include <cstring>

#include "columnar/schema.h"

namespace aqueduck {

namespace {

/// Rows [from, from + count) of an array, `from` counted from the start of its buffers.
struct Range {
  std::int64_t from = 0;
  std::int64_t count = 0;
};

template <typename Offset>
Range offsets_of(const ArrowArray& array, Range rows) {
  const auto* offsets = static_cast<const Offset*>(array.buffers[1]);
  if (offsets == nullptr || rows.count == 0) return {};
  const std::int64_t first = offsets[rows.from];
  return {first, static_cast<std::int64_t>(offsets[rows.from + rows.count]) - first};
}

/// Bytes of the strings that don't fit into the 16 bytes of a view.
std::uint64_t outlined(const ArrowArray& array, Range rows) {
  const auto* views = static_cast<const unsigned char*>(array.buffers[1]);
  std::uint64_t bytes = 0;
  for (std::int64_t i = 0; views != nullptr && i < rows.count; ++i) {
    std::int32_t size = 0;
    std::memcpy(&size, views + (rows.from + i) * 16, sizeof size);
    if (size > 12) bytes += static_cast<std::uint64_t>(size);
  }
  return bytes;
}

std::uint64_t size_of(const ArrowSchema& schema, const ArrowArray& array, Range rows);

std::uint64_t child_size(const ArrowSchema& schema, const ArrowArray& array, std::int64_t i, Range rows) {
  const ArrowArray& child = *array.children[i];
  return size_of(*schema.children[i], child, {rows.from + child.offset, rows.count});
}

template <typename Offset>
std::uint64_t list_view_size(const ArrowSchema& schema, const ArrowArray& array, Range rows) {
  const auto* sizes = static_cast<const Offset*>(array.buffers[2]);
  std::int64_t elements = 0;
  for (std::int64_t i = 0; sizes != nullptr && i < rows.count; ++i) elements += sizes[rows.from + i];
  const std::int64_t all = array.children[0]->length;
  if (all == 0) return 0;
  return child_size(schema, array, 0, {0, all}) / static_cast<std::uint64_t>(all) *
         static_cast<std::uint64_t>(elements);
}

std::uint64_t nested_size(const ArrowSchema& schema, const ArrowSchemaView& view, const ArrowArray& array, Range rows) {
  switch (view.type) {
    case NANOARROW_TYPE_LIST:
    case NANOARROW_TYPE_MAP:
      return child_size(schema, array, 0, offsets_of<std::int32_t>(array, rows));
    case NANOARROW_TYPE_LARGE_LIST:
      return child_size(schema, array, 0, offsets_of<std::int64_t>(array, rows));
    case NANOARROW_TYPE_LIST_VIEW:
      return list_view_size<std::int32_t>(schema, array, rows);
    case NANOARROW_TYPE_LARGE_LIST_VIEW:
      return list_view_size<std::int64_t>(schema, array, rows);
    case NANOARROW_TYPE_FIXED_SIZE_LIST:
      return child_size(schema, array, 0, {rows.from * view.fixed_size, rows.count * view.fixed_size});
    case NANOARROW_TYPE_DENSE_UNION: {
      std::uint64_t bytes = 0;
      for (std::int64_t i = 0; i < array.n_children; ++i) {
        bytes += child_size(schema, array, i, {0, array.children[i]->length});
      }
      return array.length == 0 ? 0 : bytes * static_cast<std::uint64_t>(rows.count) / array.length;
    }
    default: {  // struct, sparse union: children have a row each
      std::uint64_t bytes = 0;
      for (std::int64_t i = 0; i < array.n_children; ++i) bytes += child_size(schema, array, i, rows);
      return bytes;
    }
  }
}

std::uint64_t size_of(const ArrowSchema& schema, const ArrowArray& array, Range rows) {
  ArrowSchemaView view{};
  if (ArrowSchemaViewInit(&view, &schema, nullptr) != NANOARROW_OK) return 0;
  std::uint64_t bytes = 0;
  for (std::int64_t i = 0; i < array.n_buffers && i < NANOARROW_MAX_FIXED_BUFFERS; ++i) {
    if (array.buffers[i] != nullptr) {
      bytes += static_cast<std::uint64_t>(rows.count * view.layout.element_size_bits[i] + 7) / 8;
    }
  }
  switch (view.storage_type) {
    case NANOARROW_TYPE_STRING:
    case NANOARROW_TYPE_BINARY:
      bytes += static_cast<std::uint64_t>(offsets_of<std::int32_t>(array, rows).count);
      break;
    case NANOARROW_TYPE_LARGE_STRING:
    case NANOARROW_TYPE_LARGE_BINARY:
      bytes += static_cast<std::uint64_t>(offsets_of<std::int64_t>(array, rows).count);
      break;
    case NANOARROW_TYPE_STRING_VIEW:
    case NANOARROW_TYPE_BINARY_VIEW:
      bytes += outlined(array, rows);
      break;
    default:
      break;
  }
  if (array.n_children > 0) bytes += nested_size(schema, view, array, rows);
  if (schema.dictionary != nullptr && array.dictionary != nullptr) {
    const ArrowArray& values = *array.dictionary;
    bytes += size_of(*schema.dictionary, values, {values.offset, values.length});
  }
  return bytes;
}

}  // namespace

std::uint64_t byte_size(const RecordBatch& batch) {
  if (batch.rows() == 0 || batch.schema == nullptr) return 0;
  const ArrowArray& array = *batch.array->raw();
  return size_of(*batch.schema->raw(), array, {array.offset, array.length});
}

}  // namespace aqueduck
