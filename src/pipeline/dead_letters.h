#pragma once

#include <memory>
#include <string>
#include <vector>

#include "component/sink.h"
#include "pipeline/batch.h"

namespace aqueduck::pipeline {

/// Failed messages on their way to the dead-letter sink: columns pipeline, phase, error, payload (text, where it is
/// UTF-8) or payload_base64 (where it isn't), key, topic, partition, position, timestamp. One thread.
class DeadLetters {
 public:
  /// `topics`: the source's partitions are named topic/number.
  DeadLetters(std::string pipeline, bool topics, std::unique_ptr<Sink> sink)
      : pipeline_(std::move(pipeline)), topics_(topics), sink_(std::move(sink)) {}

  Sink& sink() { return *sink_; }
  void add(const Message& message, const std::string& partition, const std::string& phase, const std::string& error);
  /// Rows that never were messages: their payload is JSON.
  Result<void> add_rows(const RecordBatch& rows, const std::string& phase, const std::string& error);
  std::size_t pending() const { return letters_.size(); }
  std::uint64_t pending_bytes() const { return bytes_; }
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
  void keep(Letter letter);
  Result<RecordBatch> to_batch() const;

  std::string pipeline_;
  bool topics_;
  std::unique_ptr<Sink> sink_;
  std::vector<Letter> letters_;
  std::uint64_t bytes_ = 0;  // that they take
  bool written_ = false;     // to the sink, but not committed
};

}  // namespace aqueduck::pipeline
