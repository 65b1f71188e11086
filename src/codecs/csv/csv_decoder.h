#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codecs/csv/line_splitter.h"
#include "columnar/builder.h"
#include "component/decoder.h"

namespace aqueduck::csv {

struct CsvOptions {
  std::vector<Column> declared;
  bool header = true;  ///< the first line names the columns; lines equal to it are no rows
  Dialect dialect;
  std::string null;  ///< what an unquoted field says for NULL
};

/// Lines of separated values to rows. Columns are declared, or named by the first line; without a declared type they
/// are VARCHAR. The header outlives a restart as the saved schema.
class CsvDecoder final : public Decoder {
 public:
  explicit CsvDecoder(CsvOptions options);

  std::shared_ptr<const Schema> schema() const override;
  std::string saved_schema() const override;
  Result<void> restore(const std::string& saved) override;
  void restrict_to(const std::optional<std::vector<ColumnPath>>& columns) override;
  Result<void> decode(std::span<const Message> messages) override;
  Result<Decoded> finish() override;

 private:
  /// The columns that are read: for each field of a line the builder's index, or -1.
  struct Plan {
    std::vector<int> target;
    std::vector<Column> columns;
    std::optional<BatchBuilder> batch;
  };

  Result<Plan> make_plan() const;
  Result<void> take_header(std::string_view line);
  Result<void> name_columns(const std::vector<std::string>& names);
  Result<void> read_line(std::string_view line, std::uint32_t message);
  bool read_fields(std::string_view line, std::string& reason);
  bool is_read(const std::string& name) const;

  CsvOptions options_;
  std::vector<Column> columns_;  // all of a line's, in order; empty until a header came
  std::string header_;           // the line itself
  std::optional<std::vector<ColumnPath>> selection_;
  std::optional<Plan> plan_;
  LineSplitter splitter_;

  std::int64_t rows_ = 0;
  std::uint32_t messages_ = 0;
  bool named_ = false;  // by a header, since the last finish()
  bool ended_ = false;  // by a header that can't be read: the rest isn't either
  std::vector<std::uint32_t> row_message_;
  std::vector<DecodeFailure> failures_;
};

}  // namespace aqueduck::csv
