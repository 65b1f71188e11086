#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "component/chunk.h"

namespace aqueduck {

/// Path of a column or of a struct field below it: {"properties", "city"}.
using ColumnPath = std::vector<std::string>;

struct DecodeFailure {
  std::uint32_t message = 0;  ///< index among all messages given since the last finish()
  std::string reason;         ///< for people: what and where in the message
  /// Set where the pipeline ends whatever its error policy says (`columns: fail`, a header that names no columns).
  std::optional<ErrorKind> ends = std::nullopt;
};

struct Decoded {
  RecordBatch batch;
  /// For each row the index of its message, where a message doesn't give exactly one row; empty otherwise.
  std::vector<std::uint32_t> row_message;
  std::vector<DecodeFailure> failures;
  bool schema_changed = false;  ///< the full schema grew: save saved_schema(), prepare the SQL again
};

/// Bytes to rows. Owned and called by one worker. A message that can't be decoded costs that message only: it becomes
/// a DecodeFailure and leaves no part of a row behind.
class Decoder {
 public:
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder() = default;

  /// The columns as declared or restored, before any message was seen; null where they must be inferred first.
  virtual std::shared_ptr<const Schema> schema() const = 0;
  /// Text that restore() understands in a later process: inferred columns outlive a restart. Empty where there is
  /// nothing to save. Format: JSON with a version.
  virtual std::string saved_schema() const { return {}; }
  virtual Result<void> restore(const std::string& saved) = 0;

  /// Only these columns (and fields) are read from now on; the rest may be left out of the batches' schema. nullopt:
  /// all of them. Called between finish() and decode() only. The next schema() tells the narrowed form.
  virtual void restrict_to(const std::optional<std::vector<ColumnPath>>& columns) = 0;

  /// Takes messages; their bytes must stay valid until finish(). Errors only for what no message is to blame for
  /// (memory); a bad message is a failure in finish().
  virtual Result<void> decode(std::span<const Message> messages) = 0;
  /// The rows of everything taken since the last finish().
  virtual Result<Decoded> finish() = 0;
};

}  // namespace aqueduck
