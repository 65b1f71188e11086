#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aqueduck::net {

using Headers = std::vector<std::pair<std::string, std::string>>;  ///< in the order on the wire

/// A request, whole and within the server's limits. A plain value.
struct Request {
  std::string method;                                      ///< "GET"
  std::string target;                                      ///< as it was sent
  std::string path;                                        ///< of the target, decoded; begins with '/'
  std::vector<std::pair<std::string, std::string>> query;  ///< of the target, decoded, in order
  Headers headers;
  std::string body;
  std::string peer;  ///< "127.0.0.1:43210"

  /// The first header of that name, in any case of letters; null if there is none.
  const std::string* header(std::string_view name) const;
};

/// The server adds Content-Length, Date and Connection, and leaves the body out where the method is HEAD.
struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  Headers headers;
  std::string body;
};

}  // namespace aqueduck::net
