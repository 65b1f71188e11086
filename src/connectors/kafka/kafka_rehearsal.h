#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "component/sink.h"
#include "connectors/kafka/kafka_config.h"

namespace aqueduck {

/// Stands in for the sink under `aqueduck test`: what would be sent is appended to a file at every commit, a line a
/// message: {"topic":…,"key":…,"headers":[…],"value":…}. Reaches no broker. One thread.
class KafkaRehearsal final : public Sink {
 public:
  KafkaRehearsal(KafkaSinkConfig config, std::filesystem::path path)
      : config_(std::move(config)), path_(std::move(path)) {}

  SinkTraits traits() const override;
  Result<Token> open() override;
  Result<void> write(const RecordBatch& batch) override;
  Result<CommitResult> commit(const Token& expected, const Token& next) override;
  Result<void> abort() override;
  Result<Token> stored_token() override { return Token{}; }
  void close() override { waiting_.clear(); }

 private:
  void append_headers(const std::vector<std::pair<std::string, std::string>>& headers);

  KafkaSinkConfig config_;
  std::filesystem::path path_;
  std::string waiting_;
};

}  // namespace aqueduck
