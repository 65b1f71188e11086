#pragma once

#include <cstdint>
#include <string>

namespace aqueduck::admin {

/// What of a pipeline doesn't change while it runs. A plain value.
struct About {
  std::string pipeline;
  std::string version;  ///< of Aqueduck
  std::string source;
  std::string sink;
  std::string delivery;      ///< one sentence
  bool holds_token = false;  ///< the sink stores positions with its rows
  std::int64_t started = 0;  ///< seconds since 1970
};

}  // namespace aqueduck::admin
