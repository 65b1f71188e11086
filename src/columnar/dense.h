#pragma once

#include <nanoarrow/common/inline_types.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "columnar/schema.h"

namespace aqueduck {

/// Whether Arrow IPC can carry the schema, and the schema that it then has: dictionaries (ENUM) as their strings,
/// string views as strings.
Result<Schema> dense_schema(const Schema& schema);

/// A view of a batch that fits dense_schema(): no offsets, no dictionaries, no string views, null counts known. Borrows
/// the batch's buffers and owns what had to be copied. Use it once, on one thread.
class Dense {
 public:
  Result<const ArrowArray*> make(const RecordBatch& batch);

 private:
  ArrowArray* node(std::int64_t length, std::size_t buffers);
  const void* bits(const void* buffer, std::int64_t from, std::int64_t count);
  template <typename Offset>
  std::pair<std::int64_t, std::int64_t> rebase(ArrowArray* out, const ArrowArray& array, std::int64_t from);
  Result<ArrowArray*> text(const ArrowSchema& schema, const ArrowArray& array, std::int64_t from, std::int64_t count);
  Result<ArrowArray*> slice(const ArrowSchema& schema, const ArrowArray& array, std::int64_t from, std::int64_t count);
  Result<void> add_child(ArrowArray* out, const ArrowSchema& schema, const ArrowArray& array, std::int64_t child,
                         std::int64_t from, std::int64_t count);

  std::deque<ArrowArray> nodes_;
  std::deque<std::vector<const void*>> buffers_;
  std::deque<std::vector<ArrowArray*>> children_;
  std::deque<std::string> copies_;
  std::deque<std::vector<std::int64_t>> offsets_;
};

}  // namespace aqueduck
