#pragma once

#include <string>
#include <vector>

#include "component/registry.h"

namespace aqueduck::app {

/// A file of a starter, relative to where it is made.
struct StarterFile {
  std::string path;
  std::string text;
};

/// A commented pipeline NAME.yml that runs as it is, and a test case for its SQL in tests/NAME/. `source` and `sink`
/// are components' names; without them rows are made up and printed. Errors (config) say what is no such component or
/// no name.
Result<std::vector<StarterFile>> starter(const Registry& registry, const std::string& name, const std::string& source,
                                         const std::string& sink);

}  // namespace aqueduck::app
