#pragma once

#include <deque>
#include <memory>

#include "columnar/json_text.h"
#include "component/sink.h"
#include "connectors/kafka/kafka_client.h"

namespace aqueduck {

SinkTraits kafka_sink_traits();

/// Writes a JSON message a row. Rows wait here until commit() sends them and has a delivery report of each; those
/// without a good one stay, and only they are sent when the commit is repeated. One thread.
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
  struct Row {
    std::string payload;
    std::optional<std::string> key;
    int outcome = 0;  ///< of its delivery report
    bool delivered = false;
  };

  KafkaSinkConfig config_;
  std::unique_ptr<KafkaHealth> health_;
  KafkaHandle client_;
  std::deque<Row> waiting_;  ///< a row doesn't move: delivery reports point at it
};

}  // namespace aqueduck
