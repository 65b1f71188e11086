#include "pipeline/error_policy.h"

#include "base/log.h"

namespace aqueduck::pipeline {

tl::expected<void, Failure> ErrorPolicy::messages_failed(const Batch& batch,
                                                         const std::vector<DecodeFailure>& failures) const {
  if (failures.empty()) return {};
  stats_.decode_failures += failures.size();
  for (const DecodeFailure& failure : failures) {
    std::string partition;
    const Message& message = batch.message(failure.message, &partition);
    const std::string text = fmt::format("message at {}{}{}: {}", partition, message.offset < 0 ? "" : ":",
                                         message.offset < 0 ? "" : std::to_string(message.offset), failure.reason);
    if (failure.ends) {
      Error error{*failure.ends, text};
      const ExitCode code = code_of(error, ExitCode::stopped);
      return failed(code, std::move(error));
    }
    switch (definition_.errors.decode) {
      case OnError::fail:
        return failed(
            ExitCode::stopped,
            make_error(ErrorKind::decode, "{}; with errors: {{decode: skip}} or dead_letter the rest goes on", text));
      case OnError::skip:
        stats_.skipped += 1;
        stats_.set_error(text);
        log::warn("skipped a {}", text);
        groups_.reject(batch, failure.message, failure.reason);
        break;
      case OnError::dead_letter:
        stats_.set_error(text);
        letters_->add(message, partition, "decode", failure.reason);
        break;
    }
  }
  return {};
}

tl::expected<void, Failure> ErrorPolicy::batch_failed(const Batch& batch, const Error& error) const {
  stats_.sql_failures += 1;
  stats_.set_error(error.message);
  switch (definition_.errors.sql) {
    case OnError::fail:
      return failed(ExitCode::stopped, error);
    case OnError::skip:
      stats_.skipped += batch.messages();
      log::warn("skipped a batch of {}: {}", batch.messages(), error.message);
      groups_.reject_all(batch, error.message);
      return {};
    case OnError::dead_letter:
      break;
  }
  log::warn("a batch of {} goes to the dead letters: {}", batch.messages(), error.message);
  for (const Chunk& chunk : batch.chunks()) {
    if (const auto* messages = std::get_if<Messages>(&chunk.data)) {
      for (const Message& message : messages->items) {
        const bool known = message.partition < messages->partitions.size();
        letters_->add(message, known ? messages->partitions[message.partition] : "", "sql", error.message);
      }
    } else if (auto added = letters_->add_rows(std::get<RecordBatch>(chunk.data), "sql", error.message); !added) {
      return failed(ExitCode::stopped, std::move(added).error());
    }
  }
  return {};
}

}  // namespace aqueduck::pipeline
