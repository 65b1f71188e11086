#pragma once

#include <filesystem>

#include "config/faults.h"
#include "config/loader.h"
#include "config/node.h"

namespace aqueduck::config {

/// Replaces ${…} in a scalar's text, keeps its origins exact, and remembers what is secret. Faults name the variable or
/// file and stand where the `${` does. `directory`: where relative paths of ${file:…} begin.
void substitute(Node& scalar, const Environment& environment, const std::filesystem::path& directory, Faults& faults);

/// Whether a name says that its value is secret: it holds SECRET, PASSWORD, TOKEN or KEY, in either case.
bool names_a_secret(std::string_view name);

/// The bytes of a file of at most `limit`; errors (kind config) say why not.
Result<std::string> read_whole_file(const std::filesystem::path& path, std::size_t limit);

}  // namespace aqueduck::config
