#include "pipeline/dead_letters.h"

#include <nanoarrow/nanoarrow.h>

#include "columnar/json_text.h"
#include "columnar/parse_value.h"
#include "columnar/value_text.h"

namespace aqueduck::pipeline {
namespace {

constexpr struct {
  const char* name;
  ArrowType type;
} kColumns[] = {
    {"pipeline", NANOARROW_TYPE_STRING},       {"phase", NANOARROW_TYPE_STRING},
    {"error", NANOARROW_TYPE_STRING},          {"payload", NANOARROW_TYPE_STRING},
    {"payload_base64", NANOARROW_TYPE_STRING}, {"key", NANOARROW_TYPE_STRING},
    {"key_base64", NANOARROW_TYPE_STRING},     {"topic", NANOARROW_TYPE_STRING},
    {"partition", NANOARROW_TYPE_STRING},      {"position", NANOARROW_TYPE_INT64},
    {"timestamp", NANOARROW_TYPE_TIMESTAMP},
};

std::shared_ptr<const Schema> letter_schema() {
  static const std::shared_ptr<const Schema> schema = [] {
    ArrowSchema raw;
    ArrowSchemaInit(&raw);
    (void)ArrowSchemaSetTypeStruct(&raw, std::size(kColumns));
    for (std::size_t i = 0; i < std::size(kColumns); ++i) {
      if (kColumns[i].type == NANOARROW_TYPE_TIMESTAMP) {
        (void)ArrowSchemaSetTypeDateTime(raw.children[i], NANOARROW_TYPE_TIMESTAMP, NANOARROW_TIME_UNIT_MICRO, "UTC");
      } else {
        (void)ArrowSchemaSetType(raw.children[i], kColumns[i].type);
      }
      (void)ArrowSchemaSetName(raw.children[i], kColumns[i].name);
    }
    return std::make_shared<const Schema>(Schema::adopt(&raw));
  }();
  return schema;
}

int append_text(ArrowArray* column, std::string_view text) {
  return ArrowArrayAppendString(column, ArrowStringView{text.data(), static_cast<std::int64_t>(text.size())});
}

int append_if_any(ArrowArray* column, std::string_view text) {
  return text.empty() ? ArrowArrayAppendNull(column, 1) : append_text(column, text);
}

// "events/3" → "events" and "3".
std::pair<std::string_view, std::string_view> split_topic(std::string_view name) {
  const auto slash = name.rfind('/');
  if (slash == std::string_view::npos) return {name, {}};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

// As text in the first column where it is UTF-8, else as base64 in the second: byte for byte either way.
int append_bytes(ArrowArray* text, ArrowArray* base64, std::string_view bytes, bool present) {
  if (!present) return ArrowArrayAppendNull(text, 1) | ArrowArrayAppendNull(base64, 1);
  if (is_utf8(bytes)) return append_text(text, bytes) | ArrowArrayAppendNull(base64, 1);
  std::string encoded;
  append_base64(bytes, encoded);
  return ArrowArrayAppendNull(text, 1) | append_text(base64, encoded);
}

}  // namespace

void DeadLetters::keep(Letter letter) {
  bytes_ += sizeof(Letter) + letter.phase.size() + letter.error.size() + letter.payload.size() + letter.key.size() +
            letter.partition.size();
  letters_.push_back(std::move(letter));
}

void DeadLetters::add(const Message& message, const std::string& partition, const std::string& phase,
                      const std::string& error) {
  Letter letter{phase,
                error,
                std::string(message.payload),
                std::string(message.key),
                partition,
                message.offset,
                message.timestamp_us,
                message.payload.data() != nullptr,
                message.key.data() != nullptr};
  keep(std::move(letter));
}

Result<void> DeadLetters::add_rows(const RecordBatch& rows, const std::string& phase, const std::string& error) {
  AQ_ASSIGN(JsonText text, JsonText::plan(rows.schema));
  text.bind(rows);
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    Letter letter;
    letter.phase = phase;
    letter.error = error;
    letter.has_payload = true;
    text.append_row(row, letter.payload);
    keep(std::move(letter));
  }
  return {};
}

Result<RecordBatch> DeadLetters::to_batch() const {
  ArrowArray raw{};
  int bad = ArrowArrayInitFromSchema(&raw, letter_schema()->raw(), nullptr);
  if (bad == 0) bad = ArrowArrayStartAppending(&raw);
  for (const Letter& letter : letters_) {
    if (bad != 0) break;
    ArrowArray** c = raw.children;
    bad |= append_text(c[0], pipeline_);
    bad |= append_text(c[1], letter.phase);
    bad |= append_text(c[2], letter.error);
    bad |= append_bytes(c[3], c[4], letter.payload, letter.has_payload);
    bad |= append_bytes(c[5], c[6], letter.key, letter.has_key);
    const auto [topic, partition] =
        topics_ ? split_topic(letter.partition) : std::pair(std::string_view(), std::string_view(letter.partition));
    bad |= append_if_any(c[7], topic);
    bad |= append_if_any(c[8], partition);
    bad |= letter.offset < 0 ? ArrowArrayAppendNull(c[9], 1) : ArrowArrayAppendInt(c[9], letter.offset);
    bad |= letter.timestamp_us == kNoTimestamp ? ArrowArrayAppendNull(c[10], 1)
                                               : ArrowArrayAppendInt(c[10], letter.timestamp_us);
    bad |= ArrowArrayFinishElement(&raw);
  }
  if (bad == 0) bad = ArrowArrayFinishBuildingDefault(&raw, nullptr);
  if (bad != 0) {
    if (raw.release != nullptr) raw.release(&raw);
    return fail(ErrorKind::limit, "{} dead letters don't fit into one batch", letters_.size());
  }
  return RecordBatch{letter_schema(), std::make_shared<const Array>(Array::adopt(&raw))};
}

Result<void> DeadLetters::deliver() {
  if (letters_.empty()) return {};
  if (!written_) {
    AQ_ASSIGN(const RecordBatch batch, to_batch());
    AQ_TRY(sink_->write(batch));
    written_ = true;
  }
  AQ_ASSIGN(const CommitResult answer, sink_->commit({}, {}));
  if (const auto* unknown = std::get_if<Unknown>(&answer)) return fail(unknown->error);
  letters_.clear();
  bytes_ = 0;
  written_ = false;
  return {};
}

void DeadLetters::drop() {
  letters_.clear();
  bytes_ = 0;
  if (written_) (void)sink_->abort();
  written_ = false;
}

}  // namespace aqueduck::pipeline
