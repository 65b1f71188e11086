#include "app/cli/rows_printer.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <deque>

#include "base/file.h"
#include "columnar/csv_text.h"
#include "columnar/json_text.h"
#include "columnar/table_text.h"

namespace aqueduck::app {
namespace {

using sql::SqlError;
using sql::SqlResult;

tl::unexpected<SqlError> without_place(Error error) { return tl::make_unexpected(SqlError{std::move(error), {}}); }

std::size_t terminal_width() {
  winsize size{};
  constexpr std::size_t kDefault = 100;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 ? kDefault : size.ws_col;
}

SqlResult<void> print(std::string& text) {
  if (auto written = write_all(STDOUT_FILENO, text, "stdout"); !written) return without_place(written.error());
  text.clear();
  return {};
}

/// The batches that a table shows: the first ones, and a window over the last ones.
class TableRows {
 public:
  explicit TableRows(std::size_t shown) : shown_(shown) {}

  void add(RecordBatch batch) {
    const auto rows = static_cast<std::size_t>(batch.rows());
    if (head_rows_ <= shown_) {
      head_rows_ += rows;
      head_.push_back(std::move(batch));
      return;
    }
    tail_rows_ += rows;
    tail_.push_back(std::move(batch));
    while (tail_rows_ - static_cast<std::size_t>(tail_.front().rows()) >= shown_) {
      const auto dropped = static_cast<std::size_t>(tail_.front().rows());
      tail_rows_ -= dropped;
      left_out_ += dropped;
      tail_.pop_front();
    }
  }
  std::size_t left_out() const { return left_out_; }
  std::vector<RecordBatch> batches() const {
    std::vector<RecordBatch> all = head_;
    all.insert(all.end(), tail_.begin(), tail_.end());
    return all;
  }

 private:
  std::size_t shown_;
  std::vector<RecordBatch> head_;
  std::deque<RecordBatch> tail_;
  std::size_t head_rows_ = 0;
  std::size_t tail_rows_ = 0;
  std::size_t left_out_ = 0;
};

SqlResult<void> print_table(sql::Session& session, sql::Rows& rows) {
  TableStyle style;
  TableRows kept(style.rows);
  while (true) {
    auto batch = rows.next();
    if (!batch) return tl::make_unexpected(std::move(batch).error());
    if (batch->rows() == 0) break;
    kept.add(std::move(*batch));
  }
  auto types = session.type_names(*rows.schema());
  if (types) style.types = std::move(*types);
  style.width = terminal_width();
  style.left_out = kept.left_out();
  std::vector<RecordBatch> batches = kept.batches();
  if (batches.empty()) batches.push_back(RecordBatch{rows.schema(), nullptr});
  auto text = table_text(batches, style);
  if (!text) return without_place(text.error());
  return print(*text);
}

// `append` adds a batch's text.
template <typename Append>
SqlResult<void> print_lines(sql::Rows& rows, std::string text, Append append) {
  while (true) {
    auto batch = rows.next();
    if (!batch) {
      if (auto printed = print(text); !printed) return printed;
      return tl::make_unexpected(std::move(batch).error());
    }
    if (batch->rows() == 0) return print(text);
    append(*batch, text);
    if (auto printed = print(text); !printed) return printed;
  }
}

}  // namespace

Result<RowFormat> parse_row_format(std::string_view word) {
  if (word == "auto") return isatty(STDOUT_FILENO) != 0 ? RowFormat::table : RowFormat::jsonl;
  if (word == "table") return RowFormat::table;
  if (word == "jsonl") return RowFormat::jsonl;
  if (word == "csv") return RowFormat::csv;
  return fail(ErrorKind::config, "'{}' is not a format; use auto, table, jsonl or csv", word);
}

SqlResult<void> print_rows(sql::Session& session, sql::Rows& rows, RowFormat format) {
  if (format == RowFormat::table) return print_table(session, rows);
  if (format == RowFormat::jsonl) {
    auto json = JsonText::plan(rows.schema());
    if (!json) return without_place(json.error());
    return print_lines(rows, "", [&](const RecordBatch& batch, std::string& text) { json->append_lines(batch, text); });
  }
  auto csv = CsvText::plan(rows.schema());
  if (!csv) return without_place(csv.error());
  std::string header;
  csv->append_header(header);
  return print_lines(rows, std::move(header),
                     [&](const RecordBatch& batch, std::string& text) { csv->append_rows(batch, text); });
}

}  // namespace aqueduck::app
