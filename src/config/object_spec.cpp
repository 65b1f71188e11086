#include "config/object_spec.h"

#include <algorithm>
#include <unordered_set>

namespace aqueduck::config {
namespace {

std::vector<std::string_view> field_names(const ObjectInfo& info) {
  std::vector<std::string_view> names;
  names.reserve(info.fields.size());
  for (const FieldInfo& field : info.fields) names.push_back(field.name);
  return names;
}

const FieldInfo* find_field(const ObjectInfo& info, std::string_view name) {
  const auto found = std::find_if(info.fields.begin(), info.fields.end(),
                                  [name](const FieldInfo& field) { return field.name == name; });
  return found == info.fields.end() ? nullptr : &*found;
}

// Nested objects name themselves in their messages; everything else is told by its field's name.
bool names_itself(const ValueInfo& value) {
  if (value.element != nullptr) return names_itself(*value.element);
  return value.kind == ValueInfo::Kind::object || value.kind == ValueInfo::Kind::any;
}

void read_field(const FieldInfo& field, const Node& node, void* object, Faults& faults) {
  if (names_itself(field.value)) {
    field.read(node, object, faults);
    return;
  }
  Faults found;
  field.read(node, object, found);
  for (const Faults::Fault& fault : found.all()) {
    faults.add_text(fault.where, fmt::format("{}: {}", field.name, fault.message));
  }
}

void add_unknown(const ObjectInfo& info, const Node::Entry& entry, Faults& faults) {
  const std::vector<std::string_view> names = field_names(info);
  std::string hint = did_you_mean(entry.key, names);
  if (hint.empty() && !names.empty()) hint = fmt::format("; it has {}", fmt::join(names, ", "));
  if (names.empty()) hint = "; it has none";
  faults.add(entry.where, "{} has no field '{}'{}", info.name, shown(entry.key), hint);
}

}  // namespace

bool read_object(const ObjectInfo& info, const Node& node, void* object, Faults& faults) {
  const std::size_t before = faults.all().size();
  std::unordered_set<std::string_view> given;
  if (node.kind == Node::Kind::map) {
    std::unordered_set<std::string_view> seen;
    for (const Node::Entry& entry : node.entries) {
      if (!seen.insert(entry.key).second) {
        faults.add(entry.where, "'{}' is given twice; keep one", shown(entry.key));
        continue;
      }
      const FieldInfo* field = find_field(info, entry.key);
      if (field == nullptr) {
        add_unknown(info, entry, faults);
      } else if (entry.value.kind != Node::Kind::null || field->value.kind == ValueInfo::Kind::any) {
        given.insert(field->name);
        read_field(*field, entry.value, object, faults);
      } else if (field->required) {
        given.insert(field->name);
        faults.add(entry.where, "{}: a value is needed here ({})", field->name, field->description);
      }
    }
  } else if (node.kind != Node::Kind::null) {
    const FieldInfo* field = find_field(info, info.shorthand);
    if (field == nullptr) {
      faults.add(node.where, "{} wants a map of fields ({}), not {}", info.name, fmt::join(field_names(info), ", "),
                 shown(node));
      return false;
    }
    given.insert(field->name);
    read_field(*field, node, object, faults);
  }
  for (const FieldInfo& field : info.fields) {
    if (field.required && !given.contains(field.name)) {
      faults.add(node.where, "{} needs '{}': {}{}", info.name, field.name, field.description,
                 field.example.empty() ? "" : fmt::format(" For example: {}: {}", field.name, field.example));
    }
  }
  return faults.all().size() == before;
}

}  // namespace aqueduck::config
