#pragma once

#include <cstdint>

#include "columnar/schema.h"

namespace aqueduck {

/// Rows [from, to) of a batch, clamped to its rows; shares its buffers.
RecordBatch slice(const RecordBatch& batch, std::int64_t from, std::int64_t to);

}  // namespace aqueduck
