#include "codecs/json/component.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codecs/json/json_decoder.h"
#include "component/failed_decoder.h"
#include "sql/declared_columns.h"

namespace aqueduck {
namespace {

using json::ArrayPolicy;
using json::NewColumns;
using json::TombstonePolicy;

struct JsonConfig {
  std::vector<std::pair<std::string, std::string>> schema;
  std::optional<NewColumns> columns;
  ArrayPolicy array = ArrayPolicy::rows;
  TombstonePolicy tombstone = TombstonePolicy::skip;
  bool timestamps = true;
  int max_depth = 64;
  config::Count max_columns{1'000};
};

const config::ObjectSpec<JsonConfig>& json_spec() {
  using config::choice;
  using config::field;
  static const config::ObjectSpec<JsonConfig> spec =
      config::ObjectSpec<JsonConfig>(
          "json", "Decodes JSON objects, one a message, or a list of them.",
          {field("schema", &JsonConfig::schema,
                 "Columns and their types, as SQL writes them. Left out: inferred from the first batch.")
               .example("{city: VARCHAR, props: 'STRUCT(a INTEGER, tags VARCHAR[])', at: TIMESTAMPTZ}"),
           choice<JsonConfig>(
               "columns", &JsonConfig::columns,
               {{"extend", NewColumns::extend, "It becomes a column (the default where columns are inferred)."},
                {"ignore", NewColumns::ignore, "It is left out (the default where a schema is declared)."},
                {"fail", NewColumns::fail, "The pipeline ends with an error that names it."}},
               "What happens to a key that isn't among the columns."),
           choice<JsonConfig>("array", &JsonConfig::array,
                              {{"rows", ArrayPolicy::rows, "Each element is a row."},
                               {"fail", ArrayPolicy::fail, "The message can't be decoded."}},
                              "What a message is whose value is a list."),
           choice<JsonConfig>("tombstone", &JsonConfig::tombstone,
                              {{"skip", TombstonePolicy::skip, "It gives no row."},
                               {"row", TombstonePolicy::row, "It gives a row of nulls."},
                               {"fail", TombstonePolicy::fail, "The message can't be decoded."}},
                              "What a message without a value (a Kafka tombstone) is."),
           field("timestamps", &JsonConfig::timestamps,
                 "Whether inference makes DATE, TIMESTAMP or TIMESTAMPTZ of texts that are all ISO 8601."),
           field("max_depth", &JsonConfig::max_depth, "How deep objects and lists may nest; 1 to 1000."),
           field("max_columns", &JsonConfig::max_columns,
                 "How many columns there may be, fields at all levels; a message with one more can't be decoded.")})
          .details("What becomes of every kind of message is listed in docs/internals/json.md.");
  return spec;
}

class JsonFactory final : public DecoderFactory {
 public:
  JsonFactory(JsonConfig config, std::vector<sql::DeclaredColumn> schema)
      : config_(std::move(config)), schema_(std::move(schema)) {}

  std::unique_ptr<Decoder> make(const ComponentContext& context) const override {
    auto declared = sql::declared_columns(context.database, schema_);
    if (!declared) return std::make_unique<FailedDecoder>(std::move(declared).error());
    json::JsonOptions options;
    options.declared = std::move(*declared);
    options.new_columns = config_.columns;
    options.array = config_.array;
    options.tombstone = config_.tombstone;
    options.limits = {config_.max_depth, config_.max_columns.value, config_.timestamps};
    return std::make_unique<json::JsonDecoder>(std::move(options));
  }

 private:
  JsonConfig config_;
  std::vector<sql::DeclaredColumn> schema_;
};

std::unique_ptr<DecoderFactory> parse(const config::Node& node, config::Faults& faults) {
  const std::size_t before = faults.all().size();
  JsonConfig config = json_spec().read(node, faults);
  if (config.max_depth < 1 || config.max_depth > 1'000) {
    const config::Node* at = node.find("max_depth");
    faults.add(at == nullptr ? node.where : at->where, "max_depth is {}; it must be from 1 to 1000", config.max_depth);
  }
  if (faults.all().size() != before) return nullptr;
  std::vector<sql::DeclaredColumn> schema;
  if (const config::Node* declared = node.find("schema")) {
    for (const auto& entry : declared->entries) {
      schema.push_back({entry.key, entry.value.text, entry.value.where.to_string()});
    }
  }
  return std::make_unique<JsonFactory>(std::move(config), std::move(schema));
}

}  // namespace

const ComponentType<DecoderFactory>& json_decoder() {
  static const ComponentType<DecoderFactory> type{
      &json_spec().info(), parse,
      "json:\n  schema: {city: VARCHAR, props: 'STRUCT(a INTEGER, tags VARCHAR[])', at: TIMESTAMPTZ}\n"};
  return type;
}

}  // namespace aqueduck
