#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace aqueduck {

/// Where something listens, or can be reached: a host name or a numeric address, and a port.
struct Address {
  std::string host;  ///< "127.0.0.1", "::1" (without brackets), "localhost"
  std::uint16_t port = 0;

  /// "127.0.0.1:8080", "[::1]:8080".
  std::string to_string() const;
  /// True if only this machine can reach it: 127.0.0.0/8, ::1, localhost.
  bool loopback() const;
};

/// Reads "127.0.0.1:8080", "[::1]:8080", "example.org:8080"; a bare port is one of 127.0.0.1. Errors of kind config
/// name the text and say what is expected.
Result<Address> parse_address(std::string_view text);

}  // namespace aqueduck
