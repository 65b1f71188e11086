#include "connectors/console/console_sink.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "columnar/csv_text.h"
#include "columnar/json_text.h"
#include "columnar/table_text.h"

namespace aqueduck {

namespace {

std::size_t terminal_width(int descriptor) {
  winsize size{};
  constexpr std::size_t kDefault = 100;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefault;
  return size.ws_col;
}

/// Prints and removes from `text` what was printed.
Result<void> print(int descriptor, std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t done = ::write(descriptor, text.data() + at, text.size() - at);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      const int code = errno;
      text.erase(0, at);
      // Whoever closes a pipe wants no more of it: that is a wish to stop, not a fault.
      return fail(code == EPIPE ? ErrorKind::cancelled : ErrorKind::io, "cannot write to stdout: {}",
                  std::strerror(code));
    }
    at += static_cast<std::size_t>(done);
  }
  text.clear();
  return {};
}

}  // namespace

SinkTraits console_traits() {
  SinkTraits traits;
  traits.guarantee = "at-least-once: stdout can't hold positions, so rows may be printed again after a crash";
  return traits;
}

Result<Token> ConsoleSink::open() {
  batches_.clear();
  unprinted_.clear();
  format_ = config_.format;
  if (format_ == ConsoleFormat::automatic) {
    format_ = isatty(config_.descriptor) != 0 ? ConsoleFormat::table : ConsoleFormat::jsonl;
  }
  return Token{};
}

Result<void> ConsoleSink::write(const RecordBatch& batch) {
  if (batch.rows() > 0) batches_.push_back(batch);
  return {};
}

Result<std::string> ConsoleSink::render() const {
  std::string out;
  if (format_ == ConsoleFormat::table) {
    // A table has one schema; rows of another one begin a new table.
    for (std::size_t from = 0; from < batches_.size();) {
      const std::string fingerprint = batches_[from].schema->fingerprint();
      std::size_t to = from + 1;
      while (to < batches_.size() && batches_[to].schema->fingerprint() == fingerprint) ++to;
      TableStyle style;
      style.width = terminal_width(config_.descriptor);
      const auto offset = [&](std::size_t i) { return batches_.begin() + static_cast<std::ptrdiff_t>(i); };
      AQ_ASSIGN(const std::string table, table_text(std::vector<RecordBatch>(offset(from), offset(to)), style));
      out += table;
      from = to;
    }
    return out;
  }
  std::string header = header_;
  for (const RecordBatch& batch : batches_) {
    if (format_ == ConsoleFormat::jsonl) {
      AQ_TRY(append_json_lines(batch, out));
      continue;
    }
    AQ_ASSIGN(auto csv, CsvText::plan(batch.schema));
    const std::string fingerprint = batch.schema->fingerprint();
    if (fingerprint != header) csv.append_header(out);
    header = fingerprint;
    csv.append_rows(batch, out);
  }
  return out;
}

Result<CommitResult> ConsoleSink::commit(const Token& /*expected*/, const Token& next) {
  if (!batches_.empty()) {
    AQ_ASSIGN(const std::string text, render());
    unprinted_ += text;
    header_ = batches_.back().schema->fingerprint();
    batches_.clear();
  }
  AQ_TRY(print(config_.descriptor, unprinted_));
  return Committed{next};
}

Result<void> ConsoleSink::abort() {
  batches_.clear();
  unprinted_.clear();
  return {};
}

}  // namespace aqueduck
