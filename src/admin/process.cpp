#include "admin/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace aqueduck::admin {

Process this_process() {
  Process out;
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  if (std::ifstream statm("/proc/self/statm"); statm >> pages >> resident) {
    out.resident_bytes = resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    for (const timeval& part : {usage.ru_utime, usage.ru_stime}) {
      out.cpu_seconds += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) / 1e6;
    }
  }
  std::error_code failed;
  for (std::filesystem::directory_iterator it("/proc/self/fd", failed), end; !failed && it != end;
       it.increment(failed)) {
    out.open_files += 1;
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) out.max_files = limit.rlim_cur;
  return out;
}

}  // namespace aqueduck::admin
