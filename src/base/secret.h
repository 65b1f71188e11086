#pragma once

#include <string>
#include <string_view>

namespace aqueduck {

/// A value that must never be shown: a password, a token, a key. Every non-trivial one is remembered process-wide from
/// construction on, so that redact() finds it in texts that others made (a driver's error, a SQL message).
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value);

  /// The value itself. Call it only where it is handed to the peer.
  const std::string& reveal() const { return value_; }
  bool empty() const { return value_.empty(); }

 private:
  std::string value_;
};

/// Remembers a secret that never was a Secret (an environment variable spliced into a connection string). Values of
/// fewer than four bytes are not remembered: replacing them would garble every text. Thread-safe.
void remember_secret(std::string_view value);

/// The text with every remembered secret replaced by "***". Thread-safe.
std::string redact(std::string_view text);

}  // namespace aqueduck
