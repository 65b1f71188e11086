#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "columnar/schema.h"

namespace aqueduck {

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

}  // namespace aqueduck
