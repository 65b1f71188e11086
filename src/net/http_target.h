#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace aqueduck::net {

/// What a request asks for, taken apart.
struct Target {
  std::string path;                                        ///< percent-decoded; begins with '/'
  std::vector<std::pair<std::string, std::string>> query;  ///< percent-decoded, '+' is a space; in order
};

/// Reads "/path?key=value&flag" and "http://host/path?…". Kind decode: anything else, an escape that is none, a control
/// character in the path.
Result<Target> parse_target(std::string_view text);

}  // namespace aqueduck::net
