#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "columnar/builder.h"
#include "component/decoder.h"

namespace aqueduck::raw {

enum class ValueType : std::uint8_t { blob, text };

/// Each message is a row with one column, `value`: its bytes as they are; null for a tombstone.
class RawDecoder final : public Decoder {
 public:
  static Result<std::unique_ptr<Decoder>> make(ValueType type);

  std::shared_ptr<const Schema> schema() const override { return batch_.schema(); }
  Result<void> restore(const std::string& /*saved*/) override { return {}; }
  /// There is nothing to leave out: the one column is the message.
  void restrict_to(const std::optional<std::vector<ColumnPath>>& /*columns*/) override {}
  Result<void> decode(std::span<const Message> messages) override;
  Result<Decoded> finish() override;

 private:
  RawDecoder(ValueType type, BatchBuilder batch) : type_(type), batch_(std::move(batch)) {}

  ValueType type_;
  BatchBuilder batch_;
  std::int64_t rows_ = 0;
  std::vector<std::uint32_t> row_message_;
  std::vector<DecodeFailure> failures_;
  std::uint32_t messages_ = 0;
};

}  // namespace aqueduck::raw
