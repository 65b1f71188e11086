#include "pipeline/worker.h"

#include <algorithm>

#include "base/failpoint.h"
#include "base/log.h"
#include "pipeline/error_policy.h"
#include "pipeline/retry.h"

namespace aqueduck::pipeline {
namespace {

// How long a read waits where nothing else is due: stops and idle limits are seen within it.
constexpr auto kTick = std::chrono::milliseconds(100);

Positions only(const Positions& all, const Positions& keys) {
  Positions out;
  for (const auto& [key, ignored] : keys) {
    if (const auto found = all.find(key); found != all.end()) out.insert(*found);
  }
  return out;
}

CommitPolicy policy_of(const Definition& definition, const Sink& sink) {
  const auto& own = definition.commit;
  if (!own) return sink.traits().commit;
  CommitPolicy policy;
  if (own->rows) policy.rows = own->rows->value;
  if (own->bytes) policy.bytes = own->bytes->value;
  policy.interval = own->interval;
  return policy;
}

std::uint64_t count(const Chunk& chunk) {
  const auto* messages = std::get_if<Messages>(&chunk.data);
  return messages != nullptr ? messages->items.size()
                             : static_cast<std::uint64_t>(std::get<RecordBatch>(chunk.data).rows());
}

}  // namespace

Failure Worker::source_failure(Error error) const {
  const ExitCode code = code_of(error, ExitCode::source_unreachable);
  return {code, with_context(std::move(error), "source " + p_.definition->source_name)};
}
Failure Worker::sink_failure(Error error) const {
  ExitCode code = code_of(error, ExitCode::sink_failed);
  // Nobody here asked to stop: whoever reads what the sink writes has gone.
  if (error.kind == ErrorKind::cancelled && !abort_.stop_requested()) code = ExitCode::reader_gone;
  return {code, with_context(std::move(error), "sink " + p_.definition->sink_name)};
}

template <typename T>
tl::expected<T, Failure> Worker::sink_call(std::string_view what, const std::function<Result<T>()>& call) {
  auto result = with_retries<T>(p_.definition->retry, *p_.clock, {abort_, sink_until_}, *p_.stats,
                                fmt::format("sink {}: {}", p_.definition->sink_name, what), call);
  if (!result) {
    Failure failure = sink_failure(std::move(result).error());
    if (abort_.stop_requested()) failure.code = ExitCode::drain_incomplete;
    return tl::make_unexpected(std::move(failure));
  }
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return std::move(*result);
}

tl::expected<void, Failure> Worker::run(std::stop_token drain, std::stop_token abort) {
  drain_ = std::move(drain);
  abort_ = std::move(abort);
  Condition& condition = p_.stats->condition;
  const std::stop_callback draining(drain_, [&condition] { condition.advance(Phase::draining); });
  auto step = open();
  if (step) condition.advance(Phase::running);
  while (step && !finished()) {
    step = read();
    if (step && batch_due()) step = process();
    if (step && commit_due()) step = commit();
  }
  condition.advance(Phase::draining);
  if (step && !abort_.stop_requested()) {
    step = process();
    if (step) step = commit();
  }
  if (step && abort_.stop_requested() && (!batch_.empty() || first_uncommitted_)) {
    step = failed(ExitCode::drain_incomplete,
                  make_error(ErrorKind::cancelled, "stopped with messages that were read and not delivered"));
  }
  if (!step) p_.stats->set_error(step.error().error.message);
  give_up_groups(step ? "the pipeline has stopped" : step.error().error.message);
  close();
  condition.advance(step ? Phase::stopped : Phase::failed);
  return step;
}

Result<Positions> Worker::end_positions() const {
  const auto now = p_.stats->condition.get();
  if (!now.assigned || !now.waiting_for.empty() || now.phase != Phase::running) {
    return fail(ErrorKind::cancelled, "the source can't be asked now");
  }
  return p_.source->position();
}

bool Worker::finished() const {
  if (ended_ || drain_.stop_requested() || abort_.stop_requested()) return true;
  return p_.quota->over(p_.clock->now());
}

void Worker::show_queue() {
  p_.stats->queued_messages = batch_.messages();
  p_.stats->queued_bytes = batch_.bytes();
  p_.stats->uncommitted_rows = uncommitted_rows_;
  p_.stats->uncommitted_bytes = uncommitted_bytes_;
}

void Worker::close() {
  p_.source->close();
  p_.sink->close();
  if (p_.dead_letters != nullptr) p_.dead_letters->sink().close();
}

Worker::Step Worker::open() {
  policy_ = policy_of(*p_.definition, *p_.sink);
  auto stored = sink_call<Token>("open", [&] { return p_.sink->open(); });
  if (!stored) return tl::make_unexpected(std::move(stored).error());
  if (p_.dead_letters != nullptr) {
    auto opened = sink_call<Token>("open the dead-letter sink", [&] { return p_.dead_letters->sink().open(); });
    if (!opened) return tl::make_unexpected(std::move(opened).error());
  }
  p_.source->restore_starts(p_.state->earlier_starts());
  auto opened = with_retries<void>(
      p_.definition->retry, *p_.clock, {drain_, {}}, *p_.stats, "source " + p_.definition->source_name,
      [&] { return p_.source->open(); }, source_can_heal);
  if (!opened) return tl::make_unexpected(source_failure(std::move(opened).error()));
  if (const auto total = p_.source->traits().total) p_.stats->total += *total;
  return {};
}

Clock::Point Worker::deadline() const {
  auto due = p_.clock->now() + kTick;
  if (!batch_.empty()) due = std::min(due, batch_.since() + p_.definition->batch.interval);
  if (const auto& interval = policy_.interval; interval && first_uncommitted_) {
    due = std::min(due, *first_uncommitted_ + *interval);
  }
  return due;
}

bool Worker::batch_due() const {
  if (batch_.empty()) return false;
  const auto& limits = p_.definition->batch;
  return batch_.messages() >= limits.rows.value || batch_.bytes() >= limits.bytes.value ||
         p_.clock->now() - batch_.since() >= limits.interval;
}

bool Worker::commit_due() const {
  if (!first_uncommitted_) return false;
  // Dead letters wait in memory, and may come without any row that counts.
  const auto* letters = p_.dead_letters.get();
  const auto& most = p_.definition->batch;
  if (letters != nullptr && (letters->pending() >= most.rows.value || letters->pending_bytes() >= most.bytes.value))
    return true;
  const CommitPolicy& due = policy_;
  if (due.every_batch()) return true;
  return (due.rows && uncommitted_rows_ >= *due.rows) ||
         (due.bytes && p_.sink->uncommitted_bytes().value_or(uncommitted_bytes_) >= *due.bytes) ||
         (due.interval && p_.clock->now() - *first_uncommitted_ >= *due.interval);
}

Worker::Step Worker::read() {
  ReadLimits limits;
  limits.deadline = deadline();
  limits.stop = drain_;
  const std::uint64_t room =
      p_.definition->batch.rows.value - std::min(batch_.messages(), p_.definition->batch.rows.value);
  const std::uint64_t reserved = p_.quota->reserve(std::max<std::uint64_t>(1, room));
  if (reserved == 0) {
    p_.clock->sleep_until(limits.deadline, drain_);
    return {};
  }
  limits.max_messages = reserved;
  auto event = with_retries<SourceEvent>(
      p_.definition->retry, *p_.clock, {drain_, {}}, *p_.stats, "source " + p_.definition->source_name,
      [&] { return p_.source->read(limits); }, source_can_heal);
  const auto* read = event ? std::get_if<Chunk>(&*event) : nullptr;
  p_.quota->settle(reserved, read == nullptr ? 0 : count(*read), p_.clock->now());
  if (!event) {
    if (drain_.stop_requested() && source_can_heal(event.error().kind)) return {};
    return tl::make_unexpected(source_failure(std::move(event).error()));
  }
  const std::uint64_t progress = p_.source->progress();
  p_.stats->progress += progress - progress_;
  progress_ = progress;
  if (auto* chunk = std::get_if<Chunk>(&*event)) return on_chunk(std::move(*chunk));
  if (const auto* assigned = std::get_if<Assigned>(&*event)) return on_assigned(*assigned);
  if (const auto* revoked = std::get_if<Revoked>(&*event)) return on_revoked(revoked->partitions);
  if (const auto* lost = std::get_if<Lost>(&*event)) return on_lost(lost->partitions);
  if (std::holds_alternative<End>(*event)) ended_ = true;
  return {};
}

Worker::Step Worker::on_chunk(Chunk chunk) {
  const auto now = p_.clock->now();
  groups_.arrived(chunk);
  if (!batch_.fits(chunk)) AQ_STEP(process());
  const std::uint64_t messages_before = batch_.messages();
  const std::uint64_t bytes_before = batch_.bytes();
  p_.stats->set_read(chunk.next);
  batch_.add(std::move(chunk), now);
  const std::uint64_t added = batch_.messages() - messages_before;
  p_.stats->messages += added;
  p_.stats->bytes += batch_.bytes() - bytes_before;
  show_queue();
  return {};
}

Worker::Step Worker::on_assigned(const Assigned& assigned) {
  Token stored;
  const bool holds_token = p_.sink->traits().holds_token;
  if (holds_token) {
    // Read after the assignment: what another instance committed until it gave the partition up counts.
    auto token = sink_call<Token>("read the stored token", [&] { return p_.sink->stored_token(); });
    if (!token) return tl::make_unexpected(std::move(token).error());
    stored = std::move(*token);
  }
  const Positions acknowledged = p_.state->acknowledged();
  Positions begin;
  for (const auto& [partition, own_start] : assigned.start) {
    expected_.entries.erase(partition);
    const auto resolved = assigned.resolved.find(partition);
    const std::string& first = resolved == assigned.resolved.end() ? own_start : resolved->second;
    const auto in_sink = stored.entries.find(partition);
    const auto in_state = acknowledged.find(partition);
    if (in_sink != stored.entries.end()) {
      begin.insert_or_assign(partition, in_sink->second);
      expected_.entries.insert_or_assign(partition, in_sink->second);
    } else if (holds_token) {
      begin.insert_or_assign(partition, first);
    } else if (!p_.source->traits().stores_positions && in_state != acknowledged.end()) {
      begin.insert_or_assign(partition, in_state->second);
    } else {
      begin.insert_or_assign(partition, own_start);
    }
    owned_.insert_or_assign(partition, begin[partition]);
  }
  if (p_.state->kept() && !assigned.resolved.empty()) {
    if (auto saved = p_.state->save_starts(assigned.resolved); !saved)
      return failed(code_of(saved.error(), ExitCode::stopped), saved.error());
  }
  if (auto started = p_.source->start_at(begin); !started) {
    return tl::make_unexpected(source_failure(std::move(started).error()));
  }
  p_.stats->set_committed(begin);
  p_.stats->set_read(begin);
  p_.stats->condition.set_assigned();
  return {};
}

void Worker::forget(const std::vector<std::string>& partitions) {
  for (const auto& partition : partitions) {
    owned_.erase(partition);
    expected_.entries.erase(partition);
    p_.stats->forget(partition);
  }
}

// True where the sink only had so long to heal, and that time is over.
bool Worker::too_late(const Failure& failure) const {
  return sink_until_ && p_.clock->now() >= *sink_until_ && !abort_.stop_requested() &&
         sink_can_heal(failure.error.kind);
}

Worker::Step Worker::on_revoked(const std::vector<std::string>& partitions) {
  sink_until_ = p_.clock->now() + p_.source->traits().give_back;
  auto delivered = process();
  if (delivered) delivered = commit();
  forget(partitions);
  if (!delivered && too_late(delivered.error())) {
    log::warn("{} partitions are given back without what was read of them since the last commit: {}", partitions.size(),
              delivered.error().error.message);
    delivered = rewind(expected_);
  }
  sink_until_.reset();
  return delivered;
}

Worker::Step Worker::on_lost(const std::vector<std::string>& partitions) {
  forget(partitions);
  return rewind(expected_);
}

Worker::Step Worker::process() {
  if (batch_.empty()) return {};
  const ErrorPolicy errors(*p_.definition, *p_.stats, p_.dead_letters.get(), groups_);
  auto result = p_.transform->run(batch_);
  if (!result) {
    if (result.error().kind != ErrorKind::sql) {
      return failed(code_of(result.error(), ExitCode::stopped), result.error());
    }
    AQ_STEP(errors.batch_failed(batch_, result.error()));
    result = TransformResult{};
  } else {
    AQ_STEP(errors.messages_failed(batch_, result->failures));
  }
  AQ_STEP(drop_uncommitted());
  failpoint("worker.before_write");
  for (const RecordBatch& rows : result->rows) {
    auto written = sink_call<void>("write", [&] { return p_.sink->write(rows); });
    if (!written) return tl::make_unexpected(std::move(written).error());
    uncommitted_rows_ += static_cast<std::uint64_t>(rows.rows());
    uncommitted_bytes_ += byte_size(rows);
    p_.stats->rows_written += static_cast<std::uint64_t>(rows.rows());
  }
  failpoint("worker.after_write");
  p_.stats->rows_decoded += result->decoded;
  p_.stats->batches += 1;
  for (const auto& [partition, position] : batch_.next()) uncommitted_.insert_or_assign(partition, position);
  if (!first_uncommitted_) first_uncommitted_ = p_.clock->now();
  groups_.processed(batch_);
  batch_.clear();
  show_queue();
  return {};
}

Worker::Step Worker::commit() {
  const bool letters = p_.dead_letters != nullptr && p_.dead_letters->pending() > 0;
  if (uncommitted_.empty() && uncommitted_rows_ == 0 && !letters && !groups_.committable()) {
    first_uncommitted_.reset();
    return {};
  }
  const auto save = [&](const std::string& schema) { return p_.state->save_decoder_schema(schema); };
  if (auto saved = p_.transform->save_changed_schema(save); !saved)
    return failed(code_of(saved.error(), ExitCode::stopped), saved.error());
  // Dead letters first: their messages count as settled once the sink's positions have passed them.
  if (letters) {
    const std::size_t count = p_.dead_letters->pending();
    auto delivered = sink_call<void>("write dead letters", [&] { return p_.dead_letters->deliver(); });
    if (!delivered) return delivered;
    p_.stats->dead_letters += count;
  }
  const Token expected{only(expected_.entries, uncommitted_)};
  const Token next{uncommitted_};
  failpoint("worker.before_commit");
  Backoff backoff(p_.definition->retry, *p_.clock);
  bool again = true;
  while (again) {
    again = false;
    auto answer = sink_call<CommitResult>("commit", [&] { return p_.sink->commit(expected, next); });
    if (!answer) return tl::make_unexpected(std::move(answer).error());
    if (const auto* moved = std::get_if<Moved>(&*answer)) {
      p_.stats->commits_moved += 1;
      log::warn("another instance has committed {} meanwhile: dropping what is uncommitted and going back",
                moved->stored.to_json());
      return rewind(moved->stored);
    }
    if (const auto* unknown = std::get_if<Unknown>(&*answer)) {
      log::warn("sink {}: no clean answer to a commit: {}; looking for its token", p_.definition->sink_name,
                unknown->error.message);
      AQ_STEP(resolve_unknown(expected, next, again));
      if (!again) return {};
      if (!backoff.wait(abort_)) {
        Failure failure = sink_failure(unknown->error);
        if (abort_.stop_requested()) failure.code = ExitCode::drain_incomplete;
        return tl::make_unexpected(std::move(failure));
      }
    }
  }
  failpoint("worker.after_commit");
  return after_commit(next);
}

Worker::Step Worker::resolve_unknown(const Token& expected, const Token& next, bool& again) {
  auto stored = sink_call<Token>("read the stored token", [&] { return p_.sink->stored_token(); });
  if (!stored) return tl::make_unexpected(std::move(stored).error());
  // Without positions no token can tell: rows that come twice are better than none.
  if (next.entries.empty()) {
    again = true;
    return {};
  }
  if (only(stored->entries, next.entries) == next.entries) {
    again = false;
    return after_commit(next);
  }
  if (stored->matches(expected, next)) {
    again = true;
    return {};
  }
  again = false;
  p_.stats->commits_moved += 1;
  return rewind(*stored);
}

Worker::Step Worker::after_commit(const Token& next) {
  for (const auto& [partition, position] : next.entries) expected_.entries.insert_or_assign(partition, position);
  uncommitted_.clear();
  uncommitted_rows_ = 0;
  uncommitted_bytes_ = 0;
  first_uncommitted_.reset();
  p_.stats->commits += 1;
  p_.stats->set_committed(next.entries);
  p_.stats->last_commit = Stats::seconds_now();
  show_queue();
  Acknowledgement done{next.entries, groups_.committed()};
  if (!p_.sink->traits().holds_token && !p_.source->traits().stores_positions && p_.state->kept()) {
    if (auto saved = p_.state->save_acknowledged(next.entries); !saved) {
      // The rows are there all the same: whoever sent them should not send them again.
      if (!done.outcomes.empty()) (void)p_.source->acknowledge({{}, std::move(done.outcomes)});
      return failed(code_of(saved.error(), ExitCode::stopped), saved.error());
    }
  }
  auto acknowledged = p_.source->acknowledge(done);
  if (!acknowledged) {
    // The sink has them: at worst the source gives them again, and the token, if there is one, skips them.
    p_.stats->set_error(acknowledged.error().message);
    log::warn("source {}: cannot store positions: {}", p_.definition->source_name, acknowledged.error().message);
  }
  return {};
}

void Worker::give_up_groups(std::string_view reason) {
  auto outcomes = groups_.give_up(reason);
  if (!outcomes.empty()) (void)p_.source->acknowledge({{}, std::move(outcomes)});
}

Worker::Step Worker::drop_uncommitted() {
  if (!must_drop_) return {};
  AQ_STEP(sink_call<void>("drop what is uncommitted", [&] { return p_.sink->abort(); }));
  must_drop_ = false;
  return {};
}

Worker::Step Worker::rewind(Token stored) {
  give_up_groups("what was read since the last commit is given up, as others may have taken it over");
  batch_.clear();
  uncommitted_.clear();
  uncommitted_rows_ = 0;
  uncommitted_bytes_ = 0;
  first_uncommitted_.reset();
  show_queue();
  if (p_.dead_letters != nullptr) p_.dead_letters->drop();
  must_drop_ = true;
  if (auto dropped = drop_uncommitted(); !dropped && !too_late(dropped.error())) return dropped;
  Positions begin;
  expected_.entries.clear();
  for (const auto& [partition, began] : owned_) {
    const auto found = stored.entries.find(partition);
    if (found != stored.entries.end()) {
      begin.insert_or_assign(partition, found->second);
      expected_.entries.insert_or_assign(partition, found->second);
    } else {
      begin.insert_or_assign(partition, began);
    }
  }
  ended_ = false;
  p_.stats->set_read(begin);
  if (begin.empty()) return {};
  if (!p_.source->traits().replayable) {
    return failed(ExitCode::conflict,
                  make_error(ErrorKind::conflict,
                             "another writer moved the stored token, and the source '{}' can't go back to it",
                             p_.definition->source_name));
  }
  if (auto started = p_.source->start_at(begin); !started) {
    return tl::make_unexpected(source_failure(std::move(started).error()));
  }
  return {};
}

}  // namespace aqueduck::pipeline
