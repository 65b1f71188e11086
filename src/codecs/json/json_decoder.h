#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codecs/json/inference.h"
#include "codecs/json/row_plan.h"
#include "codecs/json/token_index.h"
#include "codecs/json/value_reader.h"
#include "component/decoder.h"

namespace aqueduck::json {

enum class ArrayPolicy : std::uint8_t { rows, fail };
enum class TombstonePolicy : std::uint8_t { skip, row, fail };

struct JsonOptions {
  std::vector<Column> declared;
  std::optional<NewColumns> new_columns;  ///< unset: extend where columns are inferred, ignore where they are declared
  ArrayPolicy array = ArrayPolicy::rows;
  TombstonePolicy tombstone = TombstonePolicy::skip;
  InferenceLimits limits;
};

/// JSON messages to rows. Where columns must be inferred, and where a new one appears, messages are kept until finish()
/// and read twice: once for their types, once for their values.
class JsonDecoder final : public Decoder {
 public:
  explicit JsonDecoder(JsonOptions options);

  std::shared_ptr<const Schema> schema() const override;
  std::string saved_schema() const override;
  Result<void> restore(const std::string& saved) override;
  void restrict_to(const std::optional<std::vector<ColumnPath>>& columns) override;
  Result<void> decode(std::span<const Message> messages) override;
  Result<Decoded> finish() override;

 private:
  Result<void> ensure_plan();
  Result<void> read_all(std::size_t first);
  Result<void> read_message(std::string_view payload, std::uint32_t index);
  bool read_rows(TokenCursor& cursor, std::int64_t& rows);
  Result<bool> infer();
  void start_over();
  void count_rows(std::int64_t rows, std::uint32_t message);

  JsonOptions options_;
  KnownColumns known_;
  Selection selection_;
  std::optional<RowPlan> plan_;  // none: columns aren't known yet, or changed
  TokenIndex index_;
  ValueReader reader_;
  bool full_ = false;  // a column had to be left out: no more are added

  // Of the messages since the last finish():
  std::vector<std::string_view> payloads_;
  std::int64_t rows_ = 0;
  bool uneven_ = false;  // some message didn't give exactly one row
  std::vector<std::uint32_t> row_message_;
  std::vector<DecodeFailure> failures_;
};

}  // namespace aqueduck::json
