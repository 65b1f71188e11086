#pragma once

#include <string>

#include "config/object_spec.h"

namespace aqueduck::config {

/// The JSON Schema (2020-12) of an object, for editors: descriptions, types, choices, defaults, what is required;
/// unknown fields are refused. What stands in ${…} passes everywhere. Indented JSON, ends with a line break.
std::string json_schema(const ObjectInfo& info);
/// The same without "$schema" and in one line, to be put into a larger schema.
std::string json_schema_part(const ObjectInfo& info);

}  // namespace aqueduck::config
