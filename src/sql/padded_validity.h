#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "columnar/schema.h"

namespace aqueduck::sql {

/// Views of arrays whose validity bitmaps may be read a byte past their end. The engine does that where a bitmap's rows
/// don't start at a byte's edge: rows cut from a larger array, and anything nested. Bitmaps are an eighth of a byte a
/// row: copying them costs nothing beside the rows. The views live as long as this and the array they were made from.
class PaddedValidity {
 public:
  ArrowArray view(const ArrowSchema& field, const ArrowArray& array);

 private:
  ArrowArray copy(const ArrowSchema& field, const ArrowArray& array);

  std::deque<std::vector<std::uint8_t>> bitmaps_;
  std::deque<std::vector<const void*>> buffers_;
  std::deque<ArrowArray> arrays_;
  std::deque<std::vector<ArrowArray*>> children_;
};

}  // namespace aqueduck::sql
