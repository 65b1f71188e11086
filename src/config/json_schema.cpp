#include "config/json_schema.h"

#include <nlohmann/json.hpp>

#include "config/loader.h"

namespace aqueduck::config {
namespace {

using Json = nlohmann::ordered_json;
using Kind = ValueInfo::Kind;

Json schema_of(const ObjectInfo& info);

Json variable() { return {{"type", "string"}, {"pattern", R"(\$\{.+\})"}}; }

Json or_variable(Json schema) { return {{"anyOf", Json::array({std::move(schema), variable()})}}; }

Json written_as(const char* pattern) {
  return {{"type", {"string", "integer"}}, {"pattern", fmt::format(R"(^({})$|\$\{{.+\}})", pattern)}};
}

Json choice_schema(const ValueInfo& value) {
  Json any = Json::array();
  for (const auto& [word, description] : value.choices) any.push_back({{"const", word}, {"description", description}});
  any.push_back(variable());
  return {{"anyOf", std::move(any)}};
}

Json schema_of(const ValueInfo& value) {
  switch (value.kind) {
    case Kind::boolean:
      return or_variable({{"type", "boolean"}});
    case Kind::integer:
      return or_variable({{"type", "integer"}});
    case Kind::number:
      return or_variable({{"type", "number"}});
    case Kind::text:
      return {{"type", {"string", "number", "boolean"}}};
    case Kind::secret:
      return {{"type", {"string", "number", "boolean"}}, {"writeOnly", true}};
    case Kind::duration:
      return written_as("0|([0-9][0-9_]*(\\.[0-9]+)?(us|µs|ms|s|m|h|d))+");
    case Kind::bytes:
      return written_as("[0-9][0-9_]*(\\.[0-9]+)? *([KMGT]iB|[kKMGT]?B)?");
    case Kind::count:
      return written_as("[0-9][0-9_]*");
    case Kind::choice:
      return choice_schema(value);
    case Kind::object:
      return schema_of(*value.object);
    case Kind::list: {
      Json items = schema_of(*value.element);
      Json list = {{"type", "array"}, {"items", items}};
      if (!value.one_or_list) return list;
      return {{"anyOf", Json::array({std::move(list), std::move(items)})}};
    }
    case Kind::map:
      return {{"type", "object"}, {"additionalProperties", schema_of(*value.element)}};
    case Kind::any:
      return Json::object();
  }
  return Json::object();
}

Json scalar_value(const std::string& text, const ValueInfo& value) {
  if (value.kind == Kind::boolean) return text == "true";
  if (value.kind == Kind::integer || value.kind == Kind::number) {
    const Json parsed = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (parsed.is_number()) return parsed;
  }
  return text;
}

Json value_of(const Node& node, const ValueInfo& value) {
  const ValueInfo& element = value.element == nullptr ? value : *value.element;
  switch (node.kind) {
    case Node::Kind::null:
      return nullptr;
    case Node::Kind::scalar:
      return scalar_value(node.text, element);
    case Node::Kind::list: {
      Json out = Json::array();
      for (const Node& item : node.items) out.push_back(value_of(item, element));
      return out;
    }
    case Node::Kind::map: {
      Json out = Json::object();
      for (const Node::Entry& entry : node.entries) out[entry.key] = value_of(entry.value, element);
      return out;
    }
  }
  return nullptr;
}

// A default or an example, which is told as a user would write it.
Json written_value(const std::string& text, const ValueInfo& value) {
  Faults faults;
  const auto node = load_text(text, "", nullptr, faults);
  return node && faults.empty() ? value_of(*node, value) : Json(text);
}

// A field that isn't required may stand there without a value.
void allow_null(Json& schema) {
  if (schema.contains("anyOf")) {
    schema["anyOf"].push_back({{"type", "null"}});
  } else if (schema.contains("type")) {
    Json& type = schema["type"];
    if (!type.is_array()) type = Json::array({type});
    type.push_back("null");
  }
}

Json schema_of(const FieldInfo& field) {
  Json schema = schema_of(field.value);
  if (!field.required) allow_null(schema);
  Json out = {{"description", field.description}};
  out.update(schema);
  if (!field.default_text.empty()) out["default"] = written_value(field.default_text, field.value);
  if (!field.example.empty()) out["examples"] = Json::array({written_value(field.example, field.value)});
  return out;
}

Json schema_of(const ObjectInfo& info) {
  Json properties = Json::object();
  Json required = Json::array();
  Json shorthand;
  for (const FieldInfo& field : info.fields) {
    properties[field.name] = schema_of(field);
    if (field.required) required.push_back(field.name);
    if (field.name == info.shorthand) shorthand = schema_of(field.value);
  }
  Json object = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) object["required"] = std::move(required);
  object["additionalProperties"] = false;
  Json out = {{"title", info.name}, {"description", info.summary}};
  if (shorthand.is_null()) {
    out.update(object);
  } else {
    out["anyOf"] = Json::array({std::move(object), std::move(shorthand)});
  }
  return out;
}

}  // namespace

std::string json_schema(const ObjectInfo& info) {
  Json out = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}};
  out.update(schema_of(info));
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string json_schema_part(const ObjectInfo& info) {
  return schema_of(info).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace aqueduck::config
