#pragma once

#include <string>

#include "component/registry.h"

namespace aqueduck::app {

/// The JSON Schema (2020-12) of a pipeline file with all components: `source`, `decode` and `sink` have exactly one
/// component's key, `sink` may have `commit` beside it. Indented, ends with a line break.
std::string pipeline_schema(const Registry& registry);

}  // namespace aqueduck::app
