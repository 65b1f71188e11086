#include "pipeline/groups.h"

#include <iterator>
#include <utility>

namespace aqueduck::pipeline {
namespace {

const std::vector<std::uint64_t>* groups_of(const Chunk& chunk) {
  const auto* messages = std::get_if<Messages>(&chunk.data);
  return messages == nullptr || messages->groups.empty() ? nullptr : &messages->groups;
}

void reject(GroupOutcome& group, std::string_view reason) {
  if (group.outcome == Outcome::rejected) return;
  group.outcome = Outcome::rejected;
  group.reason = reason;
}

}  // namespace

void Groups::arrived(const Chunk& chunk) {
  const auto* groups = groups_of(chunk);
  if (groups == nullptr) return;
  for (const std::uint64_t group : *groups) open_.push_back({group, Outcome::durable, {}});
}

void Groups::reject(const Batch& batch, std::uint64_t message, std::string_view reason) {
  if (open_.empty()) return;
  std::size_t at = processed_;
  for (const Chunk& chunk : batch.chunks()) {
    const auto* messages = std::get_if<Messages>(&chunk.data);
    if (messages == nullptr) return;
    if (message < messages->items.size()) {
      const std::uint32_t group = messages->items[message].group;
      if (group < messages->groups.size()) pipeline::reject(open_[at + group], reason);
      return;
    }
    message -= messages->items.size();
    at += messages->groups.size();
  }
}

void Groups::reject_all(const Batch& batch, std::string_view reason) {
  if (open_.empty()) return;
  std::size_t at = processed_;
  for (const Chunk& chunk : batch.chunks()) {
    const auto* groups = groups_of(chunk);
    for (std::size_t i = 0; groups != nullptr && i < groups->size(); ++i) pipeline::reject(open_[at++], reason);
  }
}

void Groups::processed(const Batch& batch) {
  if (open_.empty()) return;
  for (const Chunk& chunk : batch.chunks()) {
    if (const auto* groups = groups_of(chunk)) processed_ += groups->size();
  }
}

std::vector<GroupOutcome> Groups::committed() {
  if (processed_ == 0) return {};
  const auto end = open_.begin() + static_cast<std::ptrdiff_t>(std::exchange(processed_, 0));
  std::vector<GroupOutcome> out(std::make_move_iterator(open_.begin()), std::make_move_iterator(end));
  open_.erase(open_.begin(), end);
  return out;
}

std::vector<GroupOutcome> Groups::give_up(std::string_view reason) {
  processed_ = 0;
  for (GroupOutcome& group : open_) {
    group.outcome = Outcome::failed;
    group.reason = reason;
  }
  return std::exchange(open_, {});
}

}  // namespace aqueduck::pipeline
