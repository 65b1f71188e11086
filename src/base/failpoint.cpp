#include "base/failpoint.h"

#include <csignal>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace aqueduck {
namespace {

struct Action {
  int signal = SIGKILL;
  long left = 1;
};

class Failpoints {
 public:
  Failpoints() {
    const char* text = std::getenv("AQUEDUCK_FAILPOINTS");  // NOLINT(concurrency-mt-unsafe)
    if (text == nullptr) return;
    std::string_view rest(text);
    while (!rest.empty()) {
      const std::string_view item = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), item.size() + 1));
      const auto equals = item.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view what = item.substr(equals + 1);
      const auto at = what.find('@');
      Action action;
      action.signal = what.substr(0, at) == "stop" ? SIGSTOP : SIGKILL;
      if (at != std::string_view::npos)
        action.left = std::strtol(std::string(what.substr(at + 1)).c_str(), nullptr, 10);
      actions_.insert_or_assign(std::string(item.substr(0, equals)), action);
    }
  }
  bool armed() const { return !actions_.empty(); }
  void pass(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto found = actions_.find(name);
    if (found == actions_.end() || found->second.left <= 0) return;
    if (--found->second.left == 0) (void)std::raise(found->second.signal);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Action, std::less<>> actions_;
};

Failpoints& failpoints() {
  static Failpoints instance;
  return instance;
}
const bool kArmed = failpoints().armed();

}  // namespace

void failpoint(std::string_view name) {
  if (kArmed) failpoints().pass(name);
}

}  // namespace aqueduck
