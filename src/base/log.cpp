#include "base/log.h"

#include <fmt/chrono.h>
#include <poll.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <ctime>

#include "base/secret.h"

namespace aqueduck::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::trace:
      return spdlog::level::trace;
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warn:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

Format active_format = Format::text;

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto created =
        std::make_shared<spdlog::logger>("aqueduck", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    created->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
    return created;
  }();
  return *instance;
}

std::string json_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

void configure(Level level, Format format) {
  active_format = format;
  logger().set_level(to_spdlog(level));
  if (format == Format::json) logger().set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","message":"%v"})");
}

Result<Level> parse_level(std::string_view text) {
  if (text == "trace") return Level::trace;
  if (text == "debug") return Level::debug;
  if (text == "info") return Level::info;
  if (text == "warn") return Level::warn;
  if (text == "error") return Level::error;
  if (text == "off") return Level::off;
  return fail(ErrorKind::config, "'{}' is not a log level; use trace, debug, info, warn, error or off", text);
}

bool enabled(Level level) { return logger().should_log(to_spdlog(level)); }

void write(Level level, std::string_view message) {
  std::string safe = redact(message);
  if (active_format == Format::json) safe = json_escaped(safe);
  logger().log(to_spdlog(level), spdlog::string_view_t(safe.data(), safe.size()));
}

void write_unless_blocked(Level level, std::string_view message) {
  if (!enabled(level)) return;
  pollfd ready{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return;
  const std::string safe = redact(message);
  tm now{};
  const std::time_t seconds = std::time(nullptr);
  localtime_r(&seconds, &now);
  const auto name = spdlog::level::to_string_view(to_spdlog(level));
  const std::string_view word(name.data(), name.size());
  const std::string line =
      active_format == Format::json
          ? fmt::format("{{\"time\":\"{:%Y-%m-%dT%H:%M:%S%z}\",\"level\":\"{}\",\"message\":\"{}\"}}\n", now, word,
                        json_escaped(safe))
          : fmt::format("{:%Y-%m-%dT%H:%M:%S} {} {}\n", now, word, safe);
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace aqueduck::log
