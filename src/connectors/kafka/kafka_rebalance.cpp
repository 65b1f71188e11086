// What the group decides, and taking and giving back partitions.
#include <algorithm>
#include <thread>
#include <utility>

#include "base/log.h"
#include "connectors/kafka/kafka_callbacks.h"
#include "connectors/kafka/kafka_list.h"

namespace aqueduck {

namespace {

constexpr std::chrono::milliseconds kSeekLimit{5000};
constexpr std::chrono::milliseconds kHandOver{5000};  // for storing the offsets of what is given back
constexpr std::chrono::milliseconds kBetweenStores{50};

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

void KafkaSource::on_rebalance(rd_kafka_s* client, int code, rd_kafka_topic_partition_list_s* partitions,
                               void* opaque) {
  KafkaSource* self = static_cast<KafkaCallbacks*>(static_cast<KafkaHealth*>(opaque))->source;
  auto all = partitions_of(partitions);
  if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS && !self->closing_) {
    self->assigned_.push_back(std::move(all));
    return;
  }
  auto told = self->withdraw(all);
  const bool lost = code != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS || rd_kafka_assignment_lost(client) != 0;
  if (!lost && !self->closing_ && !told.empty()) {
    self->revoked_.push_back({std::move(all), std::move(told), std::chrono::steady_clock::now()});
    return;
  }
  if (lost && !self->closing_) {
    log::warn("kafka: lost {} partitions: the group has given them to others, or will", all.size());
    if (!told.empty()) self->lost_.push_back(std::move(told));
  }
  self->give_back(all);
}

/// Forgets what was planned with these partitions; returns the names of those that the worker knows as its own.
std::vector<std::string> KafkaSource::withdraw(const std::vector<KafkaPartition>& partitions) {
  const std::set<KafkaPartition> gone(partitions.begin(), partitions.end());
  const auto is_gone = [&](const KafkaPartition& partition) { return gone.contains(partition); };
  std::set<std::string> leaving;  // the worker was told already, or is about to be
  for (const auto& partition : giving_back_) leaving.insert(partition.name());
  for (auto& revocation : revoked_) leaving.insert(revocation.told.begin(), revocation.told.end());
  std::vector<std::string> told;
  for (const auto& partition : gone) {
    const bool known = owned_.contains(partition) || told_.contains(partition) || beginning_.contains(partition);
    if (known && !leaving.contains(partition.name())) told.push_back(partition.name());
    told_.erase(partition);
    // One that is to go back keeps waiting, so that nothing of it is read from the old place.
    if (!owned_.contains(partition)) beginning_.erase(partition);
  }
  for (auto& waiting : assigned_) std::erase_if(waiting, is_gone);
  std::erase_if(assigned_, [](const auto& waiting) { return waiting.empty(); });
  return told;
}

/// Answers a rebalance. Names only what was taken: librdkafka refuses the whole answer otherwise.
void KafkaSource::give_back(const std::vector<KafkaPartition>& partitions) {
  const List list = new_list(partitions.size());
  for (const auto& partition : partitions) {
    if (owned_.contains(partition)) add(list, partition);
  }
  if (auto done = checked(rd_kafka_incremental_unassign(client_.get(), list.get()), "cannot give partitions back");
      !done)
    log::warn("kafka: {}", done.error().message);
  for (const auto& partition : partitions) {
    beginning_.erase(partition);
    unstored_.erase(partition);
  }
  const std::lock_guard lock(mutex_);
  for (const auto& partition : partitions) owned_.erase(partition);
}

/// The worker has committed what it had of revoked partitions. The next owner begins at the group's offsets: what the
/// group didn't take so far, because it was just sharing out its partitions, is stored now.
void KafkaSource::hand_over() {
  const auto until = std::chrono::steady_clock::now() + kHandOver;
  while (true) {
    Offsets due;
    for (const auto& partition : giving_back_) {
      if (const auto found = unstored_.find(partition); found != unstored_.end()) due.insert(*found);
    }
    if (due.empty() || rd_kafka_assignment_lost(client_.get()) != 0) break;
    const int code = store(due);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      log::debug("kafka: stored the offsets of {} partitions before giving them back", due.size());
      break;
    }
    const bool final = code == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID || code == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID;
    if (final || std::chrono::steady_clock::now() >= until) {
      std::vector<std::string> names;
      for (const auto& [partition, offset] : due) names.push_back(partition.name());
      log::warn("{}: who takes {} over may read some messages again",
                kafka_error(code, "kafka: cannot store the offsets of the group").message, joined(names));
      break;
    }
    std::this_thread::sleep_for(kBetweenStores);
  }
  give_back(giving_back_);
  giving_back_.clear();
}

/// What must be told before anything else is read.
std::optional<SourceEvent> KafkaSource::next_event() {
  if (!lost_.empty()) {
    Lost lost{std::move(lost_.front())};
    lost_.pop_front();
    return lost;
  }
  if (!revoked_.empty()) {
    Revoked revoked{std::move(revoked_.front().told)};
    giving_back_ = std::move(revoked_.front().all);
    revoked_.pop_front();
    return revoked;
  }
  return std::nullopt;
}

/// Goes on with what waits for a broker; what can't be done just now stays and is tried again later.
Result<std::optional<SourceEvent>> KafkaSource::settle() {
  if (storing_.due() && !unstored_.empty()) store_acknowledged();
  if (!settling_.due()) return std::nullopt;
  auto done = [&]() -> Result<std::optional<SourceEvent>> {
    AQ_TRY(begin());
    if (!jumped_.empty()) return SourceEvent(Chunk{Messages{}, std::exchange(jumped_, {})});
    AQ_TRY(find_new());
    return announce();
  }();
  if (done) {
    settling_.succeeded();
    trouble_.reset();
    return done;
  }
  if (done.error().kind != ErrorKind::unavailable) return done;
  settling_.failed();
  if (!trouble_ || trouble_->message != done.error().message) {
    log::warn("kafka: {}; partitions wait, trying again", done.error().message);
  }
  trouble_ = std::move(done).error();
  return std::nullopt;
}

Result<std::optional<SourceEvent>> KafkaSource::announce() {
  if (assigned_.empty()) return std::nullopt;
  if (assigned_.front().empty()) {
    // Answered all the same: the group waits for it.
    const List none = new_list(0);
    assigned_.pop_front();
    AQ_TRY(checked(rd_kafka_incremental_assign(client_.get(), none.get()), "cannot take partitions"));
    return std::nullopt;
  }
  AQ_ASSIGN(SourceEvent event, assigned_event(assigned_.front()));
  assigned_.pop_front();
  return event;
}

/// Takes the partitions that the worker has answered for, all in one call as the group expects it, and goes back in
/// those that are ours. Over a gap it goes by a chunk without messages: once that is committed, a restart doesn't meet
/// the gap again, which by then may reach further.
Result<void> KafkaSource::begin() {
  if (beginning_.empty()) return {};
  Offsets fresh;
  Offsets back;
  Positions jumped;
  for (const auto& [partition, offset] : beginning_) {
    AQ_ASSIGN(const std::int64_t at, within(partition, offset));
    if (at != offset) jumped.emplace(partition.name(), std::to_string(at));
    (owned_.contains(partition) ? back : fresh).emplace(partition, at);
  }
  if (!back.empty()) AQ_TRY(go_back(back));
  if (!fresh.empty()) {
    const List list = list_of(fresh);
    AQ_TRY(checked(rd_kafka_incremental_assign(client_.get(), list.get()), "cannot take partitions"));
  }
  jumped_ = std::move(jumped);
  const std::lock_guard lock(mutex_);
  for (const auto* offsets : {&fresh, &back}) {
    for (const auto& [partition, offset] : *offsets) {
      owned_[partition].at = offset;
      owned_[partition].delivered = false;
    }
  }
  beginning_.clear();
  return {};
}

Result<void> KafkaSource::go_back(const Offsets& offsets) {
  const List list = list_of(offsets);
  AQ_TRY(checked(rd_kafka_seek_partitions(client_.get(), list.get(), static_cast<int>(kSeekLimit.count())),
                 "cannot go back"));
  Offsets stopped;
  for (int i = 0; i < list->cnt; ++i) {
    const auto& answer = list->elems[i];
    if (answer.err == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    // Fetching has ended there, at a gap: it begins anew.
    if (answer.err != RD_KAFKA_RESP_ERR__STATE) return fail(kafka_error(answer.err, "cannot go back"));
    const KafkaPartition partition{answer.topic, answer.partition};
    stopped.emplace(partition, offsets.at(partition));
  }
  if (stopped.empty()) return {};
  const List again = list_of(stopped);
  AQ_TRY(checked(rd_kafka_incremental_unassign(client_.get(), again.get()), "cannot go back"));
  return checked(rd_kafka_incremental_assign(client_.get(), list_of(stopped).get()), "cannot go back");
}

}  // namespace aqueduck
