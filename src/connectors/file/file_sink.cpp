#include "connectors/file/file_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/lock_file.h"
#include "base/log.h"
#include "columnar/csv_text.h"
#include "columnar/dense.h"
#include "columnar/json_text.h"

namespace aqueduck {

namespace {

constexpr std::size_t kTailChunk = 64 << 10;

}  // namespace

SinkTraits file_sink_traits() {
  SinkTraits traits;
  traits.guarantee = "at-least-once: the file holds no positions, so rows may be written again after a crash";
  return traits;
}

FileSink::FileSink(FileSinkConfig config, const ComponentContext& context)
    : config_(std::move(config)),
      path_(context.directory / config_.path),
      format_(config_.format == FileFormat::automatic ? format_of(path_.string()) : config_.format) {}

Error FileSink::failed(std::string_view what, int code) const {
  const ErrorKind kind = code == ENOSPC || code == EDQUOT || code == EFBIG ? ErrorKind::limit : ErrorKind::io;
  return make_error(kind, "cannot {} {}: {}", what, path_.string(), std::strerror(code));
}

Result<Token> FileSink::open() {
  close();
  AQ_TRY(open_descriptor());
  if (!stream_) {
    (void)sync_folder(path_.parent_path());
    committed_ = ::lseek(descriptor_, 0, SEEK_END);
    if (committed_ < 0) return fail(failed("append to", errno));
    if (format_ == FileFormat::arrow) {
      AQ_TRY(resume_arrow());
    } else {
      AQ_TRY(cut_torn_line());
    }
  }
  fingerprint_ = committed_fingerprint_;
  return Token{};
}

Result<void> FileSink::open_descriptor() {
  struct stat found{};
  const bool pipe = ::stat(path_.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
  // Opening a pipe for writing would wait for its reader.
  descriptor_ = ::open(path_.c_str(), (pipe ? O_WRONLY | O_NONBLOCK : O_RDWR | O_CREAT) | O_CLOEXEC, 0644);
  if (descriptor_ < 0 && pipe && errno == ENXIO) {
    return fail(ErrorKind::unavailable, "nobody reads the pipe {}", path_.string());
  }
  if (descriptor_ < 0) return fail(failed("open", errno));
  if (pipe && ::fcntl(descriptor_, F_SETFL, 0) != 0) return fail(failed("open", errno));
  if (::fstat(descriptor_, &found) != 0) return fail(failed("open", errno));
  stream_ = !S_ISREG(found.st_mode);
  if (stream_) return {};
  // Two writers would each write over what the other one appended.
  AQ_ASSIGN(const bool mine, lock_for_writing(descriptor_, path_));
  if (mine) return {};
  close();
  return fail(ErrorKind::conflict,
              "{} is being written by another run or another sink of this one: give each a file of its own",
              path_.string());
}

Result<void> FileSink::cut_torn_line() {
  off_t end = committed_;
  std::string chunk(kTailChunk, '\0');
  while (end > 0) {
    const off_t from = std::max<off_t>(0, end - static_cast<off_t>(chunk.size()));
    const ssize_t got = ::pread(descriptor_, chunk.data(), static_cast<std::size_t>(end - from), from);
    if (got != end - from) return fail(failed("read", got < 0 ? errno : EIO));
    const std::size_t at = std::string_view(chunk.data(), static_cast<std::size_t>(got)).rfind('\n');
    if (at != std::string_view::npos) {
      end = from + static_cast<off_t>(at) + 1;
      break;
    }
    end = from;
  }
  if (end == committed_) return {};
  log::warn("{}: cut off {} bytes of a line that was never finished", path_.string(), committed_ - end);
  AQ_TRY(cut_to(end));
  committed_ = end;
  return {};
}

/// Continues a stream that is there: its whole messages stay, its end mark and a torn one are cut off.
Result<void> FileSink::resume_arrow() {
  if (committed_ == 0) return {};
  off_t at = 0;
  auto reader = IpcReader::open([&](std::span<char> into) -> Result<std::size_t> {
    std::size_t size = 0;
    while (size < into.size()) {
      const ssize_t got = ::pread(descriptor_, into.data() + size, into.size() - size, at);
      if (got < 0) return fail(failed("read", errno));
      if (got == 0) break;
      at += got;
      size += static_cast<std::size_t>(got);
    }
    return size;
  });
  if (!reader) {
    return fail(ErrorKind::conflict, "{} is no Arrow stream to append to: {}", path_.string(), reader.error().message);
  }
  for (;;) {
    auto batch = reader->next();
    if (!batch && batch.error().kind != ErrorKind::decode) return fail(std::move(batch).error());
    if (!batch || batch->rows() == 0) break;
  }
  committed_ = static_cast<off_t>(reader->offset());
  committed_fingerprint_ = reader->schema()->fingerprint();
  return cut_to(committed_);
}

Result<void> FileSink::cut_to(off_t size) {
  if (::ftruncate(descriptor_, size) != 0) return fail(failed("cut", errno));
  return {};
}

Result<void> FileSink::append_csv(const RecordBatch& batch) {
  AQ_ASSIGN(auto csv, CsvText::plan(batch.schema));
  std::string text;
  if (committed_ == 0 && waiting_.empty()) csv.append_header(text);
  csv.append_rows(batch, text);
  waiting_ += text;
  return {};
}

Result<void> FileSink::append_arrow(const RecordBatch& batch) {
  AQ_ASSIGN(const Schema dense, dense_schema(*batch.schema));
  const std::string fingerprint = dense.fingerprint();
  if (!fingerprint_.empty() && fingerprint != fingerprint_) {
    return fail(ErrorKind::sql, "the rows' columns are not those of the Arrow stream in {}", path_.string());
  }
  const std::size_t before = waiting_.size();
  const bool begun = !fingerprint_.empty();
  if (!arrow_) {
    AQ_ASSIGN(arrow_, IpcWriter::open(*batch.schema, [this](std::string_view bytes) -> Result<void> {
                waiting_ += bytes;
                return {};
              }));
    if (begun) waiting_.resize(before);  // the schema stands in the file
  }
  auto done = arrow_->write(batch);
  if (!done) {
    waiting_.resize(before);
    arrow_.reset();
    return fail(std::move(done).error());
  }
  fingerprint_ = fingerprint;
  return {};
}

Result<void> FileSink::write(const RecordBatch& batch) {
  if (batch.rows() == 0) return {};
  if (format_ == FileFormat::arrow) return append_arrow(batch);
  if (format_ == FileFormat::csv) return append_csv(batch);
  return append_json_lines(batch, waiting_);
}

/// Adds to `written` as it goes.
Result<void> FileSink::append(std::string_view bytes, std::size_t& written) {
  while (written < bytes.size()) {
    const std::string_view rest = bytes.substr(written);
    const ssize_t done =
        stream_ ? ::write(descriptor_, rest.data(), rest.size())
                : ::pwrite(descriptor_, rest.data(), rest.size(), committed_ + static_cast<off_t>(written));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return fail(failed("write", errno));
    written += static_cast<std::size_t>(done);
  }
  if (!stream_ && ::fdatasync(descriptor_) != 0) return fail(failed("sync", errno));
  return {};
}

Result<CommitResult> FileSink::commit(const Token& /*expected*/, const Token& next) {
  if (descriptor_ < 0) return fail(ErrorKind::internal, "{} is not open", path_.string());
  if (!waiting_.empty()) {
    std::size_t written = 0;
    auto done = append(waiting_, written);
    if (!done) {
      // What was written must not come twice when the commit is tried again: it is cut off, or, where it is gone for
      // good, not kept.
      if (stream_) {
        waiting_.erase(0, written);
      } else {
        (void)cut_to(committed_);
      }
      return fail(std::move(done).error());
    }
    committed_ += static_cast<off_t>(waiting_.size());
    committed_fingerprint_ = fingerprint_;
    waiting_.clear();
  }
  return Committed{next};
}

Result<void> FileSink::abort() {
  waiting_.clear();
  fingerprint_ = committed_fingerprint_;
  arrow_.reset();
  return {};
}

void FileSink::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  stream_ = false;
  committed_ = 0;
  waiting_.clear();
  fingerprint_.clear();
  committed_fingerprint_.clear();
  arrow_.reset();
}

}  // namespace aqueduck
