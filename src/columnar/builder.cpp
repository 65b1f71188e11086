#include "columnar/builder.h"

#include <nanoarrow/nanoarrow.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

namespace aqueduck {
namespace {

constexpr std::size_t kFirstCapacity = 256;

std::uint8_t width_of(const Column& column) {
  switch (column.kind) {
    case ColumnKind::boolean:
    case ColumnKind::int8:
    case ColumnKind::uint8:
      return 1;
    case ColumnKind::int16:
    case ColumnKind::uint16:
      return 2;
    case ColumnKind::int32:
    case ColumnKind::uint32:
    case ColumnKind::float32:
    case ColumnKind::date:
      return 4;
    case ColumnKind::int64:
    case ColumnKind::uint64:
    case ColumnKind::float64:
    case ColumnKind::time:
    case ColumnKind::timestamp:
      return 8;
    case ColumnKind::hugeint:
    case ColumnKind::uuid:
      return 16;
    case ColumnKind::decimal:
      return column.width;
    default:
      return 0;
  }
}

std::int64_t count_nulls(const std::uint8_t* bits, std::int64_t length) {
  std::int64_t set = 0;
  const std::int64_t whole = length / 8;
  for (std::int64_t i = 0; i < whole; ++i) set += std::popcount(bits[i]);
  for (std::int64_t i = whole * 8; i < length; ++i) set += (bits[i / 8] >> (i % 8)) & 1;
  return length - set;
}

}  // namespace

GrowingBuffer::GrowingBuffer(GrowingBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}

GrowingBuffer& GrowingBuffer::operator=(GrowingBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

GrowingBuffer::~GrowingBuffer() { std::free(data_); }

void GrowingBuffer::grow(std::size_t bytes) {
  const std::size_t wanted = std::max({bytes, capacity_ * 2, kFirstCapacity});
  auto* const grown = static_cast<std::uint8_t*>(std::realloc(data_, wanted));
  if (grown == nullptr) throw std::bad_alloc();
  data_ = grown;
  capacity_ = wanted;
}

void GrowingBuffer::release_to(ArrowBuffer* out, std::size_t size) {
  // nanoarrow's default allocator is malloc's, so it can free what realloc gave.
  out->allocator = ArrowBufferAllocatorDefault();
  out->data = std::exchange(data_, nullptr);
  out->capacity_bytes = static_cast<std::int64_t>(std::exchange(capacity_, 0));
  out->size_bytes = static_cast<std::int64_t>(size);
}

ColumnBuilder::ColumnBuilder(const Column& column)
    : kind_(column.kind),
      packed_(column.kind == ColumnKind::boolean && column.width == 0),
      width_(width_of(column)),
      list_size_(column.size) {
  children_.reserve(column.children.size());
  for (const Column& child : column.children) children_.emplace_back(child);
}

std::size_t ColumnBuilder::bytes() const {
  std::size_t total = used_ + static_cast<std::size_t>(length_) * (width_ + (has_offsets() ? sizeof(std::int32_t) : 0));
  for (const ColumnBuilder& child : children_) total += child.bytes();
  return total;
}

bool ColumnBuilder::has_offsets() const {
  return kind_ == ColumnKind::text || kind_ == ColumnKind::json || kind_ == ColumnKind::blob ||
         kind_ == ColumnKind::list || kind_ == ColumnKind::map;
}

std::int32_t ColumnBuilder::offset(std::int64_t row) const {
  if (row == 0) return 0;
  std::int32_t out = 0;
  std::memcpy(&out, offsets_.data() + static_cast<std::size_t>(row) * sizeof(out), sizeof(out));
  return out;
}

bool ColumnBuilder::end_list(std::int64_t row) {
  if (kind_ == ColumnKind::fixed_list) {
    if (used_ != (static_cast<std::size_t>(row) + 1) * static_cast<std::size_t>(list_size_)) return false;
    length_ = row + 1;
    return true;
  }
  if (used_ > static_cast<std::size_t>(INT32_MAX)) return false;
  set_offset(row, used_);
  return true;
}

void ColumnBuilder::move_to(std::int64_t row) {
  if (row < length_) {
    truncate(row);
  } else {
    add_nulls(row);
  }
}

void ColumnBuilder::add_nulls(std::int64_t rows) {
  const auto first = static_cast<std::size_t>(length_);
  const auto end = static_cast<std::size_t>(rows);
  const std::size_t bitmap = (end + 7) / 8;
  if (const std::size_t before = validity_.capacity(); bitmap > before) {
    validity_.reserve(bitmap);
    std::memset(validity_.data() + before, 0xFF, validity_.capacity() - before);
  }
  for (std::size_t i = first; i < end; ++i) {
    validity_.data()[i / 8] = static_cast<std::uint8_t>(validity_.data()[i / 8] & ~(1U << (i % 8)));
  }
  nulls_ += rows - length_;
  if (width_ != 0) {
    values_.reserve(end * width_);
    std::memset(values_.data() + first * width_, 0, (end - first) * width_);
  }
  if (has_offsets()) {
    for (std::size_t i = first; i < end; ++i) set_offset(static_cast<std::int64_t>(i), used_);
  }
  if (kind_ == ColumnKind::fixed_list) used_ = end * static_cast<std::size_t>(list_size_);
  length_ = rows;
}

void ColumnBuilder::truncate(std::int64_t rows) {
  // A child may be ahead of `length_`: elements of a list that never ended.
  if (rows < length_) {
    if (nulls_ > 0) {
      for (std::int64_t i = rows; i < length_ && static_cast<std::size_t>(i / 8) < validity_.capacity(); ++i) {
        auto& byte = validity_.data()[i / 8];
        if (((byte >> (i % 8)) & 1) == 0) --nulls_;
        byte = static_cast<std::uint8_t>(byte | (1U << (i % 8)));
      }
    }
    length_ = rows;
  }
  switch (kind_) {
    case ColumnKind::structure:
      for (ColumnBuilder& child : children_) child.truncate(rows);
      break;
    case ColumnKind::fixed_list:
      used_ = static_cast<std::size_t>(length_) * static_cast<std::size_t>(list_size_);
      children_[0].truncate(static_cast<std::int64_t>(used_));
      break;
    case ColumnKind::list:
    case ColumnKind::map:
      used_ = static_cast<std::size_t>(offset(length_));
      for (ColumnBuilder& child : children_) child.truncate(static_cast<std::int64_t>(used_));
      break;
    default:
      if (has_offsets()) used_ = static_cast<std::size_t>(offset(length_));
  }
}

void ColumnBuilder::finish_into(ArrowArray* out) {
  ArrowBuffer buffer;
  std::int64_t index = 0;
  out->length = length_;
  out->null_count = nulls_;
  const auto rows = static_cast<std::size_t>(length_);
  const auto take = [&](GrowingBuffer& from, std::size_t size) {
    from.release_to(&buffer, size);
    ArrowArraySetBuffer(out, index++, &buffer);
  };
  if (nulls_ > 0) {
    const std::size_t before = validity_.capacity();
    validity_.reserve((rows + 7) / 8);
    std::memset(validity_.data() + before, 0xFF, validity_.capacity() - before);
    out->null_count = count_nulls(validity_.data(), length_);
    take(validity_, (rows + 7) / 8);
  } else {
    validity_ = GrowingBuffer();
    ++index;
  }
  if (has_offsets()) {
    offsets_.reserve(sizeof(std::int32_t));
    std::memset(offsets_.data(), 0, sizeof(std::int32_t));
    take(offsets_, (rows + 1) * sizeof(std::int32_t));
  }
  if (packed_) {
    GrowingBuffer bits;
    bits.reserve((rows + 8) / 8);
    std::memset(bits.data(), 0, (rows + 8) / 8);
    for (std::size_t i = 0; i < rows; ++i) {
      bits.data()[i / 8] = static_cast<std::uint8_t>(bits.data()[i / 8] | ((values_.data()[i] & 1U) << (i % 8)));
    }
    take(bits, (rows + 7) / 8);
  } else if (width_ != 0) {
    take(values_, rows * width_);
  } else if (has_offsets() && children_.empty()) {
    take(bytes_, used_);
  }
  const bool by_row = kind_ == ColumnKind::structure;
  ArrowArray* const owner = kind_ == ColumnKind::map ? out->children[0] : out;
  if (kind_ == ColumnKind::map) {
    owner->length = static_cast<std::int64_t>(used_);
    owner->null_count = 0;
  }
  for (std::size_t i = 0; i < children_.size(); ++i) {
    children_[i].pad(by_row ? length_ : static_cast<std::int64_t>(used_));
    children_[i].finish_into(owner->children[i]);
  }
  length_ = 0;
  used_ = 0;
  nulls_ = 0;
}

BatchBuilder::BatchBuilder(std::shared_ptr<const Schema> schema, const std::vector<Column>& columns)
    : schema_(std::move(schema)) {
  columns_.reserve(columns.size());
  for (const Column& column : columns) columns_.emplace_back(column);
}

std::size_t BatchBuilder::bytes() const {
  std::size_t total = 0;
  for (const ColumnBuilder& column : columns_) total += column.bytes();
  return total;
}

void BatchBuilder::truncate(std::int64_t rows) {
  for (ColumnBuilder& column : columns_) column.truncate(rows);
}

Result<RecordBatch> BatchBuilder::finish(std::int64_t rows) {
  ArrowArray raw;
  ArrowError error{};
  if (ArrowArrayInitFromSchema(&raw, schema_->raw(), &error) != NANOARROW_OK) {
    return fail(ErrorKind::internal, "cannot make a batch: {}", error.message);
  }
  raw.length = rows;
  raw.null_count = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].pad(rows);
    columns_[i].finish_into(raw.children[i]);
  }
  if (ArrowArrayFinishBuilding(&raw, NANOARROW_VALIDATION_LEVEL_NONE, &error) != NANOARROW_OK) {
    ArrowArrayRelease(&raw);
    return fail(ErrorKind::internal, "cannot make a batch: {}", error.message);
  }
  return RecordBatch{schema_, std::make_shared<const Array>(Array::adopt(&raw))};
}

}  // namespace aqueduck
