#include "golden/memory_source.h"

#include <algorithm>
#include <charconv>

#include "columnar/slice.h"

namespace aqueduck::golden {

MemorySource::MemorySource(const Input& input, std::vector<ClockStep> steps, FakeClock& clock, Positions* group)
    : input_(input),
      steps_(std::move(steps)),
      clock_(clock),
      group_(group),
      count_(input.size()),
      partitions_(input.partitions.size()) {
  if (input.gives_rows) partitions_.front().end = static_cast<std::int64_t>(count_);
  std::vector<bool> seen(partitions_.size());
  for (const Message& message : input.messages) {
    Partition& partition = partitions_[message.partition];
    if (!seen[message.partition]) partition.first = partition.start = message.offset;
    seen[message.partition] = true;
    partition.end = message.offset + 1;
  }
}

SourceTraits MemorySource::traits() const {
  SourceTraits traits;
  traits.finite = true;
  traits.replayable = true;
  traits.stores_positions = group_ != nullptr;
  traits.total = count_;
  return traits;
}

Result<void> MemorySource::open() {
  next_ = 0;
  step_ = 0;
  phase_ = Phase::opened;
  return {};
}

Positions MemorySource::positions(std::int64_t Partition::* which) const {
  Positions out;
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    out.emplace(input_.partitions[i], std::to_string(partitions_[i].*which));
  }
  return out;
}

Result<Positions> MemorySource::position() { return positions(&Partition::end); }

Result<void> MemorySource::acknowledge(const Acknowledgement& acknowledgement) {
  if (group_ == nullptr) return {};
  for (const auto& [partition, position] : acknowledgement.positions) group_->insert_or_assign(partition, position);
  return {};
}

Result<void> MemorySource::start_at(const Positions& positions) {
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    Partition& partition = partitions_[i];
    partition.start = partition.first;
    const auto found = positions.find(input_.partitions[i]);
    if (found == positions.end()) continue;
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), partition.start);
    const bool number = error == std::errc() && end == text.data() + text.size();
    if (!number || partition.start < 0 || partition.start > partition.end) {
      return fail(ErrorKind::conflict, "the stored position '{}' of '{}' is not in the case's input, which ends at {}",
                  text, input_.partitions[i], partition.end);
    }
  }
  next_ = input_.gives_rows ? static_cast<std::uint64_t>(partitions_.front().start) : 0;
  skip();
  step_ = 0;
  while (step_ < steps_.size() && next_ > 0 && steps_[step_].messages.value <= next_) ++step_;
  phase_ = Phase::reading;
  return {};
}

void MemorySource::skip() {
  if (input_.gives_rows) return;
  while (next_ < count_ && input_.messages[next_].offset < partitions_[input_.messages[next_].partition].start) ++next_;
}

Result<SourceEvent> MemorySource::read(const ReadLimits& limits) {
  if (phase_ == Phase::opened) {
    phase_ = Phase::assigned;
    Assigned event;
    event.start = event.resolved = positions(&Partition::first);
    if (group_ != nullptr) {
      for (const auto& [partition, position] : *group_) event.start.insert_or_assign(partition, position);
    }
    return event;
  }
  if (phase_ != Phase::reading) return Idle{};
  skip();
  if (step_ < steps_.size() && steps_[step_].messages.value <= next_) {
    clock_.advance(steps_[step_].advance);
    ++step_;
    return Idle{};
  }
  if (next_ == count_) return End{};
  if (!input_.gives_rows) return take_message();
  std::uint64_t count = std::min<std::uint64_t>(limits.max_messages, count_ - next_);
  if (step_ < steps_.size()) count = std::min(count, steps_[step_].messages.value - next_);
  return take_rows(count);
}

// One a read, so that a batch ends at the same message whatever ends it, and after a restart, too.
Chunk MemorySource::take_message() {
  const Message& message = input_.messages[next_++];
  Messages out;
  out.partitions = input_.partitions;
  out.items.push_back(message);
  out.bytes = message.payload.size() + message.key.size();
  return {std::move(out), {{input_.partitions[message.partition], std::to_string(message.offset + 1)}}};
}

Chunk MemorySource::take_rows(std::uint64_t count) {
  std::uint64_t before = 0;
  std::size_t i = 0;
  while (before + static_cast<std::uint64_t>(input_.rows[i].rows()) <= next_) {
    before += static_cast<std::uint64_t>(input_.rows[i++].rows());
  }
  const auto from = static_cast<std::int64_t>(next_ - before);
  RecordBatch rows = slice(input_.rows[i], from, from + static_cast<std::int64_t>(count));
  next_ += static_cast<std::uint64_t>(rows.rows());
  return {std::move(rows), {{input_.partitions.front(), std::to_string(next_)}}};
}

}  // namespace aqueduck::golden
