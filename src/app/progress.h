#pragma once

#include <string>
#include <thread>

#include "pipeline/stats.h"

namespace aqueduck::app {

/// A line on stderr that follows a running pipeline: messages, rate, how far and how long still. Only where stderr is
/// a terminal, and not before the first second.
class Progress {
 public:
  Progress(const pipeline::Stats& stats, std::string name);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  std::jthread thread_;
};

/// The line: "events: 1_200_000 messages, 250_000/s, 40 %, 5s left".
std::string progress_line(const std::string& name, std::uint64_t messages, double rate, std::uint64_t progress,
                          std::uint64_t total, double seconds);

}  // namespace aqueduck::app
