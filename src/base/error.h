#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace aqueduck {

/// What the caller should do about an error, not where it came from.
enum class ErrorKind {
  config,       ///< The user must change a file, an option or the environment. Exit code 10.
  unavailable,  ///< A peer can't be reached or is overloaded: try again later.
  denied,       ///< A peer refused for good (credentials, permissions): trying again won't help.
  decode,       ///< One message can't be decoded; others can.
  sql,          ///< A statement failed on the rows it got.
  io,           ///< A local file or device failed.
  limit,        ///< A configured or physical limit was reached (memory, disk, size).
  conflict,     ///< Stored state contradicts itself, the source or another writer. Exit code 14.
  cancelled,    ///< Asked to stop.
  internal,     ///< A fault of Aqueduck's own.
};

/// Lower-case word for logs and metrics: "config", "unavailable", …
std::string_view name(ErrorKind kind);

/// An error as a value. `message` is for people: it names the offending value and what to do, and holds no secret.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
};

template <typename... Args>
Error make_error(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return Error{kind, fmt::format(format, std::forward<Args>(args)...)};
}

/// Puts "context: " before the message, for errors that pass through a caller who knows more.
Error with_context(Error error, std::string_view context);

}  // namespace aqueduck
