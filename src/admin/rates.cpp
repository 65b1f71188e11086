#include "admin/rates.h"

#include <chrono>

namespace aqueduck::admin {
namespace {

constexpr std::chrono::seconds kLongest{62};
constexpr std::chrono::milliseconds kShortest{1};

double per_second(std::uint64_t before, std::uint64_t after, double seconds) {
  return after > before ? static_cast<double>(after - before) / seconds : 0;
}

}  // namespace

void Rates::add(Clock::Point now, const pipeline::StatsSnapshot& counters) {
  samples_.push_back({now, counters.messages, counters.bytes, counters.rows_written});
  while (samples_.size() > 1 && now - samples_[0].at > kLongest) samples_.pop_front();
}

Rate Rates::over(Duration window, Clock::Point now, const pipeline::StatsSnapshot& counters) const {
  const Sample* from = nullptr;
  for (const Sample& sample : samples_) {
    if (from == nullptr || now - sample.at >= window) from = &sample;
  }
  if (from == nullptr || now - from->at < kShortest) return {};
  const double seconds = std::chrono::duration<double>(now - from->at).count();
  return {per_second(from->messages, counters.messages, seconds), per_second(from->bytes, counters.bytes, seconds),
          per_second(from->rows_written, counters.rows_written, seconds)};
}

}  // namespace aqueduck::admin
