#include "app/progress.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "base/quantity.h"

namespace aqueduck::app {

std::string progress_line(const std::string& name, std::uint64_t messages, double rate, std::uint64_t progress,
                          std::uint64_t total, double seconds) {
  std::string line = fmt::format("{}: {} messages, {}/s", name, format_count(messages),
                                 format_count(static_cast<std::uint64_t>(std::max(0.0, std::round(rate)))));
  if (total > 0) {
    const double share = std::min(1.0, static_cast<double>(progress) / static_cast<double>(total));
    line += fmt::format(", {:.0f} %", std::floor(share * 100));
    if (share > 0.01 && share < 1) {
      const double left = seconds / share - seconds;
      line += fmt::format(", {} left", format_duration(std::chrono::seconds(std::llround(left))));
    }
  }
  return line;
}

Progress::Progress(const pipeline::Stats& stats, std::string name) {
  if (::isatty(STDERR_FILENO) == 0) return;
  thread_ = std::jthread([&stats, name = std::move(name)](const std::stop_token& end) {
    using Seconds = std::chrono::duration<double>;
    const auto started = std::chrono::steady_clock::now();
    std::mutex mutex;
    std::condition_variable_any changed;
    std::uint64_t before = 0;
    bool shown = false;
    while (true) {
      {
        std::unique_lock lock(mutex);
        changed.wait_for(lock, end, std::chrono::seconds(1), [] { return false; });
      }
      if (end.stop_requested()) break;
      const std::uint64_t messages = stats.messages.load();
      const double seconds = Seconds(std::chrono::steady_clock::now() - started).count();
      const std::string line = progress_line(name, messages, static_cast<double>(messages - before),
                                             stats.progress.load(), stats.total.load(), seconds);
      before = messages;
      std::fprintf(stderr, "\r\033[K%s", line.c_str());
      shown = true;
    }
    if (shown) std::fputs("\r\033[K", stderr);
  });
}

Progress::~Progress() = default;

}  // namespace aqueduck::app
