#include "app/pipeline_schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "builtin/builtin.h"
#include "pipeline/definition.h"

namespace aqueduck::app {
namespace {

using Json = nlohmann::json;

Json schema() { return Json::parse(pipeline_schema(builtin_registry())); }

// The part that describes the map, which may be one of several ways to write it.
Json object_of(const Json& definition) {
  if (!definition.contains("anyOf")) return definition;
  for (const Json& each : definition["anyOf"]) {
    if (each.value("type", Json()) == "object") return each;
  }
  return {};
}

TEST(PipelineSchema, NamesEveryKeyOfTheFile) {
  const Json properties = schema()["properties"];
  for (const auto& field : pipeline::definition_info().fields)
    EXPECT_TRUE(properties.contains(field.name)) << field.name;
  EXPECT_EQ(schema()["additionalProperties"], false);
  EXPECT_EQ(schema()["required"], Json({"pipeline", "source", "sink"}));
}

TEST(PipelineSchema, ASourceHasExactlyOneComponentsKey) {
  const Json source = object_of(schema()["$defs"]["source"]);
  EXPECT_EQ(source["additionalProperties"], false);
  EXPECT_EQ(source["oneOf"].size(), builtin_registry().sources.size());
  for (const auto& type : builtin_registry().sources) {
    EXPECT_TRUE(source["properties"].contains(type.info->name));
    EXPECT_NE(std::find(source["oneOf"].begin(), source["oneOf"].end(), Json({{"required", {type.info->name}}})),
              source["oneOf"].end());
  }
}

TEST(PipelineSchema, CommitStandsBesideTheSinksKeyOnly) {
  const Json definitions = schema()["$defs"];
  EXPECT_TRUE(object_of(definitions["sink"])["properties"].contains("commit"));
  EXPECT_FALSE(object_of(definitions["dead_letter"])["properties"].contains("commit"));
  EXPECT_FALSE(object_of(definitions["source"])["properties"].contains("commit"));
}

TEST(PipelineSchema, ComponentsWithoutRequiredFieldsMayBeBareNames) {
  const Json choices = schema()["$defs"]["sink"]["anyOf"];
  ASSERT_EQ(choices.size(), 2U);
  const Json& names = choices[1]["enum"];
  EXPECT_NE(std::find(names.begin(), names.end(), "console"), names.end());
  EXPECT_EQ(std::find(names.begin(), names.end(), "file"), names.end());
}

TEST(PipelineSchema, EveryReferenceLeadsSomewhere) {
  const Json all = schema();
  for (const char* path :
       {"/properties/source", "/properties/decode", "/properties/sink", "/properties/errors/properties/dead_letter"}) {
    const auto reference = all.at(Json::json_pointer(path)).at("$ref").get<std::string>();
    ASSERT_EQ(reference.front(), '#');
    EXPECT_TRUE(all.contains(Json::json_pointer(reference.substr(1)))) << reference;
  }
}

}  // namespace
}  // namespace aqueduck::app
