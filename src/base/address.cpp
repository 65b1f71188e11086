#include "base/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace aqueduck {
namespace {

constexpr std::size_t kLongestHost = 253;

bool parse_port(std::string_view text, std::uint16_t& port) {
  const auto read = std::from_chars(text.begin(), text.end(), port);
  return text.size() <= 5 && read.ec == std::errc() && read.ptr == text.end();
}

bool numeric_v6(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool plausible_name(std::string_view host) {
  return !host.empty() && host.size() <= kLongestHost && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  });
}

tl::unexpected<Error> refuse(std::string_view text, std::string_view why) {
  return fail(ErrorKind::config,
              "'{}' is not an address to listen on: {}; use host:port, like 127.0.0.1:8080, [::1]:8080 or 0.0.0.0:8080",
              text, why);
}

}  // namespace

std::string Address::to_string() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

bool Address::loopback() const {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == 127;
  if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return host == "localhost";
}

Result<Address> parse_address(std::string_view text) {
  Address out;
  if (parse_port(text, out.port)) {
    out.host = "127.0.0.1";
    return out;
  }
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse(text, "it has no port");
  if (!parse_port(text.substr(colon + 1), out.port)) {
    return refuse(text, fmt::format("'{}' is no port from 0 to 65535", text.substr(colon + 1)));
  }
  const std::string_view host = text.substr(0, colon);
  if (host.empty()) return refuse(text, "it names no host");
  if (host.front() == '[' && host.back() == ']') {
    out.host = host.substr(1, host.size() - 2);
    if (!numeric_v6(out.host)) return refuse(text, fmt::format("'{}' is no IPv6 address", out.host));
    return out;
  }
  out.host = host;
  if (numeric_v6(out.host)) return refuse(text, "an IPv6 address stands in brackets");
  if (!plausible_name(host)) return refuse(text, fmt::format("'{}' is no host", host));
  return out;
}

}  // namespace aqueduck
