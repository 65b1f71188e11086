#pragma once

#include <deque>
#include <memory>
#include <string>

#include "component/sink.h"
#include "connectors/kafka/kafka_client.h"
#include "connectors/kafka/kafka_rows.h"

struct rd_kafka_message_s;  // NOLINT(readability-identifier-naming): of librdkafka

namespace aqueduck {

SinkTraits kafka_sink_traits();

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
