#include "tests/support/fake_components.h"

#include <nanoarrow/nanoarrow.h>

namespace aqueduck::test {

Result<SourceEvent> FakeSource::read(const ReadLimits& limits) {
  asked_for.push_back(limits.max_messages);
  if (steps.empty()) {
    if (clock != nullptr && limits.deadline > clock->now()) {
      clock->advance(std::chrono::duration_cast<std::chrono::microseconds>(limits.deadline - clock->now()));
    }
    return Idle{};
  }
  Step step = std::move(steps.front());
  steps.pop_front();
  return step();
}

Result<void> MemorySink::write(const RecordBatch& batch) {
  if (before_write) before_write();
  if (!write_errors.empty()) {
    Error error = write_errors.front();
    write_errors.pop_front();
    return fail(std::move(error));
  }
  const ArrowArray& column = *batch.array->raw()->children[0];
  const auto* values = static_cast<const std::int64_t*>(column.buffers[1]);
  for (std::int64_t i = 0; i < batch.rows(); ++i) uncommitted_.push_back(values[column.offset + i]);
  return {};
}

Result<CommitResult> MemorySink::commit(const Token& expected, const Token& next) {
  if (before_commit) before_commit();
  if (!commit_errors.empty()) {
    Error error = commit_errors.front();
    commit_errors.pop_front();
    return fail(std::move(error));
  }
  Answer answer = Answer::clean;
  if (!answers.empty()) {
    answer = answers.front();
    answers.pop_front();
  }
  if (answer == Answer::unknown_not_done) return Unknown{make_error(ErrorKind::unavailable, "timed out")};
  if (!table_.token.matches(expected, next)) {
    uncommitted_.clear();
    return Moved{table_.token};
  }
  table_.token = table_.token.merged(next);
  table_.rows.insert(table_.rows.end(), uncommitted_.begin(), uncommitted_.end());
  table_.commits.push_back(uncommitted_.size());
  uncommitted_.clear();
  if (answer == Answer::unknown_done) return Unknown{make_error(ErrorKind::unavailable, "connection reset")};
  return Committed{table_.token};
}

RecordBatch int_batch(const std::vector<std::int64_t>& values) {
  ArrowSchema schema;
  ArrowSchemaInit(&schema);
  (void)ArrowSchemaSetTypeStruct(&schema, 1);
  (void)ArrowSchemaSetType(schema.children[0], NANOARROW_TYPE_INT64);
  (void)ArrowSchemaSetName(schema.children[0], "v");
  ArrowArray array;
  (void)ArrowArrayInitFromSchema(&array, &schema, nullptr);
  (void)ArrowArrayStartAppending(&array);
  for (const std::int64_t value : values) {
    (void)ArrowArrayAppendInt(array.children[0], value);
    (void)ArrowArrayFinishElement(&array);
  }
  (void)ArrowArrayFinishBuildingDefault(&array, nullptr);
  return {std::make_shared<const Schema>(Schema::adopt(&schema)), std::make_shared<const Array>(Array::adopt(&array))};
}

Chunk int_chunk(const std::vector<std::int64_t>& values, const std::string& partition, const std::string& next) {
  return Chunk{int_batch(values), {{partition, next}}};
}

}  // namespace aqueduck::test
