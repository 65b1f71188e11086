#include "columnar/schema.h"

#include <nanoarrow/nanoarrow.h>

#include <new>

namespace aqueduck {

namespace {

/// The opaque types that DuckDB exports, by the "type_name" of their extension metadata.
constexpr std::string_view kOpaqueTypes[] = {"duckdb.hugeint", "duckdb.uhugeint", "duckdb.time_tz", "duckdb.bit",
                                             "duckdb.bignum",  "duckdb.varint",   "duckdb.variant", "duckdb.geometry"};
constexpr std::string_view kOpaquePrefix = "duckdb.";

std::string_view metadata_value(const ArrowSchema& field, const char* key) {
  ArrowStringView value{nullptr, 0};
  if (field.metadata == nullptr || ArrowMetadataGetValue(field.metadata, ArrowCharView(key), &value) != NANOARROW_OK ||
      value.data == nullptr) {
    return {};
  }
  return {value.data, static_cast<std::size_t>(value.size_bytes)};
}

std::string_view opaque_type(std::string_view metadata) {
  for (const std::string_view type : kOpaqueTypes) {
    const std::string quoted = '"' + std::string(type.substr(kOpaquePrefix.size())) + '"';
    if (metadata.find(quoted) != std::string_view::npos) return type;
  }
  return "arrow.opaque";
}

void append_text(std::string& out, std::string_view text) {
  out += std::to_string(text.size());
  out += ':';
  out += text;
}

void append_fingerprint(std::string& out, const ArrowSchema& field) {
  append_text(out, field.name == nullptr ? "" : field.name);
  append_text(out, field.format == nullptr ? "" : field.format);
  constexpr std::int64_t kRelevant = ARROW_FLAG_NULLABLE | ARROW_FLAG_MAP_KEYS_SORTED;
  out += static_cast<char>('0' + (field.flags & kRelevant));
  append_text(out, metadata_value(field, "ARROW:extension:name"));
  append_text(out, metadata_value(field, "ARROW:extension:metadata"));
  if (field.dictionary != nullptr) {
    out += '<';
    append_fingerprint(out, *field.dictionary);
    out += '>';
  }
  if (field.n_children > 0) {
    out += '(';
    for (std::int64_t i = 0; i < field.n_children; ++i) append_fingerprint(out, *field.children[i]);
    out += ')';
  }
}

}  // namespace

Schema Schema::adopt(ArrowSchema* raw) {
  Schema out;
  if (raw->release != nullptr) ArrowSchemaMove(raw, &out.raw_);
  return out;
}

Schema::Schema(Schema&& other) noexcept {
  if (other.raw_.release != nullptr) ArrowSchemaMove(&other.raw_, &raw_);
}

Schema& Schema::operator=(Schema&& other) noexcept {
  if (this != &other) {
    if (raw_.release != nullptr) ArrowSchemaRelease(&raw_);
    if (other.raw_.release != nullptr) ArrowSchemaMove(&other.raw_, &raw_);
  }
  return *this;
}

Schema::~Schema() {
  if (raw_.release != nullptr) ArrowSchemaRelease(&raw_);
}

Schema Schema::clone() const {
  Schema out;
  if (raw_.release != nullptr && ArrowSchemaDeepCopy(&raw_, &out.raw_) != NANOARROW_OK) throw std::bad_alloc();
  return out;
}

std::string Schema::fingerprint() const {
  std::string out;
  for (std::size_t i = 0; i < size(); ++i) append_fingerprint(out, column(i));
  return out;
}

std::string_view extension_name(const ArrowSchema& field) {
  const std::string_view name = metadata_value(field, "ARROW:extension:name");
  return name == "arrow.opaque" ? opaque_type(metadata_value(field, "ARROW:extension:metadata")) : name;
}

Array Array::adopt(ArrowArray* raw) {
  Array out;
  if (raw->release != nullptr) ArrowArrayMove(raw, &out.raw_);
  return out;
}

Array::Array(Array&& other) noexcept {
  if (other.raw_.release != nullptr) ArrowArrayMove(&other.raw_, &raw_);
}

Array& Array::operator=(Array&& other) noexcept {
  if (this != &other) {
    if (raw_.release != nullptr) ArrowArrayRelease(&raw_);
    if (other.raw_.release != nullptr) ArrowArrayMove(&other.raw_, &raw_);
  }
  return *this;
}

Array::~Array() {
  if (raw_.release != nullptr) ArrowArrayRelease(&raw_);
}

void Array::release_to(ArrowArray* out) {
  *out = raw_;
  raw_ = ArrowArray{};
}

}  // namespace aqueduck
