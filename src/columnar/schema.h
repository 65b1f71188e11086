#pragma once

#include <nanoarrow/common/inline_types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace aqueduck {

/// Owns an ArrowSchema (Arrow C data interface) of struct type: the columns of a batch. Move-only, immutable once
/// shared; readable from several threads.
class Schema {
 public:
  Schema() = default;
  /// Takes over `raw`, which is left released.
  static Schema adopt(ArrowSchema* raw);
  Schema(Schema&& other) noexcept;
  Schema& operator=(Schema&& other) noexcept;
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;
  ~Schema();

  const ArrowSchema* raw() const { return &raw_; }
  bool empty() const { return raw_.release == nullptr || raw_.n_children == 0; }
  std::size_t size() const { return raw_.release == nullptr ? 0 : static_cast<std::size_t>(raw_.n_children); }
  const ArrowSchema& column(std::size_t i) const { return *raw_.children[i]; }
  std::string_view name(std::size_t i) const { return raw_.children[i]->name; }

  Schema clone() const;
  /// Equal for two schemas iff names, types, nullability and extension names are equal, nested ones too, in order.
  std::string fingerprint() const;

 private:
  ArrowSchema raw_{};
};

/// "duckdb.hugeint", "arrow.json", … or "" where the field is of a plain Arrow type.
std::string_view extension_name(const ArrowSchema& field);

/// Owns an ArrowArray. Move-only.
class Array {
 public:
  Array() = default;
  static Array adopt(ArrowArray* raw);
  Array(Array&& other) noexcept;
  Array& operator=(Array&& other) noexcept;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array();

  const ArrowArray* raw() const { return &raw_; }
  /// Hands the array out; this one is empty afterwards.
  void release_to(ArrowArray* out);
  std::int64_t length() const { return raw_.release == nullptr ? 0 : raw_.length; }

 private:
  ArrowArray raw_{};
};

/// Rows of one schema: a struct array without nulls of its own. Cheap to share: the array is immutable.
struct RecordBatch {
  std::shared_ptr<const Schema> schema;
  std::shared_ptr<const Array> array;

  std::int64_t rows() const { return array == nullptr ? 0 : array->length(); }
};

/// Bytes that the buffers of the first `rows` rows take, estimated from types and offsets.
std::uint64_t byte_size(const RecordBatch& batch);

}  // namespace aqueduck
