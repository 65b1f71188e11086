#include "golden/memory_source.h"

#include <algorithm>
#include <charconv>

#include "columnar/slice.h"

namespace aqueduck::golden {
namespace {

constexpr char kPartition[] = "input";

}  // namespace

SourceTraits MemorySource::traits() const {
  SourceTraits traits;
  traits.finite = true;
  traits.replayable = true;
  traits.total = count_;
  return traits;
}

Result<void> MemorySource::open() {
  next_ = 0;
  step_ = 0;
  assigned_ = false;
  return {};
}

Result<Positions> MemorySource::position() { return Positions{{kPartition, std::to_string(count_)}}; }

Result<void> MemorySource::start_at(const Positions& positions) {
  const auto found = positions.find(kPartition);
  const std::string text = found == positions.end() ? "0" : found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), next_);
  if (error != std::errc() || end != text.data() + text.size() || next_ > count_) {
    return fail(ErrorKind::conflict, "the stored position '{}' is not in an input of {} messages", text, count_);
  }
  step_ = 0;
  while (step_ < steps_.size() && next_ > 0 && steps_[step_].messages.value <= next_) ++step_;
  return {};
}

Result<SourceEvent> MemorySource::read(const ReadLimits& limits) {
  if (!assigned_) {
    assigned_ = true;
    const Positions start{{kPartition, "0"}};
    return Assigned{start, start};
  }
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
  out.partitions.emplace_back(kPartition);
  out.items.push_back(message);
  out.bytes = message.payload.size() + message.key.size();
  return {std::move(out), {{kPartition, std::to_string(next_)}}};
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
  return {std::move(rows), {{kPartition, std::to_string(next_)}}};
}

}  // namespace aqueduck::golden
