#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "columnar/schema.h"

namespace aqueduck {

/// Takes bytes of an Arrow IPC stream, in order.
using ByteSink = std::function<Result<void>(std::string_view bytes)>;
/// Fills `into` with the next bytes and says how many; fewer than asked for (or 0) only at the end.
using ByteSource = std::function<Result<std::size_t>(std::span<char> into)>;

/// Writes the Arrow IPC stream format. Dictionary columns (ENUM) are written as their values, string views as strings,
/// because the format's readers must know those from the start. One thread; owned by whoever writes.
class IpcWriter {
 public:
  /// The stream without its end is readable, too: IpcReader takes it as ended after the last whole batch.
  static Result<IpcWriter> open(const Schema& schema, ByteSink sink);
  IpcWriter(IpcWriter&&) noexcept;
  IpcWriter& operator=(IpcWriter&&) noexcept;
  ~IpcWriter();

  Result<void> write(const RecordBatch& batch);
  /// Writes the end-of-stream mark.
  Result<void> finish();

 private:
  struct State;
  explicit IpcWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Reads the Arrow IPC stream format, and the file format by passing over its magic. Made for bytes that nobody vouches
/// for: every batch is fully validated, and a message may take at most `max_message` bytes.
class IpcReader {
 public:
  static constexpr std::uint64_t kMaxMessage = std::uint64_t{1} << 30;

  static Result<IpcReader> open(ByteSource source, std::uint64_t max_message = kMaxMessage);
  IpcReader(IpcReader&&) noexcept;
  IpcReader& operator=(IpcReader&&) noexcept;
  ~IpcReader();

  const std::shared_ptr<const Schema>& schema() const;
  /// The next rows, or an empty batch without a schema at the end. Errors: decode, io.
  Result<RecordBatch> next();
  /// Bytes taken from the source up to the end of the last whole batch.
  std::uint64_t offset() const;

 private:
  struct State;
  explicit IpcReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// All batches of a stream or file that is in memory.
Result<std::vector<RecordBatch>> read_ipc(std::string_view bytes);

}  // namespace aqueduck
