#pragma once

#include <fmt/core.h>

#include <string_view>

#include "base/result.h"

/// Logging: to stderr only (stdout carries data only), thread-safe, and every line passes through redact().
namespace aqueduck::log {

enum class Level { trace, debug, info, warn, error, off };
enum class Format { text, json };

/// Call once, before other threads start. Default: info, text.
void configure(Level level, Format format);
/// "trace", "debug", "info", "warn", "error", "off"; an error of kind config otherwise.
Result<Level> parse_level(std::string_view text);
bool enabled(Level level);
void write(Level level, std::string_view message);
/// The same for threads that must never wait, while others may be blocked in a line of theirs: takes no lock, and
/// writes nothing where stderr doesn't take the line at once.
void write_unless_blocked(Level level, std::string_view message);

template <typename... Args>
void log(Level level, fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(level)) write(level, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  log(Level::debug, format, std::forward<Args>(args)...);
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  log(Level::info, format, std::forward<Args>(args)...);
}
template <typename... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  log(Level::warn, format, std::forward<Args>(args)...);
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  log(Level::error, format, std::forward<Args>(args)...);
}

}  // namespace aqueduck::log
