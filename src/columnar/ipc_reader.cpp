#include <nanoarrow/nanoarrow.h>
#include <nanoarrow/nanoarrow_ipc.h>

#include <algorithm>
#include <cstring>

#include "columnar/ipc.h"

namespace aqueduck {

namespace {

constexpr std::string_view kFileMagic{"ARROW1\0\0", 8};
constexpr std::int64_t kPrefixBytes = 8;
constexpr std::int64_t kMaxHeader = 64 << 20;
constexpr std::int64_t kStep = 4 << 20;

}  // namespace

struct IpcReader::State {
  ByteSource source;
  std::int64_t max_message;
  std::uint64_t offset = 0;
  std::uint64_t taken = 0;
  ArrowIpcDecoder decoder{};
  std::shared_ptr<const Schema> schema;
  bool ended = false;

  State(ByteSource from, std::uint64_t limit)
      : source(std::move(from)), max_message(static_cast<std::int64_t>(std::min<std::uint64_t>(limit, INT64_MAX))) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (decoder.private_data != nullptr) ArrowIpcDecoderReset(&decoder);
  }

  /// Appends `size` more bytes. Memory grows as bytes really come, whatever a damaged header claims.
  Result<bool> read(ArrowBuffer& into, std::int64_t size) {
    while (size > 0) {
      const std::int64_t step = std::min(size, kStep);
      if (ArrowBufferReserve(&into, step) != NANOARROW_OK) {
        return fail(ErrorKind::limit, "no memory for an Arrow message of {} bytes", into.size_bytes + size);
      }
      char* at = reinterpret_cast<char*>(into.data) + into.size_bytes;
      AQ_ASSIGN(const std::size_t got, source(std::span<char>(at, static_cast<std::size_t>(step))));
      into.size_bytes += static_cast<std::int64_t>(got);
      taken += got;
      if (static_cast<std::int64_t>(got) < step) return false;
      size -= step;
    }
    return true;
  }

  Error damaged(std::string_view why) const {
    return make_error(ErrorKind::decode, "not valid Arrow IPC at byte {}: {}", offset, why);
  }

  /// Reads one message's header; false at the end of the stream.
  Result<bool> header(ArrowBuffer& bytes) {
    AQ_ASSIGN(bool whole, read(bytes, kPrefixBytes));
    if (!whole && bytes.size_bytes == 0) return false;
    if (!whole) return fail(damaged("it ends within a message"));
    if (taken == static_cast<std::uint64_t>(kPrefixBytes) &&
        std::memcmp(bytes.data, kFileMagic.data(), kFileMagic.size()) == 0) {
      bytes.size_bytes = 0;
      AQ_ASSIGN(whole, read(bytes, kPrefixBytes));
      if (!whole) return fail(damaged("it ends within a message"));
    }
    ArrowError error{};
    std::int32_t prefix = 0;
    const ArrowBufferView peek{{bytes.data}, bytes.size_bytes};
    const int code = ArrowIpcDecoderPeekHeader(&decoder, peek, &prefix, &error);
    if (code == ENODATA) return false;
    const std::int64_t size = decoder.header_size_bytes;
    if (code != NANOARROW_OK) return fail(damaged(error.message));
    if (size < kPrefixBytes || size > kMaxHeader) return fail(damaged("a message header of an absurd size"));
    AQ_ASSIGN(whole, read(bytes, size - kPrefixBytes));
    if (!whole) return fail(damaged("it ends within a message"));
    const ArrowBufferView view{{bytes.data}, bytes.size_bytes};
    if (ArrowIpcDecoderVerifyHeader(&decoder, view, &error) != NANOARROW_OK ||
        ArrowIpcDecoderDecodeHeader(&decoder, view, &error) != NANOARROW_OK) {
      return fail(damaged(error.message));
    }
    if (decoder.body_size_bytes < 0 || decoder.body_size_bytes > max_message) {
      return fail(damaged(fmt::format("a message of {} bytes; the limit is {}", decoder.body_size_bytes, max_message)));
    }
    return true;
  }

  Result<void> read_schema(ArrowBuffer& bytes) {
    AQ_ASSIGN(const bool found, header(bytes));
    if (!found || decoder.message_type != NANOARROW_IPC_MESSAGE_TYPE_SCHEMA) {
      return fail(damaged("it doesn't begin with a schema"));
    }
    ArrowError error{};
    ArrowSchema raw{};
    if (ArrowIpcDecoderDecodeSchema(&decoder, &raw, &error) != NANOARROW_OK) return fail(damaged(error.message));
    Schema adopted = Schema::adopt(&raw);
    if (ArrowIpcDecoderSetEndianness(&decoder, decoder.endianness) != NANOARROW_OK ||
        ArrowIpcDecoderSetSchema(&decoder, const_cast<ArrowSchema*>(adopted.raw()), &error) != NANOARROW_OK) {
      return fail(damaged(error.message));
    }
    schema = std::make_shared<const Schema>(std::move(adopted));
    offset = taken;
    return {};
  }

  Result<RecordBatch> read_batch(ArrowBuffer& body) {
    AQ_ASSIGN(const bool whole, read(body, decoder.body_size_bytes));
    if (!whole) return fail(damaged("it ends within a message"));
    ArrowIpcSharedBuffer shared{};
    if (ArrowIpcSharedBufferInit(&shared, &body) != NANOARROW_OK) {
      return fail(ErrorKind::limit, "no memory for an Arrow message");
    }
    ArrowError error{};
    ArrowArray raw{};
    const int code =
        ArrowIpcDecoderDecodeArrayFromShared(&decoder, &shared, -1, &raw, NANOARROW_VALIDATION_LEVEL_FULL, &error);
    ArrowIpcSharedBufferReset(&shared);
    if (code != NANOARROW_OK) {
      if (raw.release != nullptr) raw.release(&raw);
      return fail(damaged(error.message));
    }
    offset = taken;
    return RecordBatch{schema, std::make_shared<const Array>(Array::adopt(&raw))};
  }
};

namespace {

/// Resets a buffer on every way out.
struct ScopedBuffer {
  ArrowBuffer raw{};
  ScopedBuffer() { ArrowBufferInit(&raw); }
  ScopedBuffer(const ScopedBuffer&) = delete;
  ScopedBuffer& operator=(const ScopedBuffer&) = delete;
  ~ScopedBuffer() { ArrowBufferReset(&raw); }
};

}  // namespace

IpcReader::IpcReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
IpcReader::IpcReader(IpcReader&&) noexcept = default;
IpcReader& IpcReader::operator=(IpcReader&&) noexcept = default;
IpcReader::~IpcReader() = default;

Result<IpcReader> IpcReader::open(ByteSource source, std::uint64_t max_message) {
  auto state = std::make_unique<State>(std::move(source), max_message);
  if (ArrowIpcDecoderInit(&state->decoder) != NANOARROW_OK) return fail(ErrorKind::limit, "no memory");
  ScopedBuffer header;
  AQ_TRY(state->read_schema(header.raw));
  return IpcReader(std::move(state));
}

const std::shared_ptr<const Schema>& IpcReader::schema() const { return state_->schema; }
std::uint64_t IpcReader::offset() const { return state_->offset; }

Result<RecordBatch> IpcReader::next() {
  while (!state_->ended) {
    ScopedBuffer header;
    AQ_ASSIGN(const bool found, state_->header(header.raw));
    if (!found) break;
    if (state_->decoder.message_type != NANOARROW_IPC_MESSAGE_TYPE_RECORD_BATCH) {
      return fail(state_->damaged("a message that is no record batch"));
    }
    ScopedBuffer body;
    AQ_ASSIGN(auto batch, state_->read_batch(body.raw));
    if (batch.rows() > 0) return batch;
  }
  state_->ended = true;
  return RecordBatch{};
}

Result<std::vector<RecordBatch>> read_ipc(std::string_view bytes) {
  AQ_ASSIGN(auto reader, IpcReader::open([&](std::span<char> into) -> Result<std::size_t> {
              const std::size_t size = std::min(into.size(), bytes.size());
              std::copy_n(bytes.begin(), size, into.begin());
              bytes.remove_prefix(size);
              return size;
            }));
  std::vector<RecordBatch> out;
  while (true) {
    AQ_ASSIGN(auto batch, reader.next());
    if (batch.schema == nullptr) return out;
    out.push_back(std::move(batch));
  }
}

}  // namespace aqueduck
