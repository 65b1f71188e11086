#include "codecs/csv/component.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codecs/csv/csv_decoder.h"
#include "component/failed_decoder.h"
#include "sql/declared_columns.h"

namespace aqueduck {
namespace {

struct CsvConfig {
  std::vector<std::pair<std::string, std::string>> schema;
  std::optional<bool> header;
  std::string delimiter = ",";
  std::string quote = "\"";
  std::string null;
};

const config::ObjectSpec<CsvConfig>& csv_spec() {
  using config::field;
  static const config::ObjectSpec<CsvConfig> spec(
      "csv", "Decodes lines of separated values, one a message.",
      {field("schema", &CsvConfig::schema,
             "Columns and their types, as SQL writes them; without a header in the lines' order. Others are VARCHAR.")
           .example("{city: VARCHAR, at: TIMESTAMPTZ, amount: 'DECIMAL(10,2)'}"),
       field("header", &CsvConfig::header,
             "Whether the first line names the columns; true where there is no schema. Lines equal to it are no rows."),
       field("delimiter", &CsvConfig::delimiter, "One character between fields."),
       field("quote", &CsvConfig::quote, "One character around fields; doubled, it stands for itself."),
       field("null", &CsvConfig::null, "What an unquoted field says for NULL; nothing, if not set.")});
  return spec;
}

bool is_flat(const Column& column) { return column.children.empty() && column.kind != ColumnKind::json; }

class CsvFactory final : public DecoderFactory {
 public:
  CsvFactory(csv::CsvOptions options, std::vector<sql::DeclaredColumn> schema)
      : options_(std::move(options)), schema_(std::move(schema)) {}

  std::unique_ptr<Decoder> make(const ComponentContext& context) const override {
    auto declared = sql::declared_columns(context.database, schema_);
    if (!declared) return std::make_unique<FailedDecoder>(std::move(declared).error());
    for (std::size_t i = 0; i < declared->size(); ++i) {
      if (is_flat((*declared)[i])) continue;
      return std::make_unique<FailedDecoder>(
          make_error(ErrorKind::config,
                     "{}: column '{}' is declared as {}, which a field of a line can't be; declare "
                     "VARCHAR and cast in SQL",
                     schema_[i].where, schema_[i].name, schema_[i].type));
    }
    csv::CsvOptions options = options_;
    options.declared = std::move(*declared);
    return std::make_unique<csv::CsvDecoder>(std::move(options));
  }

 private:
  csv::CsvOptions options_;
  std::vector<sql::DeclaredColumn> schema_;
};

char one_character(const config::Node& node, std::string_view name, const std::string& text, config::Faults& faults) {
  const bool ascii =
      text.size() == 1 && static_cast<unsigned char>(text[0]) < 0x80 && text[0] != '\n' && text[0] != '\r';
  if (ascii) return text[0];
  const config::Node* at = node.find(name);
  faults.add(at == nullptr ? node.where : at->where, "{} is '{}'; it must be one ASCII character, like ';' or \"\\t\"",
             name, text);
  return '\0';
}

std::unique_ptr<DecoderFactory> parse(const config::Node& node, config::Faults& faults) {
  const std::size_t before = faults.all().size();
  const CsvConfig config = csv_spec().read(node, faults);
  csv::CsvOptions options;
  options.dialect.delimiter = one_character(node, "delimiter", config.delimiter, faults);
  options.dialect.quote = one_character(node, "quote", config.quote, faults);
  if (options.dialect.delimiter == options.dialect.quote && faults.all().size() == before) {
    faults.add(node.where, "delimiter and quote are both '{}'", options.dialect.quote);
  }
  options.header = config.header.value_or(config.schema.empty());
  options.null = config.null;
  if (!options.header && config.schema.empty()) {
    faults.add(node.where, "without a header the columns must be declared: add `schema: {{name: TYPE, …}}`");
  }
  if (faults.all().size() != before) return nullptr;
  std::vector<sql::DeclaredColumn> schema;
  if (const config::Node* declared = node.find("schema")) {
    for (const auto& entry : declared->entries) {
      schema.push_back({entry.key, entry.value.text, entry.value.where.to_string()});
    }
  }
  return std::make_unique<CsvFactory>(std::move(options), std::move(schema));
}

}  // namespace

const ComponentType<DecoderFactory>& csv_decoder() {
  static const ComponentType<DecoderFactory> type{
      &csv_spec().info(), parse, "csv:\n  schema: {city: VARCHAR, at: TIMESTAMPTZ}\n  delimiter: ';'\n"};
  return type;
}

}  // namespace aqueduck
