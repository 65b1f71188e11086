#include "connectors/kafka/kafka_rehearsal.h"

#include <fcntl.h>

#include <cerrno>

#include "base/file.h"
#include "columnar/value_text.h"
#include "connectors/kafka/kafka_rows.h"
#include "connectors/kafka/kafka_sink.h"

namespace aqueduck {

SinkTraits KafkaRehearsal::traits() const { return kafka_sink_traits(); }

Result<Token> KafkaRehearsal::open() {
  waiting_.clear();
  AQ_TRY(make_folders(path_.parent_path()));
  return Token{};
}

Result<void> KafkaRehearsal::write(const RecordBatch& batch) {
  AQ_ASSIGN(const auto rows, kafka_rows(batch, config_.key, config_.headers));
  for (const KafkaRow& row : rows) {
    waiting_ += "{\"topic\":";
    append_json_string(config_.topic, waiting_);
    if (row.key) {
      waiting_ += ",\"key\":";
      append_json_string(*row.key, waiting_);
    }
    if (!row.headers.empty()) append_headers(row.headers);
    waiting_ += ",\"value\":" + row.payload + "}\n";
  }
  return {};
}

/// As pairs, since a name may come twice.
void KafkaRehearsal::append_headers(const std::vector<std::pair<std::string, std::string>>& headers) {
  waiting_ += ",\"headers\":[";
  for (const auto& [name, value] : headers) {
    if (waiting_.back() != '[') waiting_ += ',';
    waiting_ += '[';
    append_json_string(name, waiting_);
    waiting_ += ',';
    append_json_string(value, waiting_);
    waiting_ += ']';
  }
  waiting_ += ']';
}

Result<CommitResult> KafkaRehearsal::commit(const Token& /*expected*/, const Token& next) {
  const Descriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file.open()) return fail(system_error(errno, "cannot write", path_));
  AQ_TRY(write_all(file.get(), waiting_, path_));
  waiting_.clear();
  return Committed{next};
}

Result<void> KafkaRehearsal::abort() {
  waiting_.clear();
  return {};
}

}  // namespace aqueduck
