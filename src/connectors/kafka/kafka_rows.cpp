#include "connectors/kafka/kafka_rows.h"

#include "columnar/json_text.h"

namespace aqueduck {

Result<void> append_kafka_rows(const KafkaSinkConfig& config, const RecordBatch& batch,
                               const std::function<void(KafkaRow)>& take) {
  if (batch.rows() == 0) return {};
  AQ_ASSIGN(JsonText json, JsonText::plan(batch.schema));
  std::size_t key = batch.schema->size();
  if (!config.key.empty()) {
    key = 0;
    while (key < batch.schema->size() && batch.schema->name(key) != config.key) ++key;
    if (key == batch.schema->size()) {
      return fail(ErrorKind::config, "the rows have no column '{}' for the key of the messages", config.key);
    }
  }
  json.bind(batch);
  for (std::int64_t i = 0; i < json.rows(); ++i) {
    KafkaRow row;
    json.append_row(i, row.payload);
    if (key != batch.schema->size()) {
      std::string text;
      json.append_value(key, i, text);
      // A text without escapes stands as itself, anything else as its JSON.
      const bool plain = text.size() >= 2 && text.front() == '"' && text.find('\\') == std::string::npos;
      if (text != "null") row.key = plain ? text.substr(1, text.size() - 2) : text;
    }
    take(std::move(row));
  }
  return {};
}

}  // namespace aqueduck
