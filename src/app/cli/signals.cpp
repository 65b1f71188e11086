#include "app/cli/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

#include "base/log.h"

namespace aqueduck::app {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

StopSignals::StopSignals(std::function<void()> stop, int exit_code) {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  (void)std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is a full disk
  thread_ = std::jthread([stop = std::move(stop), exit_code](const std::stop_token& end) {
    const sigset_t waited = stop_signals();
    bool asked = false;
    while (!end.stop_requested()) {
      const timespec tick{0, 50'000'000};
      if (sigtimedwait(&waited, nullptr, &tick) < 0) continue;
      if (asked) ::_exit(exit_code);
      asked = true;
      stop();
      log::write_unless_blocked(log::Level::info, "stopping: delivering what was read; another signal ends at once");
    }
  });
}

StopSignals::~StopSignals() = default;

}  // namespace aqueduck::app
