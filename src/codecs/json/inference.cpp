#include "codecs/json/inference.h"

#include <cmath>
#include <limits>

#include "columnar/parse_value.h"

namespace aqueduck::json {
namespace {

constexpr Int128 kExactInDouble = static_cast<Int128>(1) << 53;
constexpr int kBigDigits = 38;

Int128 power_of_ten(int exponent) {
  Int128 out = 1;
  for (int i = 0; i < exponent; ++i) out *= 10;
  return out;
}

}  // namespace

void SeenValues::observe(TokenCursor& cursor, const InferenceLimits& limits, std::size_t& columns) {
  switch (cursor.kind()) {
    case Kind::null:
      cursor.advance();
      break;
    case Kind::boolean:
      boolean_ = true;
      cursor.advance();
      break;
    case Kind::number:
      observe_number(cursor.scalar());
      break;
    case Kind::string:
      observe_text(cursor.string(), limits);
      break;
    case Kind::object:
      observe_object(cursor, limits, columns);
      break;
    case Kind::array:
      array_ = true;
      cursor.advance();
      if (cursor.take(']')) break;
      if (element_.empty()) element_.emplace_back();
      do element_[0].observe(cursor, limits, columns);
      while (cursor.take(','));
      cursor.advance();
      break;
    case Kind::invalid:
      break;
  }
}

void SeenValues::observe_number(std::string_view text) {
  number_ = true;
  bool whole = false;
  is_number(text, whole);
  if (!whole || text == "-0") {
    fraction_ = true;
    if (!parse_double(text)) unbounded_ = true;
    return;
  }
  const auto value = parse_scaled(text, 0, true);
  if (!value || *value >= power_of_ten(kBigDigits) || *value <= -power_of_ten(kBigDigits)) {
    unbounded_ = true;
    return;
  }
  if (*value < 0) negative_ = true;
  if (*value > kExactInDouble || *value < -kExactInDouble) inexact_ = true;
  if (*value < std::numeric_limits<std::int64_t>::min()) wider_ = true;
  if (*value > std::numeric_limits<std::int64_t>::max()) wide_ = true;
  if (*value > static_cast<Int128>(std::numeric_limits<std::uint64_t>::max())) wider_ = true;
}

void SeenValues::observe_text(std::string_view raw, const InferenceLimits& limits) {
  text_ = true;
  if (!dates_ && !local_times_ && !moments_) return;
  const auto at = limits.timestamps ? parse_instant(raw) : std::nullopt;
  const bool exact = at && at->fraction_digits <= 6;
  dates_ = dates_ && exact && at->date_only;
  local_times_ = local_times_ && exact && !at->date_only && !at->zoned;
  moments_ = moments_ && exact && at->zoned;
}

void SeenValues::observe_object(TokenCursor& cursor, const InferenceLimits& limits, std::size_t& columns) {
  object_ = true;
  cursor.advance();
  if (cursor.take('}')) return;
  std::string name;
  do {
    const std::string_view raw = cursor.string();
    cursor.advance();
    const bool readable = unescape(raw, name);
    auto found = readable ? by_name_.find(name) : by_name_.end();
    if (readable && found == by_name_.end() && columns < limits.max_columns) {
      ++columns;
      found = by_name_.emplace(name, fields_.size()).first;
      fields_.emplace_back(name, SeenValues());
    }
    if (found == by_name_.end()) {
      cursor.skip(std::numeric_limits<int>::max());
    } else {
      fields_[found->second].second.observe(cursor, limits, columns);
    }
  } while (cursor.take(','));
  cursor.advance();
}

void SeenValues::resolve_number(KnownColumn& out) const {
  if (fraction_) {
    // Widening must not change a number that was whole.
    out.type.kind = inexact_ || unbounded_ ? ColumnKind::json : ColumnKind::float64;
  } else if (unbounded_) {
    out.type.kind = ColumnKind::json;
  } else if (wider_ || (wide_ && negative_)) {
    out.type.kind = ColumnKind::decimal;
    out.type.width = 16;
    out.type.precision = kBigDigits;
  } else {
    out.type.kind = wide_ ? ColumnKind::uint64 : ColumnKind::int64;
  }
}

void SeenValues::resolve_text(KnownColumn& out) const {
  out.type.kind = dates_ ? ColumnKind::date : local_times_ || moments_ ? ColumnKind::timestamp : ColumnKind::text;
  out.type.zoned = moments_ && out.type.kind == ColumnKind::timestamp;
}

KnownColumn SeenValues::resolve(std::string name, const InferenceLimits& limits) const {
  KnownColumn out;
  out.type.name = std::move(name);
  out.type.kind = ColumnKind::json;
  const int kinds = boolean_ + number_ + text_ + array_ + object_;
  if (kinds > 1) return out;
  if (boolean_) {
    out.type.kind = ColumnKind::boolean;
  } else if (number_) {
    resolve_number(out);
  } else if (text_) {
    resolve_text(out);
  } else if (object_ && !fields_.empty()) {
    out.type.kind = ColumnKind::structure;
    out.children = resolve_fields(limits);
  } else {
    out.pending = true;
    if (!array_ || element_.empty()) return out;
    KnownColumn element = element_[0].resolve("item", limits);
    if (element.pending) return out;
    out.pending = false;
    out.type.kind = ColumnKind::list;
    out.children.push_back(std::move(element));
  }
  return out;
}

KnownColumns SeenValues::resolve_fields(const InferenceLimits& limits) const {
  KnownColumns out;
  for (const auto& [name, values] : fields_) out.push_back(values.resolve(name, limits));
  return out;
}

}  // namespace aqueduck::json
