#include "component/registry.h"

#include <fmt/format.h>

#include <algorithm>

namespace aqueduck {
namespace {

template <typename F>
std::vector<std::string_view> names_of(const std::vector<ComponentType<F>>& types) {
  std::vector<std::string_view> names;
  names.reserve(types.size());
  for (const auto& type : types) names.push_back(type.info->name);
  return names;
}

// The nearest name, and where there is none all of them.
template <typename F>
std::string hint_for(std::string_view word, const std::vector<ComponentType<F>>& types) {
  const std::vector<std::string_view> names = names_of(types);
  std::string hint = config::did_you_mean(word, names);
  if (hint.empty()) hint = fmt::format("; there is {}", fmt::join(names, ", "));
  return hint;
}

template <typename F>
std::unique_ptr<F> look_up(ComponentKind kind, const std::vector<ComponentType<F>>& types, const config::Node& node,
                           config::Faults& faults) {
  config::Node settings;
  settings.where = node.where;
  const config::Node* chosen = &settings;
  std::string_view wanted;
  config::Location where = node.where;
  if (node.kind == config::Node::Kind::scalar) {
    wanted = node.text;
  } else if (node.kind == config::Node::Kind::map && node.entries.size() == 1) {
    wanted = node.entries.front().key;
    where = node.entries.front().where;
    chosen = &node.entries.front().value;
  } else if (node.kind == config::Node::Kind::map && node.entries.size() > 1) {
    std::vector<std::string_view> keys;
    keys.reserve(node.entries.size());
    for (const auto& entry : node.entries) keys.push_back(entry.key);
    faults.add(node.entries[1].where, "a {} has one key, its kind; here are {}: {}", name(kind), keys.size(),
               config::shown(fmt::format("{}", fmt::join(keys, ", "))));
    return nullptr;
  } else {
    faults.add(node.where, "a {} is written like '{{{}: {{…}}}}', not as {}; there is {}", name(kind),
               types.empty() ? "kind" : types.front().info->name, config::describe(node.kind),
               fmt::join(names_of(types), ", "));
    return nullptr;
  }
  const auto found =
      std::find_if(types.begin(), types.end(), [wanted](const auto& type) { return type.info->name == wanted; });
  if (found == types.end()) {
    faults.add(where, "there is no {} '{}'{}", name(kind), config::shown(wanted), hint_for(wanted, types));
    return nullptr;
  }
  return found->parse(*chosen, faults);
}

}  // namespace

std::string_view name(ComponentKind kind) {
  switch (kind) {
    case ComponentKind::source:
      return "source";
    case ComponentKind::decoder:
      return "decoder";
    case ComponentKind::sink:
      return "sink";
  }
  return "component";
}

std::unique_ptr<SourceFactory> Registry::source(const config::Node& node, config::Faults& faults) const {
  return look_up(ComponentKind::source, sources, node, faults);
}

std::unique_ptr<DecoderFactory> Registry::decoder(const config::Node& node, config::Faults& faults) const {
  return look_up(ComponentKind::decoder, decoders, node, faults);
}

std::unique_ptr<SinkFactory> Registry::sink(const config::Node& node, config::Faults& faults) const {
  return look_up(ComponentKind::sink, sinks, node, faults);
}

}  // namespace aqueduck
