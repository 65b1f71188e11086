#pragma once

#include <functional>
#include <optional>
#include <string>

#include "columnar/schema.h"
#include "connectors/kafka/kafka_config.h"

namespace aqueduck {

/// A row as a message: its JSON, and its key where the sink has one and it isn't NULL.
struct KafkaRow {
  std::string payload;
  std::optional<std::string> key;
};

/// Hands every row of a batch to `take`, in order. An error of kind config where the key's column is missing.
Result<void> append_kafka_rows(const KafkaSinkConfig& config, const RecordBatch& batch,
                               const std::function<void(KafkaRow)>& take);

}  // namespace aqueduck
