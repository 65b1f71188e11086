#pragma once

#include <string>

#include "config/object_spec.h"

namespace aqueduck::config {

/// The reference page of an object: title, summary, details, an example in YAML with every field (optional ones as
/// comments, with their defaults), and a table of fields, nested ones under dotted names.
std::string markdown(const ObjectInfo& info);
/// The same for an object that is a whole file: the example's fields stand at its top level.
std::string markdown_of_file(const ObjectInfo& info);

}  // namespace aqueduck::config
