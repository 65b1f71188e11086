#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/secret.h"
#include "config/faults.h"
#include "config/node.h"

/// One table describes an object of the configuration: a plain struct holds the defaults, an ObjectSpec lists its
/// fields with a sentence each. From it come parsing, faults, JSON Schema, reference pages and redaction.
///
///   struct FileConfig { std::vector<std::string> paths; bool follow = false; };
///   const ObjectSpec<FileConfig>& file_spec() {
///     static const ObjectSpec<FileConfig> spec(
///         "file", "Reads files.",
///         {field("paths", &FileConfig::paths, "Paths or globs.").required().example("data/*.jsonl"),
///          field("follow", &FileConfig::follow, "Waits for more at the end, like `tail -F`.")});
///     return spec;
///   }
namespace aqueduck::config {

struct Bytes {
  std::uint64_t value = 0;
};  ///< a field written like "64MiB"
struct Count {
  std::uint64_t value = 0;
};  ///< a field written like "5_000_000"

struct ObjectInfo;

/// What kind of value a field takes, for schema and docs.
struct ValueInfo {
  enum class Kind { boolean, integer, number, text, secret, duration, bytes, count, choice, object, list, map, any };
  Kind kind = Kind::any;
  std::vector<std::pair<std::string, std::string>> choices;  ///< word and sentence, of a choice
  const ObjectInfo* object = nullptr;                        ///< of an object
  std::shared_ptr<const ValueInfo> element;                  ///< of a list's items or a map's values
  bool one_or_list = false;                                  ///< a list that may be written as its only item
};

/// A field, type-erased: what it is for people, and how a Node is read into the struct that `object` points to.
struct FieldInfo {
  std::string name;
  std::string description;  ///< one sentence; Markdown
  ValueInfo value;
  bool required = false;
  std::string default_text;  ///< as a user would write it; "" where the default is "not set"
  std::string example;
  std::function<void(const Node& node, void* object, Faults& faults)> read;
};

struct ObjectInfo {
  std::string name;
  std::string summary;  ///< one sentence
  std::string details;  ///< Markdown, may be empty
  std::vector<FieldInfo> fields;
  std::string shorthand;  ///< a field that a bare scalar or list stands for ("" : none)
};

/// Reads a map node into `object` by `info`: unknown keys (with the nearest known name), missing required fields and
/// bad values become faults, all of them. Returns whether none was added.
bool read_object(const ObjectInfo& info, const Node& node, void* object, Faults& faults);

// --- how a C++ type is read and described; specialise Value<T> for others ---
template <typename T, typename Enable = void>
struct Value;  // static ValueInfo info(); static bool read(const Node&, T&, Faults&); static std::string text(const
               // T&);

template <typename Config>
class Field {
 public:
  Field(FieldInfo info, std::function<std::string(const Config&)> default_text)
      : info_(std::move(info)), default_text_(std::move(default_text)) {}
  Field required() && {
    info_.required = true;
    return std::move(*this);
  }
  Field example(std::string text) && {
    info_.example = std::move(text);
    return std::move(*this);
  }
  FieldInfo finish(const Config& defaults) const {
    FieldInfo out = info_;
    if (!out.required) out.default_text = default_text_(defaults);
    return out;
  }

 private:
  FieldInfo info_;
  std::function<std::string(const Config&)> default_text_;
};

template <typename Config, typename T>
Field<Config> field(std::string name, T Config::* member, std::string description) {
  FieldInfo info{std::move(name), std::move(description), Value<T>::info(), false, {}, {}, {}};
  info.read = [member](const Node& node, void* object, Faults& faults) {
    Value<T>::read(node, static_cast<Config*>(object)->*member, faults);
  };
  return Field<Config>(std::move(info), [member](const Config& c) { return Value<T>::text(c.*member); });
}

/// A field whose value is one of a few words. Each: word, value, sentence.
template <typename T>
struct Choice {
  std::string word;
  T value;
  std::string description;
};
template <typename Member>
struct Chosen {
  using Type = Member;
};
template <typename T>
struct Chosen<std::optional<T>> {
  using Type = T;
};
template <typename Member>
using ChosenType = typename Chosen<Member>::Type;
/// An optional member stays unset where the key is absent.
template <typename Config, typename Member>
Field<Config> choice(std::string name, Member Config::* member, const std::vector<Choice<ChosenType<Member>>>& choices,
                     std::string description);

template <typename Config>
class ObjectSpec {
 public:
  ObjectSpec(std::string name, std::string summary, const std::vector<Field<Config>>& fields) {
    info_.name = std::move(name);
    info_.summary = std::move(summary);
    const Config defaults{};
    for (const auto& f : fields) info_.fields.push_back(f.finish(defaults));
  }
  ObjectSpec& details(std::string markdown) {
    info_.details = std::move(markdown);
    return *this;
  }
  ObjectSpec& shorthand(std::string field_name) {
    info_.shorthand = std::move(field_name);
    return *this;
  }

  const ObjectInfo& info() const { return info_; }
  Config read(const Node& node, Faults& faults) const {
    Config config{};
    read_object(info_, node, &config, faults);
    return config;
  }

 private:
  ObjectInfo info_;
};

/// An object within an object, a list or a map of them: `object("tls", &Config::tls, tls_spec(), "…")`.
template <typename Config, typename T>
Field<Config> object(std::string name, T Config::* member, const ObjectSpec<T>& spec, std::string description);
/// An optional one: unset where the key is absent.
template <typename Config, typename T>
Field<Config> object(std::string name, std::optional<T> Config::* member, const ObjectSpec<T>& spec,
                     std::string description);

}  // namespace aqueduck::config

#include "config/object_spec_values.h"
