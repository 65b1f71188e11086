#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/faults.h"
#include "config/node.h"

namespace aqueduck::config {

inline constexpr std::size_t kDeepest = 64;  ///< levels of nesting

/// The tree of a YAML text, ${…} left as written: the step before variables are put in. nullopt after a fault that left
/// no tree.
std::optional<Node> parse_yaml(std::string_view text, const std::string& name, Faults& faults);

}  // namespace aqueduck::config
