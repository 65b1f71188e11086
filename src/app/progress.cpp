#include "app/progress.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "base/quantity.h"

namespace aqueduck::app {

namespace {

std::string left(double seconds) {
  return fmt::format(", {} left", format_duration(std::chrono::seconds(std::llround(seconds))));
}

/// Of all partitions; none where it isn't known of each.
std::optional<std::uint64_t> lag_of(const pipeline::StatsSnapshot& now) {
  std::optional<std::uint64_t> sum;
  for (const auto& [name, partition] : now.partitions) {
    if (!partition.lag) return std::nullopt;
    sum = sum.value_or(0) + *partition.lag;
  }
  return sum;
}

}  // namespace

std::string ProgressLine::next(const pipeline::StatsSnapshot& now, double seconds) {
  const double passed = std::max(seconds - seconds_, 0.001);
  const double rate = static_cast<double>(now.messages - messages_) / passed;
  std::string line = fmt::format("{}: {} messages, {}/s", name_, format_count(now.messages),
                                 format_count(static_cast<std::uint64_t>(std::max(0.0, std::round(rate)))));
  const auto lag = lag_of(now);
  if (now.total > 0) {
    const double share = std::min(1.0, static_cast<double>(now.progress) / static_cast<double>(now.total));
    line += fmt::format(", {:.0f} %", std::floor(share * 100));
    if (share > 0.01 && share < 1) line += left(seconds / share - seconds);
  } else if (lag) {
    line += fmt::format(", {} behind", format_count(*lag));
    if (lag_) {
      const double closed = (static_cast<double>(*lag_) - static_cast<double>(*lag)) / passed;
      closing_ = closing_ == 0 ? closed : 0.7 * closing_ + 0.3 * closed;
      if (*lag > 0 && closing_ >= 1) line += left(static_cast<double>(*lag) / closing_);
    }
  }
  seconds_ = seconds;
  messages_ = now.messages;
  lag_ = lag;
  return line;
}

Progress::Progress(ProgressFeed feed, std::string name) {
  if (::isatty(STDERR_FILENO) == 0) return;
  thread_ = std::jthread([feed = std::move(feed), name = std::move(name)](const std::stop_token& end) {
    using Seconds = std::chrono::duration<double>;
    const auto started = std::chrono::steady_clock::now();
    std::mutex mutex;
    std::condition_variable_any changed;
    ProgressLine line(name);
    bool shown = false;
    while (true) {
      {
        std::unique_lock lock(mutex);
        changed.wait_for(lock, end, std::chrono::seconds(1), [] { return false; });
      }
      if (end.stop_requested()) break;
      auto now = feed.snapshot();
      if (now.total == 0) {
        if (const auto ends = feed.end_positions()) pipeline::set_ends(now, *ends);
      }
      const double seconds = Seconds(std::chrono::steady_clock::now() - started).count();
      std::fprintf(stderr, "\r\033[K%s", line.next(now, seconds).c_str());
      shown = true;
    }
    if (shown) std::fputs("\r\033[K", stderr);
  });
}

Progress::~Progress() = default;

}  // namespace aqueduck::app
