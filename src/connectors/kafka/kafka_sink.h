#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "component/sink.h"
#include "connectors/kafka/kafka_client.h"

struct rd_kafka_message_s;  // NOLINT(readability-identifier-naming): of librdkafka

namespace aqueduck {

SinkTraits kafka_sink_traits();

/// A row as a message of Kafka.
struct KafkaRow {
  std::string payload;
  std::optional<std::string> key;
  std::vector<std::pair<std::string, std::string>> headers;
};
/// A message for each row of the batch: its columns as a JSON object, without `headers_column`. Kind config: a column
/// that the rows don't have, or that can't be headers.
Result<std::vector<KafkaRow>> kafka_rows(const RecordBatch& batch, const std::string& key_column,
                                         const std::string& headers_column);

/// Writes a JSON message a row. Rows wait here until commit() sends them and has a delivery report of each; those
/// without a good one stay, and only they are sent when the commit is repeated. A topic that isn't there ends it with
/// kind denied, after a grace. One thread.
class KafkaSink final : public Sink {
 public:
  KafkaSink(KafkaSinkConfig config, const ComponentContext& context);
  ~KafkaSink() override;

  SinkTraits traits() const override { return kafka_sink_traits(); }
  Result<Token> open() override;
  Result<void> write(const RecordBatch& batch) override;
  Result<CommitResult> commit(const Token& expected, const Token& next) override;
  Result<void> abort() override;
  Result<Token> stored_token() override { return Token{}; }
  void close() override;

 private:
  struct Waiting {
    KafkaRow row;
    int outcome = 0;  ///< of its delivery report
    bool delivered = false;
  };

  static void on_delivery(const rd_kafka_message_s& message);
  int send(Waiting& waiting);
  Error failure(const Waiting& bad, std::size_t left);

  KafkaSinkConfig config_;
  std::unique_ptr<KafkaHealth> health_;
  KafkaHandle client_;
  std::deque<Waiting> waiting_;  ///< a row doesn't move: delivery reports point at it
};

}  // namespace aqueduck
