#include "config/location.h"

#include <fmt/format.h>

namespace aqueduck::config {

std::string Location::to_string() const {
  if (file == nullptr) return line > 0 ? fmt::format("{}:{}", line, column) : "";
  return line > 0 ? fmt::format("{}:{}:{}", *file, line, column) : *file;
}

}  // namespace aqueduck::config
