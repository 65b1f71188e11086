#include <nanoarrow/nanoarrow.h>
#include <nanoarrow/nanoarrow_ipc.h>

#include <optional>

#include "columnar/dense.h"
#include "columnar/ipc.h"

namespace aqueduck {

struct IpcWriter::State {
  ByteSink sink;
  std::optional<Error> failure;
  Schema schema;
  ArrowIpcWriter writer{};

  State(ByteSink to, Schema dense) : sink(std::move(to)), schema(std::move(dense)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (writer.private_data != nullptr) ArrowIpcWriterReset(&writer);
  }

  Result<void> check(int code, const ArrowError& error) {
    if (code == NANOARROW_OK) return {};
    if (failure) return fail(*std::exchange(failure, std::nullopt));
    return fail(ErrorKind::internal, "cannot write Arrow IPC: {}", error.message);
  }

  static int put(ArrowIpcOutputStream* stream, const void* bytes, std::int64_t size, std::int64_t* written,
                 ArrowError* /*error*/) {
    auto& state = *static_cast<State*>(stream->private_data);
    auto done = state.sink(std::string_view(static_cast<const char*>(bytes), static_cast<std::size_t>(size)));
    if (!done) {
      state.failure = std::move(done).error();
      return EIO;
    }
    *written = size;
    return NANOARROW_OK;
  }
  static void forget(ArrowIpcOutputStream* stream) { stream->release = nullptr; }
};

IpcWriter::IpcWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
IpcWriter::IpcWriter(IpcWriter&&) noexcept = default;
IpcWriter& IpcWriter::operator=(IpcWriter&&) noexcept = default;
IpcWriter::~IpcWriter() = default;

Result<IpcWriter> IpcWriter::open(const Schema& schema, ByteSink sink) {
  AQ_ASSIGN(auto dense, dense_schema(schema));
  auto state = std::make_unique<State>(std::move(sink), std::move(dense));
  ArrowIpcOutputStream stream{State::put, State::forget, state.get()};
  ArrowError error{};
  AQ_TRY(state->check(ArrowIpcWriterInit(&state->writer, &stream), error));
  AQ_TRY(state->check(ArrowIpcWriterWriteSchema(&state->writer, state->schema.raw(), &error), error));
  return IpcWriter(std::move(state));
}

Result<void> IpcWriter::write(const RecordBatch& batch) {
  if (batch.rows() == 0) return {};
  Dense dense;
  AQ_ASSIGN(const ArrowArray* array, dense.make(batch));
  ArrowError error{};
  ArrowArrayView view;
  AQ_TRY(state_->check(ArrowArrayViewInitFromSchema(&view, state_->schema.raw(), &error), error));
  int code = ArrowArrayViewSetArray(&view, array, &error);
  if (code == NANOARROW_OK) code = ArrowIpcWriterWriteArrayView(&state_->writer, &view, &error);
  ArrowArrayViewReset(&view);
  return state_->check(code, error);
}

Result<void> IpcWriter::finish() {
  ArrowError error{};
  return state_->check(ArrowIpcWriterWriteArrayView(&state_->writer, nullptr, &error), error);
}

}  // namespace aqueduck
