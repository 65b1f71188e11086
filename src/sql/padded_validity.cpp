#include "sql/padded_validity.h"

#include <cstring>

namespace aqueduck::sql {
namespace {

// Nulls, unions and run-end encoded arrays have no bitmap: their first buffer, if any, is something else.
bool has_bitmap(const ArrowSchema& field, const ArrowArray& array) {
  const char* format = field.format;
  const bool other = format[0] == 'n' || (format[0] == '+' && (format[1] == 'u' || format[1] == 'r'));
  return !other && array.n_buffers > 0 && array.buffers[0] != nullptr;
}

}  // namespace

ArrowArray PaddedValidity::view(const ArrowSchema& field, const ArrowArray& array) {
  if (array.n_children == 0 && array.offset % 8 == 0) return array;
  return copy(field, array);
}

ArrowArray PaddedValidity::copy(const ArrowSchema& field, const ArrowArray& array) {
  ArrowArray out = array;
  if (has_bitmap(field, array)) {
    const auto size = static_cast<std::size_t>((array.offset + array.length + 7) / 8);
    auto& bitmap = bitmaps_.emplace_back(size + 8, 0);
    std::memcpy(bitmap.data(), array.buffers[0], size);
    auto& buffers = buffers_.emplace_back(array.buffers, array.buffers + array.n_buffers);
    buffers[0] = bitmap.data();
    out.buffers = buffers.data();
  }
  if (array.n_children > 0) {
    std::vector<ArrowArray*> children;
    for (std::int64_t i = 0; i < array.n_children; ++i) {
      ArrowArray child = copy(*field.children[i], *array.children[i]);
      child.release = [](ArrowArray* released) { released->release = nullptr; };
      children.push_back(&arrays_.emplace_back(child));
    }
    out.children = children_.emplace_back(std::move(children)).data();
  }
  return out;
}

}  // namespace aqueduck::sql
