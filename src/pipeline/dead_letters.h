#pragma once

#include <memory>
#include <string>
#include <vector>

#include "component/sink.h"
#include "pipeline/batch.h"

namespace aqueduck::pipeline {

/// Failed messages on their way to the dead-letter sink: columns pipeline, phase, error, payload (text, where it is
/// UTF-8) or payload_base64 (where it isn't), key, partition, position, timestamp. One thread.
class DeadLetters {
 public:
  DeadLetters(std::string pipeline, std::unique_ptr<Sink> sink)
      : pipeline_(std::move(pipeline)), sink_(std::move(sink)) {}

  Sink& sink() { return *sink_; }
  void add(const Message& message, const std::string& partition, const std::string& phase, const std::string& error);
  /// Rows that never were messages: their payload is JSON.
  Result<void> add_rows(const RecordBatch& rows, const std::string& phase, const std::string& error);
  std::size_t pending() const { return letters_.size(); }
  /// Writes and commits what is pending; on an error it stays pending, and the same call may be made again.
  Result<void> deliver();
  /// Forgets what is pending: its messages will be read again.
  void drop();

 private:
  struct Letter {
    std::string phase;
    std::string error;
    std::string payload;
    std::string key;
    std::string partition;
    std::int64_t offset = -1;
    std::int64_t timestamp_us = kNoTimestamp;
    bool has_payload = false;
    bool has_key = false;
  };
  Result<RecordBatch> to_batch() const;

  std::string pipeline_;
  std::unique_ptr<Sink> sink_;
  std::vector<Letter> letters_;
  bool written_ = false;  // to the sink, but not committed
};

}  // namespace aqueduck::pipeline
