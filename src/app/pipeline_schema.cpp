#include "app/pipeline_schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/json_schema.h"
#include "pipeline/definition.h"

namespace aqueduck::app {
namespace {

using Json = nlohmann::ordered_json;

Json part(const config::ObjectInfo& info) {
  Json schema = Json::parse(config::json_schema_part(info));
  const bool required = std::any_of(info.fields.begin(), info.fields.end(), [](const auto& f) { return f.required; });
  if (required) return schema;
  // A component that needs no settings may stand there with none: `noop:`.
  Json out = {{"title", info.name}, {"description", info.summary}};
  out["anyOf"] = Json::array({std::move(schema), {{"type", "null"}}});
  return out;
}

template <typename F>
Json choice_of(const std::vector<ComponentType<F>>& types, std::string_view what, bool with_commit) {
  Json properties = Json::object();
  Json exactly_one = Json::array();
  Json bare = Json::array();
  for (const auto& type : types) {
    const config::ObjectInfo& info = *type.info;
    properties[info.name] = part(info);
    exactly_one.push_back({{"required", {info.name}}});
    const bool required = std::any_of(info.fields.begin(), info.fields.end(), [](const auto& f) { return f.required; });
    if (!required) bare.push_back(info.name);
  }
  if (with_commit) properties["commit"] = part(pipeline::commit_info());
  Json object = {{"type", "object"},
                 {"properties", std::move(properties)},
                 {"oneOf", std::move(exactly_one)},
                 {"additionalProperties", false}};
  Json out = {{"title", what}};
  if (bare.empty()) {
    out.update(object);
  } else {
    out["anyOf"] = Json::array({std::move(object), {{"enum", std::move(bare)}}});
  }
  return out;
}

void refer(Json& properties, const char* field, const char* definition) {
  Json& schema = properties[field];
  Json out = {{"description", schema["description"]}, {"$ref", std::string("#/$defs/") + definition}};
  if (schema.contains("examples")) out["examples"] = schema["examples"];
  schema = std::move(out);
}

}  // namespace

std::string pipeline_schema(const Registry& registry) {
  Json schema = Json::parse(config::json_schema(pipeline::definition_info()));
  Json& properties = schema["properties"];
  refer(properties, "source", "source");
  refer(properties, "decode", "decoder");
  refer(properties, "sink", "sink");
  refer(properties["errors"]["properties"], "dead_letter", "dead_letter");
  properties["sql"]["type"] = "string";
  Json& definitions = schema["$defs"];
  definitions["source"] = choice_of(registry.sources, "source", false);
  definitions["decoder"] = choice_of(registry.decoders, "decoder", false);
  definitions["sink"] = choice_of(registry.sinks, "sink", true);
  definitions["dead_letter"] = choice_of(registry.sinks, "sink", false);
  return schema.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace aqueduck::app
