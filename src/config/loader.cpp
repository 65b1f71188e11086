#include "config/loader.h"

#include <cstdlib>

#include "config/substitution.h"
#include "config/yaml_tree.h"

namespace aqueduck::config {
namespace {

constexpr std::size_t kLargestFile = std::size_t{4} << 20;

void substitute_all(Node& node, const Environment& environment, const std::filesystem::path& directory,
                    Faults& faults) {
  if (node.kind == Node::Kind::scalar) substitute(node, environment, directory, faults);
  for (Node& item : node.items) substitute_all(item, environment, directory, faults);
  for (Node::Entry& entry : node.entries) substitute_all(entry.value, environment, directory, faults);
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::optional<Node> load_text(std::string_view text, const std::string& name, const Environment& environment,
                              Faults& faults) {
  auto root = parse_yaml(text, name, faults);
  if (root) substitute_all(*root, environment, std::filesystem::path(name).parent_path(), faults);
  return root;
}

std::optional<Node> load_file(const std::filesystem::path& path, const Environment& environment, Faults& faults) {
  const auto text = read_whole_file(path, kLargestFile);
  if (!text) {
    faults.add_text(Location{std::make_shared<const std::string>(path.string()), 0, 0}, text.error().message);
    return std::nullopt;
  }
  return load_text(*text, path.string(), environment, faults);
}

}  // namespace aqueduck::config
