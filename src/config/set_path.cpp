#include <algorithm>
#include <charconv>

#include "base/secret.h"
#include "config/loader.h"
#include "config/substitution.h"
#include "config/yaml_tree.h"

namespace aqueduck::config {
namespace {

void set_file(Node& node, const Location& where) {
  node.where = where;
  node.origins.clear();
  for (Node& item : node.items) set_file(item, where);
  for (Node::Entry& entry : node.entries) {
    entry.where = where;
    set_file(entry.value, where);
  }
}

// "a.b\.c" → {"a", "b.c"}
std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> keys(1);
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '\\' && i + 1 < path.size() && path[i + 1] == '.') {
      keys.back() += path[++i];
    } else if (path[i] == '.') {
      keys.emplace_back();
    } else {
      keys.back() += path[i];
    }
  }
  return keys;
}

std::optional<Node> value_of(std::string_view text, const Location& where, Faults& faults) {
  Node node;
  const bool structured = !text.empty() && std::string_view("[{\"'").find(text.front()) != std::string_view::npos;
  if (structured) {
    auto parsed = parse_yaml(text, *where.file, faults);
    if (!parsed) return std::nullopt;
    node = std::move(*parsed);
  } else if (text != "null" && text != "~") {
    node.kind = Node::Kind::scalar;
    node.text = text;
  }
  set_file(node, where);
  return node;
}

// The node that `key` names below `node`, made where it isn't there; null after a fault.
Node* step(Node& node, const std::string& key, const Location& where, Faults& faults) {
  if (node.kind == Node::Kind::list) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (error != std::errc{} || end != key.data() + key.size() || index > node.items.size()) {
      faults.add(where, "'{}' is not the number of an item: the list has {}, counted from 0", shown(key),
                 node.items.size());
      return nullptr;
    }
    if (index == node.items.size()) node.items.emplace_back().where = where;
    return &node.items[index];
  }
  node.kind = Node::Kind::map;
  for (Node::Entry& entry : node.entries) {
    if (entry.key == key) return &entry.value;
  }
  node.entries.push_back({key, where, Node{}});
  return &node.entries.back().value;
}

// A text where a map is wanted: a component's short form (`source: stdin`) becomes the long one if that is what is
// meant. False after a fault.
bool open_scalar(Node& node, const std::vector<std::string>& keys, std::size_t depth, const Location& where,
                 Faults& faults) {
  if (node.kind != Node::Kind::scalar) return true;
  if (depth > 0 && node.text == keys[depth]) {
    Node map;
    map.kind = Node::Kind::map;
    map.where = node.where;
    map.entries.push_back({node.text, node.where, Node{}});
    node = std::move(map);
    return true;
  }
  std::string path;
  for (std::size_t i = 0; i < depth; ++i) path += (i == 0 ? "" : ".") + keys[i];
  std::string instead = "…";
  for (std::size_t i = keys.size(); i > depth; --i) instead = fmt::format("{{{}: {}}}", keys[i - 1], instead);
  faults.add(where,
             "'{}' can't be set: '{}' is {} here, which has nothing below it; replace it whole, like --set '{}={}'",
             shown(keys[depth]), shown(path), shown(node), shown(path), shown(instead));
  return false;
}

}  // namespace

void set_path(Node& root, std::string_view assignment, Faults& faults) {
  const std::size_t equals = assignment.find('=');
  const std::string_view path = assignment.substr(0, equals);
  const Location where{std::make_shared<const std::string>(fmt::format("--set {}", shown(path))), 0, 0};
  const std::vector<std::string> keys = split_path(path);
  const bool has_empty = std::any_of(keys.begin(), keys.end(), [](const std::string& key) { return key.empty(); });
  if (equals == std::string_view::npos || has_empty || keys.size() > kDeepest) {
    faults.add(where, "write it like --set source.kafka.group=test");
    return;
  }
  std::optional<Node> value = value_of(assignment.substr(equals + 1), where, faults);
  if (!value) return;
  if (value->kind == Node::Kind::scalar && names_a_secret(keys.back())) {
    value->secret = true;
    remember_secret(value->text);
  }
  Node* at = &root;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!open_scalar(*at, keys, i, where, faults)) return;
    at = step(*at, keys[i], where, faults);
    if (at == nullptr) return;
  }
  *at = std::move(*value);
}

}  // namespace aqueduck::config
