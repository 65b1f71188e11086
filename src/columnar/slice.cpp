#include "columnar/slice.h"

#include <algorithm>

namespace aqueduck {

namespace {

using Shared = std::shared_ptr<const Array>;

void release_shared(ArrowArray* array) {
  delete static_cast<Shared*>(array->private_data);
  array->release = nullptr;
}

}  // namespace

RecordBatch slice(const RecordBatch& batch, std::int64_t from, std::int64_t to) {
  from = std::clamp<std::int64_t>(from, 0, batch.rows());
  to = std::clamp<std::int64_t>(to, from, batch.rows());
  if (from == 0 && to == batch.rows()) return batch;
  ArrowArray raw = *batch.array->raw();
  raw.offset += from;
  raw.length = to - from;
  raw.private_data = new Shared(batch.array);
  raw.release = release_shared;
  return {batch.schema, std::make_shared<const Array>(Array::adopt(&raw))};
}

}  // namespace aqueduck
