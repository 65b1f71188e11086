#include "golden/memory_sink.h"

#include <iterator>

namespace aqueduck::golden {

SinkTraits MemorySink::traits() const {
  SinkTraits traits;
  traits.holds_token = true;
  return traits;
}

Result<Token> MemorySink::open() {
  waiting_.clear();
  return store_.token;
}

Result<void> MemorySink::write(const RecordBatch& batch) {
  waiting_.push_back(batch);
  return {};
}

Result<CommitResult> MemorySink::commit(const Token& expected, const Token& next) {
  if (!store_.token.matches(expected, next)) {
    waiting_.clear();
    return Moved{store_.token};
  }
  store_.rows.insert(store_.rows.end(), std::make_move_iterator(waiting_.begin()),
                     std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  store_.token = store_.token.merged(next);
  return Committed{store_.token};
}

Result<void> MemorySink::abort() {
  waiting_.clear();
  return {};
}

Result<void> StoppingSink::stop_before_commit() {
  if (plan_.when != StopPlan::When::before_first_commit) return {};
  plan_.stopped = true;
  return fail(ErrorKind::cancelled, "stopped before the first commit, for the restart");
}

Result<void> StoppingSink::write(const RecordBatch& batch) {
  AQ_TRY(stop_before_commit());
  return inner_->write(batch);
}

Result<CommitResult> StoppingSink::commit(const Token& expected, const Token& next) {
  AQ_TRY(stop_before_commit());
  auto answer = inner_->commit(expected, next);
  if (answer && std::holds_alternative<Committed>(*answer)) {
    ++plan_.commits;
    if (plan_.when == StopPlan::When::after_commits && plan_.commits == plan_.after) {
      plan_.stopped = true;
      plan_.drain();
    }
  }
  return answer;
}

}  // namespace aqueduck::golden
