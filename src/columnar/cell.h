#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "columnar/schema.h"

namespace aqueduck {

/// What a column's values mean, whatever Arrow layout they have.
enum class CellKind {
  null,
  boolean,  ///< a bit a value
  bool8,    ///< a byte a value
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  hugeint,
  uhugeint,
  half,
  float32,
  float64,
  decimal,  ///< width 4, 8 or 16 bytes
  text,
  json,
  blob,
  bit,
  bignum,
  date32,
  date64,
  time,
  time_tz,
  timestamp,
  interval,  ///< months, days, nanoseconds
  interval_months,
  interval_day_time,
  duration,
  uuid,
  dictionary,
  structure,
  list,  ///< lists of every layout, maps too
  map,
  sparse_union,
  dense_union,
};

/// Reads the values of one column (and of the columns below it) by row, honouring offsets at every level. Planned from
/// a schema once, bound to array after array; views into both, owns neither. One thread.
class Cell {
 public:
  /// An error of kind config for a type that has no text form (run-end encoding, 256-bit decimals).
  static Result<Cell> plan(const ArrowSchema& field);
  /// `array` must outlive the next bind().
  void bind(const ArrowArray& array);

  CellKind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  std::vector<Cell>& children() { return children_; }
  const std::vector<Cell>& children() const { return children_; }

  bool is_null(std::int64_t row) const;
  template <typename T>
  T value(std::int64_t row) const {
    return static_cast<const T*>(buffer(1))[array_->offset + row];
  }
  bool bit(std::int64_t row) const;
  /// The bytes of a value of a type of variable or fixed width.
  std::string_view bytes(std::int64_t row) const;
  /// The first element of a list and their number.
  std::pair<std::int64_t, std::int64_t> elements(std::int64_t row) const;
  /// The row of the dictionary that stands for this one (child 0).
  std::int64_t dictionary_row(std::int64_t row) const;
  /// The alternative that is set, and its row in that child; null where the union is damaged.
  const Cell* alternative(std::int64_t row, std::int64_t* child_row) const;

  /// The row to ask a struct's children for.
  std::int64_t child_row(std::int64_t row) const { return array_->offset + row; }
  int unit_digits() const { return unit_digits_; }  ///< 0 s, 3 ms, 6 µs, 9 ns
  bool utc() const { return utc_; }
  int scale() const { return scale_; }
  int width() const { return width_; }

 private:
  enum class Layout { fixed, offsets32, offsets64, views, views32, views64, fixed_list };

  const void* buffer(std::int64_t i) const { return i < array_->n_buffers ? array_->buffers[i] : nullptr; }
  std::string_view view(std::int64_t row) const;

  CellKind kind_ = CellKind::null;
  Layout layout_ = Layout::fixed;
  CellKind index_kind_ = CellKind::null;  ///< of a dictionary
  int unit_digits_ = 0;
  bool utc_ = false;
  int scale_ = 0;
  int width_ = 0;
  std::string name_;
  std::vector<int> type_ids_;  ///< of a union, by child
  std::vector<Cell> children_;
  const ArrowArray* array_ = nullptr;
};

/// The columns of a batch as cells.
class Cells {
 public:
  static Result<Cells> plan(std::shared_ptr<const Schema> schema);
  /// Keeps the batch alive. The batch must be of the schema that was planned.
  void bind(const RecordBatch& batch);
  std::int64_t rows() const { return batch_.rows(); }
  /// The row to ask cells for: a struct array's own offset applies to its children.
  std::int64_t at(std::int64_t row) const { return batch_.array->raw()->offset + row; }
  const std::vector<Cell>& columns() const { return columns_; }

 private:
  std::shared_ptr<const Schema> schema_;
  RecordBatch batch_;
  std::vector<Cell> columns_;
};

}  // namespace aqueduck
