#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "codecs/json/json_decoder.h"
#include "tests/support/arrow_text.h"

// The bytes as one message for each of: a decoder that infers, one that inferred from something else, one with types
// of every kind. Whatever comes out must be a valid batch.
namespace {

using aqueduck::Column;
using aqueduck::ColumnKind;
using aqueduck::Message;
using aqueduck::json::JsonDecoder;
using aqueduck::json::JsonOptions;

Column column(const char* name, ColumnKind kind, std::vector<Column> children = {}) {
  Column out;
  out.name = name;
  out.kind = kind;
  out.children = std::move(children);
  if (kind == ColumnKind::fixed_list) out.size = 2;
  if (kind == ColumnKind::decimal) {
    out.width = 8;
    out.precision = 10;
    out.scale = 2;
  }
  return out;
}

JsonOptions typed() {
  JsonOptions options;
  options.new_columns = aqueduck::json::NewColumns::extend;
  options.declared = {
      column("a", ColumnKind::int32),
      column("b", ColumnKind::float64),
      column("c", ColumnKind::text),
      column("d", ColumnKind::json),
      column("e", ColumnKind::structure, {column("a", ColumnKind::boolean)}),
      column("f", ColumnKind::list, {column("item", ColumnKind::timestamp)}),
      column("g", ColumnKind::fixed_list, {column("item", ColumnKind::decimal)}),
      column("h", ColumnKind::map, {column("key", ColumnKind::text), column("value", ColumnKind::blob)}),
      column("i", ColumnKind::uuid),
      column("j", ColumnKind::hugeint)};
  return options;
}

void check(JsonDecoder& decoder, std::string_view text) {
  std::vector<Message> messages(2);
  for (Message& message : messages) message.payload = text;
  if (!decoder.decode(messages)) std::abort();
  const auto decoded = decoder.finish();
  if (!decoded || !aqueduck::testing::invalid(decoded->batch).empty()) std::abort();
  const auto rows = static_cast<std::size_t>(decoded->batch.rows());
  if (!decoded->row_message.empty() && decoded->row_message.size() != rows) std::abort();
  // Columns outlive a restart as they are.
  JsonDecoder restarted{JsonOptions{}};
  if (!restarted.restore(decoder.saved_schema())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  JsonDecoder inferring{JsonOptions{}};
  check(inferring, text);
  inferring.restrict_to(std::vector<aqueduck::ColumnPath>{{"e", "a"}});
  check(inferring, text);
  JsonDecoder other{JsonOptions{}};
  check(other, R"({"a":null,"e":{"a":1},"f":[]})");
  check(other, text);
  JsonDecoder declared{typed()};
  check(declared, text);
  return 0;
}
