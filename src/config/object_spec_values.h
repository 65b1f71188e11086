#pragma once

// Included at the end of object_spec.h: how each C++ type is read from a Node, described, and written as a default.

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "config/object_spec.h"

namespace aqueduck::config {

/// The untyped half of Value<T>: each reads a scalar or adds a fault at its place and returns false.
namespace values {
bool read_boolean(const Node& node, bool& out, Faults& faults);
/// A whole number from `least` to `most`; `out` holds its bits as two's complement.
bool read_integer(const Node& node, std::int64_t least, std::uint64_t most, std::uint64_t& out, Faults& faults);
bool read_number(const Node& node, double& out, Faults& faults);
bool read_text(const Node& node, std::string& out, Faults& faults);
bool read_secret(const Node& node, Secret& out, Faults& faults);
bool read_duration(const Node& node, Duration& out, Faults& faults);
bool read_bytes(const Node& node, std::uint64_t& out, Faults& faults);
bool read_count(const Node& node, std::uint64_t& out, Faults& faults);
/// The index of the word that the node holds, or nullopt after a fault that lists the words.
std::optional<std::size_t> read_choice(const Node& node, const ValueInfo& info, Faults& faults);

/// The items that a node stands for where a list is wanted: a list's own, else the node itself as the only one. Faults
/// (a map where the items aren't objects) return false.
bool list_items(const Node& node, const ValueInfo& element, std::vector<const Node*>& out, Faults& faults);
/// A fault unless the node is a map.
bool expect_map(const Node& node, Faults& faults);

/// A text as it is written in YAML: quoted where it must be.
std::string quoted_if_needed(std::string_view text);
std::string format_number(double value);

ValueInfo simple(ValueInfo::Kind kind);
ValueInfo list_of(ValueInfo element);
ValueInfo map_of(ValueInfo element);
ValueInfo object_of(const ObjectInfo& info);
}  // namespace values

template <>
struct Value<bool> {
  static ValueInfo info() { return values::simple(ValueInfo::Kind::boolean); }
  static bool read(const Node& node, bool& out, Faults& faults) { return values::read_boolean(node, out, faults); }
  static std::string text(const bool& value) { return value ? "true" : "false"; }
};

template <typename T>
struct Value<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static ValueInfo info() { return values::simple(ValueInfo::Kind::integer); }
  static bool read(const Node& node, T& out, Faults& faults) {
    std::uint64_t bits = 0;
    if (!values::read_integer(node, static_cast<std::int64_t>(std::numeric_limits<T>::min()),
                              static_cast<std::uint64_t>(std::numeric_limits<T>::max()), bits, faults)) {
      return false;
    }
    out = static_cast<T>(bits);
    return true;
  }
  static std::string text(const T& value) { return fmt::format("{}", value); }
};

template <>
struct Value<double> {
  static ValueInfo info() { return values::simple(ValueInfo::Kind::number); }
  static bool read(const Node& node, double& out, Faults& faults) { return values::read_number(node, out, faults); }
  static std::string text(const double& value) { return values::format_number(value); }
};

template <>
struct Value<std::string> {
  static ValueInfo info() { return values::simple(ValueInfo::Kind::text); }
  static bool read(const Node& node, std::string& out, Faults& faults) { return values::read_text(node, out, faults); }
  static std::string text(const std::string& value) { return value.empty() ? "" : values::quoted_if_needed(value); }
};

template <>
struct Value<std::filesystem::path> {
  static ValueInfo info() { return values::simple(ValueInfo::Kind::text); }
  static bool read(const Node& node, std::filesystem::path& out, Faults& faults) {
    std::string text;
    if (!values::read_text(node, text, faults)) return false;
    out = std::filesystem::path(std::move(text));
    return true;
  }
  static std::string text(const std::filesystem::path& value) { return Value<std::string>::text(value.string()); }
};

template <>
struct Value<Secret> {
  static ValueInfo info() { return values::simple(ValueInfo::Kind::secret); }
  static bool read(const Node& node, Secret& out, Faults& faults) { return values::read_secret(node, out, faults); }
  static std::string text(const Secret& /*value*/) { return ""; }
};

template <>
struct Value<Duration> {
  static ValueInfo info() { return values::simple(ValueInfo::Kind::duration); }
  static bool read(const Node& node, Duration& out, Faults& faults) { return values::read_duration(node, out, faults); }
  static std::string text(const Duration& value) { return format_duration(value); }
};

template <>
struct Value<Bytes> {
  static ValueInfo info() { return values::simple(ValueInfo::Kind::bytes); }
  static bool read(const Node& node, Bytes& out, Faults& faults) { return values::read_bytes(node, out.value, faults); }
  static std::string text(const Bytes& value) { return format_bytes(value.value); }
};

template <>
struct Value<Count> {
  static ValueInfo info() { return values::simple(ValueInfo::Kind::count); }
  static bool read(const Node& node, Count& out, Faults& faults) { return values::read_count(node, out.value, faults); }
  static std::string text(const Count& value) { return format_count(value.value); }
};

/// A raw part of the tree, for what only its reader understands.
template <>
struct Value<Node> {
  static ValueInfo info() { return values::simple(ValueInfo::Kind::any); }
  static bool read(const Node& node, Node& out, Faults& /*faults*/) {
    out = node;
    return true;
  }
  static std::string text(const Node& /*value*/) { return ""; }
};

template <typename T>
struct Value<std::optional<T>> {
  static ValueInfo info() { return Value<T>::info(); }
  static bool read(const Node& node, std::optional<T>& out, Faults& faults) {
    T value{};
    if (!Value<T>::read(node, value, faults)) return false;
    out = std::move(value);
    return true;
  }
  static std::string text(const std::optional<T>& value) { return value ? Value<T>::text(*value) : ""; }
};

template <typename T>
struct Value<std::vector<T>> {
  static ValueInfo info() { return values::list_of(Value<T>::info()); }
  static bool read(const Node& node, std::vector<T>& out, Faults& faults) {
    std::vector<const Node*> items;
    if (!values::list_items(node, Value<T>::info(), items, faults)) return false;
    out.clear();
    bool good = true;
    for (const Node* item : items) {
      T value{};
      good = Value<T>::read(*item, value, faults) && good;
      out.push_back(std::move(value));
    }
    return good;
  }
  static std::string text(const std::vector<T>& value) {
    std::string out;
    for (const T& item : value) out += (out.empty() ? "" : ", ") + Value<T>::text(item);
    return out.empty() ? "" : "[" + out + "]";
  }
};

/// A map that keeps the order of the file.
template <typename T>
struct Value<std::vector<std::pair<std::string, T>>> {
  using Map = std::vector<std::pair<std::string, T>>;
  static ValueInfo info() { return values::map_of(Value<T>::info()); }
  static bool read(const Node& node, Map& out, Faults& faults) {
    if (!values::expect_map(node, faults)) return false;
    out.clear();
    bool good = true;
    for (const Node::Entry& entry : node.entries) {
      T value{};
      good = Value<T>::read(entry.value, value, faults) && good;
      out.emplace_back(entry.key, std::move(value));
    }
    return good;
  }
  static std::string text(const Map& value) {
    std::string out;
    for (const auto& [key, item] : value) {
      out += (out.empty() ? "" : ", ") + values::quoted_if_needed(key) + ": " + Value<T>::text(item);
    }
    return out.empty() ? "" : "{" + out + "}";
  }
};

template <typename T, typename Less>
struct Value<std::map<std::string, T, Less>> {
  using Map = std::map<std::string, T, Less>;
  using Ordered = std::vector<std::pair<std::string, T>>;
  static ValueInfo info() { return Value<Ordered>::info(); }
  static bool read(const Node& node, Map& out, Faults& faults) {
    Ordered entries;
    const bool good = Value<Ordered>::read(node, entries, faults);
    out.clear();
    for (auto& [key, value] : entries) out.insert_or_assign(std::move(key), std::move(value));
    return good;
  }
  static std::string text(const Map& value) { return Value<Ordered>::text(Ordered(value.begin(), value.end())); }
};

// --- choices ---

namespace values {

template <typename T>
ValueInfo choice_info(const std::vector<Choice<T>>& choices) {
  ValueInfo info = simple(ValueInfo::Kind::choice);
  for (const auto& choice : choices) info.choices.emplace_back(choice.word, choice.description);
  return info;
}

template <typename T>
std::string choice_word(const std::vector<Choice<T>>& choices, const T& value) {
  for (const auto& choice : choices) {
    if (choice.value == value) return choice.word;
  }
  return "";
}
template <typename T>
std::string choice_word(const std::vector<Choice<T>>& choices, const std::optional<T>& value) {
  return value ? choice_word(choices, *value) : "";
}

}  // namespace values

template <typename Config, typename Member>
Field<Config> choice(std::string name, Member Config::* member, const std::vector<Choice<ChosenType<Member>>>& choices,
                     std::string description) {
  FieldInfo info{std::move(name), std::move(description), values::choice_info(choices), false, {}, {}, {}};
  info.read = [member, choices, value = info.value](const Node& node, void* object, Faults& faults) {
    if (const auto index = values::read_choice(node, value, faults)) {
      static_cast<Config*>(object)->*member = choices[*index].value;
    }
  };
  return Field<Config>(std::move(info),
                       [member, choices](const Config& c) { return values::choice_word(choices, c.*member); });
}

// --- objects ---

namespace values {

template <typename Config>
Field<Config> object_field(std::string name, ValueInfo value, std::string description,
                           std::function<void(const Node&, Config&, Faults&)> read) {
  FieldInfo info{std::move(name), std::move(description), std::move(value), false, {}, {}, {}};
  info.read = [read = std::move(read)](const Node& node, void* object, Faults& faults) {
    read(node, *static_cast<Config*>(object), faults);
  };
  return Field<Config>(std::move(info), [](const Config&) { return std::string(); });
}

}  // namespace values

template <typename Config, typename T>
Field<Config> object(std::string name, T Config::* member, const ObjectSpec<T>& spec, std::string description) {
  const ObjectInfo* info = &spec.info();
  return values::object_field<Config>(std::move(name), values::object_of(*info), std::move(description),
                                      [member, info](const Node& node, Config& config, Faults& faults) {
                                        read_object(*info, node, &(config.*member), faults);
                                      });
}

template <typename Config, typename T>
Field<Config> object(std::string name, std::optional<T> Config::* member, const ObjectSpec<T>& spec,
                     std::string description) {
  const ObjectInfo* info = &spec.info();
  return values::object_field<Config>(std::move(name), values::object_of(*info), std::move(description),
                                      [member, info](const Node& node, Config& config, Faults& faults) {
                                        read_object(*info, node, &(config.*member).emplace(), faults);
                                      });
}

/// A list of objects, or one that stands for a list of one.
template <typename Config, typename T>
Field<Config> object(std::string name, std::vector<T> Config::* member, const ObjectSpec<T>& spec,
                     std::string description) {
  const ObjectInfo* info = &spec.info();
  return values::object_field<Config>(std::move(name), values::list_of(values::object_of(*info)),
                                      std::move(description),
                                      [member, info](const Node& node, Config& config, Faults& faults) {
                                        std::vector<const Node*> items;
                                        if (!values::list_items(node, values::object_of(*info), items, faults)) return;
                                        (config.*member).clear();
                                        for (const Node* item : items)
                                          read_object(*info, *item, &(config.*member).emplace_back(), faults);
                                      });
}

/// Named objects, in the order of the file.
template <typename Config, typename T>
Field<Config> object(std::string name, std::vector<std::pair<std::string, T>> Config::* member,
                     const ObjectSpec<T>& spec, std::string description) {
  const ObjectInfo* info = &spec.info();
  return values::object_field<Config>(std::move(name), values::map_of(values::object_of(*info)), std::move(description),
                                      [member, info](const Node& node, Config& config, Faults& faults) {
                                        if (!values::expect_map(node, faults)) return;
                                        (config.*member).clear();
                                        for (const Node::Entry& entry : node.entries) {
                                          read_object(*info, entry.value,
                                                      &(config.*member).emplace_back(entry.key, T{}).second, faults);
                                        }
                                      });
}

template <typename Config, typename T>
Field<Config> object(std::string name, std::map<std::string, T> Config::* member, const ObjectSpec<T>& spec,
                     std::string description) {
  const ObjectInfo* info = &spec.info();
  return values::object_field<Config>(std::move(name), values::map_of(values::object_of(*info)), std::move(description),
                                      [member, info](const Node& node, Config& config, Faults& faults) {
                                        if (!values::expect_map(node, faults)) return;
                                        (config.*member).clear();
                                        for (const Node::Entry& entry : node.entries) {
                                          read_object(*info, entry.value, &(config.*member)[entry.key], faults);
                                        }
                                      });
}

}  // namespace aqueduck::config
