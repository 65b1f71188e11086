#pragma once

#include <cstdint>

namespace aqueduck::admin {

/// What the kernel says of this process; 0 where it doesn't.
struct Process {
  std::uint64_t resident_bytes = 0;
  double cpu_seconds = 0;
  std::uint64_t open_files = 0;
  std::uint64_t max_files = 0;
};

Process this_process();

}  // namespace aqueduck::admin
