#include "pipeline/read_quota.h"

#include <algorithm>

namespace aqueduck::pipeline {

std::uint64_t ReadQuota::reserve(std::uint64_t wanted) {
  if (!limits_.max_messages) return wanted;
  const std::lock_guard lock(mutex_);
  const std::uint64_t taken = read_ + reserved_;
  const std::uint64_t left = *limits_.max_messages - std::min(*limits_.max_messages, taken);
  // A share only: a worker whose partitions are silent must not keep the others from reading.
  const std::uint64_t got = std::min(wanted, (left + workers_ - 1) / workers_);
  reserved_ += got;
  return got;
}

void ReadQuota::settle(std::uint64_t reserved, std::uint64_t read, Clock::Point now) {
  if (!limits_.max_messages && !limits_.until_idle) return;
  const std::lock_guard lock(mutex_);
  if (limits_.max_messages) reserved_ -= reserved;
  read_ += read;
  if (read > 0) last_arrival_ = std::max(last_arrival_, now);
}

bool ReadQuota::over(Clock::Point now) const {
  if (!limits_.max_messages && !limits_.until_idle) return false;
  const std::lock_guard lock(mutex_);
  if (limits_.max_messages && read_ >= *limits_.max_messages) return true;
  return limits_.until_idle && now - last_arrival_ >= *limits_.until_idle;
}

}  // namespace aqueduck::pipeline
