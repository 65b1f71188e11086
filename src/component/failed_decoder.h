#pragma once

#include <utility>

#include "component/decoder.h"

namespace aqueduck {

/// Stands for a decoder that can't be made (a declared type that the engine doesn't know): every fallible call answers
/// with the reason. Owned and called as any decoder.
class FailedDecoder final : public Decoder {
 public:
  explicit FailedDecoder(Error error) : error_(std::move(error)) {}

  std::shared_ptr<const Schema> schema() const override { return nullptr; }
  Result<void> restore(const std::string& /*saved*/) override { return fail(error_); }
  void restrict_to(const std::optional<std::vector<ColumnPath>>& /*columns*/) override {}
  Result<void> decode(std::span<const Message> /*messages*/) override { return fail(error_); }
  Result<Decoded> finish() override { return fail(error_); }

 private:
  Error error_;
};

}  // namespace aqueduck
