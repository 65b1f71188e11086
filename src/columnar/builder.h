#pragma once

#include <nanoarrow/common/inline_types.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "columnar/column_type.h"

namespace aqueduck {

/// Memory that grows by doubling and becomes an Arrow buffer without a copy. Owned by one ColumnBuilder. Running out of
/// memory ends the process, as it does for every container.
class GrowingBuffer {
 public:
  GrowingBuffer() = default;
  GrowingBuffer(GrowingBuffer&& other) noexcept;
  GrowingBuffer& operator=(GrowingBuffer&& other) noexcept;
  GrowingBuffer(const GrowingBuffer&) = delete;
  GrowingBuffer& operator=(const GrowingBuffer&) = delete;
  ~GrowingBuffer();

  std::uint8_t* data() { return data_; }
  const std::uint8_t* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }
  /// Makes room for `bytes` in all.
  void reserve(std::size_t bytes) {
    if (bytes > capacity_) [[unlikely]] {
      grow(bytes);
    }
  }
  /// Hands the first `size` bytes out; this one is empty afterwards.
  void release_to(ArrowBuffer* out, std::size_t size);

 private:
  void grow(std::size_t bytes);

  std::uint8_t* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// Collects one column's values into Arrow buffers; nested columns have a builder a child. Values are addressed by row:
/// rows left out become nulls, a row given again replaces the old value, and truncate() takes rows back whole, so
/// that half a message leaves nothing behind. Owned by one decoder, used by its thread, no virtual calls.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(const Column& column);
  ColumnBuilder(ColumnBuilder&&) noexcept = default;
  ColumnBuilder& operator=(ColumnBuilder&&) noexcept = default;

  ColumnKind kind() const { return kind_; }
  std::int64_t length() const { return length_; }
  ColumnBuilder& child(std::size_t i) { return children_[i]; }
  /// Bytes held by the buffers, children included.
  std::size_t bytes() const;

  /// A fixed-width value; T must have the width of the column.
  template <typename T>
  void put(std::int64_t row, T value) {
    seek(row);
    values_.reserve((static_cast<std::size_t>(row) + 1) * sizeof(T));
    std::memcpy(values_.data() + static_cast<std::size_t>(row) * sizeof(T), &value, sizeof(T));
    length_ = row + 1;
  }

  /// Text or bytes. False: the column would hold more than 2 GiB, and nothing was added.
  bool put_bytes(std::int64_t row, std::string_view value) {
    char* out = begin_bytes(row, value.size());
    if (out == nullptr) return false;
    if (!value.empty()) std::memcpy(out, value.data(), value.size());
    end_bytes(row, value.size());
    return true;
  }
  /// The same in two steps: room for at least `room` bytes (and 16 more that may be written, too); then how many were
  /// used.
  char* begin_bytes(std::int64_t row, std::size_t room) {
    seek(row);
    if (room > static_cast<std::size_t>(INT32_MAX) - used_) [[unlikely]] {
      return nullptr;
    }
    bytes_.reserve(used_ + room + 16);
    return reinterpret_cast<char*>(bytes_.data() + used_);
  }
  void end_bytes(std::int64_t row, std::size_t size) {
    used_ += size;
    set_offset(row, used_);
  }

  /// A struct that isn't null; its fields are put at the same row.
  void put_struct(std::int64_t row) {
    seek(row);
    length_ = row + 1;
  }

  /// A list or map: begin, put each element into the children at the row that next_element() gives, end. False from
  /// end_list(): more than 2^31 elements, or too few or too many for a fixed list; then truncate(row).
  void begin_list(std::int64_t row) { seek(row); }
  std::int64_t next_element() { return static_cast<std::int64_t>(used_++); }
  bool end_list(std::int64_t row);

  void put_null(std::int64_t row) { seek(row); }
  /// Drops all rows from `rows` on.
  void truncate(std::int64_t rows);
  /// Makes it `rows` long, with nulls at the end.
  void pad(std::int64_t rows) {
    if (length_ < rows) add_nulls(rows);
  }

  /// Hands the buffers over to an array made from this column's schema, and begins anew.
  void finish_into(ArrowArray* out);

 private:
  void seek(std::int64_t row) {
    if (row != length_) [[unlikely]] {
      move_to(row);
    }
  }
  void move_to(std::int64_t row);
  void add_nulls(std::int64_t rows);
  void set_offset(std::int64_t row, std::size_t value) {
    offsets_.reserve((static_cast<std::size_t>(row) + 2) * sizeof(std::int32_t));
    const auto offset = static_cast<std::int32_t>(value);
    std::memcpy(offsets_.data() + (static_cast<std::size_t>(row) + 1) * sizeof(offset), &offset, sizeof(offset));
    length_ = row + 1;
  }
  std::int32_t offset(std::int64_t row) const;
  bool has_offsets() const;

  ColumnKind kind_;
  bool packed_ = false;         // a boolean whose bytes become bits at the end
  std::uint8_t width_ = 0;      // bytes of a fixed-width value, 0 for others
  std::int32_t list_size_ = 0;  // of a fixed list
  std::int64_t length_ = 0;
  std::size_t used_ = 0;  // bytes of text, or elements of a list
  std::int64_t nulls_ = 0;
  GrowingBuffer validity_;  // none until the first null; all of its capacity is kept set where no null stands
  GrowingBuffer offsets_;
  GrowingBuffer values_;
  GrowingBuffer bytes_;
  std::vector<ColumnBuilder> children_;
};

/// A builder a column, and the batch that they make. Rows are counted by the caller.
class BatchBuilder {
 public:
  /// `schema` must be what `columns` were read from.
  BatchBuilder(std::shared_ptr<const Schema> schema, const std::vector<Column>& columns);

  ColumnBuilder& column(std::size_t i) { return columns_[i]; }
  std::size_t size() const { return columns_.size(); }
  const std::shared_ptr<const Schema>& schema() const { return schema_; }
  std::size_t bytes() const;
  void truncate(std::int64_t rows);
  Result<RecordBatch> finish(std::int64_t rows);

 private:
  std::shared_ptr<const Schema> schema_;
  std::vector<ColumnBuilder> columns_;
};

}  // namespace aqueduck
