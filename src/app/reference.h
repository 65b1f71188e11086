#pragma once

#include <string>
#include <utility>
#include <vector>

#include "component/registry.h"

namespace aqueduck::app {

/// A page of the reference: where it stands below the reference's folder ("sinks/console.md"), and its Markdown.
struct ReferencePage {
  std::string path;
  std::string text;
};

/// Of the program ("") and of each command.
using HelpTexts = std::vector<std::pair<std::string, std::string>>;

/// The whole generated reference: an index, the pipeline file, commands, exit codes, metrics, a page a component. The
/// same text for the same binary.
std::vector<ReferencePage> reference(const Registry& registry, const HelpTexts& help_texts);

/// The pages of a component's name (a name may be a source's and a sink's), or of a page's ("pipeline", "cli",
/// "exit-codes", "metrics"). An error of kind config that names the nearest where there is none.
Result<std::vector<ReferencePage>> find_pages(const std::vector<ReferencePage>& pages, const std::string& name);

}  // namespace aqueduck::app
