#include "connectors/stdin/stdin_source.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace aqueduck {

namespace {

constexpr std::chrono::milliseconds kStopInterval{50};

LineRules rules_of(const StdinConfig& config) {
  LineRules rules;
  rules.quoted_breaks = config.format == StdinFormat::csv;
  rules.skip_empty = config.format != StdinFormat::lines;
  rules.max_line = config.max_line;
  return rules;
}

/// False where the time is over first.
Result<bool> wait_readable(int descriptor, std::chrono::steady_clock::time_point time) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - std::chrono::steady_clock::now());
  pollfd entry{descriptor, POLLIN, 0};
  const int ready = ::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
  if (ready < 0 && errno != EINTR) return fail(ErrorKind::io, "cannot read stdin: {}", std::strerror(errno));
  return ready > 0;
}

}  // namespace

StdinSource::StdinSource(StdinConfig config, bool mine)
    : config_(config), lines_("stdin", rules_of(config)), ended_(!mine) {}

SourceTraits StdinSource::traits() const {
  SourceTraits traits;
  traits.finite = true;
  return traits;
}

Result<SourceEvent> StdinSource::read(const ReadLimits& limits) {
  if (closed_) return fail(ErrorKind::internal, "stdin is not open");
  for (;;) {
    AQ_ASSIGN(Messages messages, lines_.take(ended_, limits.max_messages));
    if (!messages.items.empty()) {
      Chunk chunk;
      chunk.data = std::move(messages);
      return chunk;
    }
    if (ended_) return End{};
    if (limits.stop.stop_requested()) return Idle{};
    const auto now = std::chrono::steady_clock::now();
    AQ_ASSIGN(const bool ready, wait_readable(config_.descriptor, std::min(limits.deadline, now + kStopInterval)));
    if (!ready) {
      if (now >= limits.deadline) return Idle{};
      continue;
    }
    const std::span<char> space = lines_.space();
    const ssize_t got = ::read(config_.descriptor, space.data(), space.size());
    if (got < 0 && errno != EINTR && errno != EAGAIN) {
      return fail(ErrorKind::io, "cannot read stdin: {}", std::strerror(errno));
    }
    if (got > 0) {
      lines_.filled(static_cast<std::size_t>(got));
      progress_ += static_cast<std::uint64_t>(got);
    }
    ended_ = got == 0;
  }
}

}  // namespace aqueduck
