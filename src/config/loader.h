#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/faults.h"
#include "config/node.h"

namespace aqueduck::config {

/// Where ${NAME} comes from. The default reads the process's environment.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// Reads a YAML file (YAML 1.2 core, one document; no anchors of foreign types, no tags). In every scalar `${NAME}`,
/// `${NAME:-default}` and `${file:/path}` (one trailing newline dropped) are replaced, `$${` is a literal `${`;
/// nothing else is templated. Values from `${file:…}`, and from variables whose name holds SECRET, PASSWORD, TOKEN or
/// KEY, are remembered for redaction. Adds every fault it finds (syntax, duplicate keys, unset variables, unreadable
/// files) and returns nullopt only where no tree could be made.
std::optional<Node> load_file(const std::filesystem::path& path, const Environment& environment, Faults& faults);
/// The same for a text; `name` stands for the file's in locations.
std::optional<Node> load_text(std::string_view text, const std::string& name, const Environment& environment,
                              Faults& faults);

/// `--set key.path=value`: puts a scalar (or YAML flow value) at a path, making maps on the way; list items by number.
void set_path(Node& root, std::string_view assignment, Faults& faults);

}  // namespace aqueduck::config
