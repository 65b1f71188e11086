#include "columnar/value_text.h"

#include <nanoarrow/nanoarrow.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>

namespace aqueduck {

void append_base64(std::string_view bytes, std::string& out) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::size_t i = 0;
  const auto byte = [&](std::size_t at) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at])); };
  for (; i + 2 < bytes.size(); i += 3) {
    const std::uint32_t word = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (const int shift : {18, 12, 6, 0}) out += kDigits[word >> shift & 63];
  }
  if (i == bytes.size()) return;
  const bool two = i + 2 == bytes.size();
  const std::uint32_t word = byte(i) << 16 | (two ? byte(i + 1) << 8 : 0);
  out += kDigits[word >> 18 & 63];
  out += kDigits[word >> 12 & 63];
  out += two ? kDigits[word >> 6 & 63] : '=';
  out += '=';
}

namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;

template <typename T>
void append_integer(T value, std::string& out) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, value);
  out.append(text, end.ptr);
}

void append_unsigned128(UInt128 value, std::string& out) {
  char text[40];
  char* at = text + sizeof text;
  do {
    *--at = static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  out.append(at, text + sizeof text);
}

void append_signed128(Int128 value, std::string& out) {
  if (value < 0) out += '-';
  append_unsigned128(value < 0 ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value), out);
}

template <typename T>
bool append_float(T value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
    return false;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return false;
  }
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value);
  const std::string_view digits(text, static_cast<std::size_t>(end.ptr - text));
  out += digits;
  // A reader that infers types must see a floating-point number again.
  if (digits.find_first_of(".e") == std::string_view::npos) out += ".0";
  return true;
}

Int128 decimal_of(const Cell& cell, std::int64_t row) {
  switch (cell.width()) {
    case 4:
      return cell.value<std::int32_t>(row);
    case 8:
      return cell.value<std::int64_t>(row);
    default: {
      Int128 value = 0;
      std::memcpy(&value, cell.bytes(row).data(), sizeof value);
      return value;
    }
  }
}

void append_decimal(Int128 value, int scale, std::string& out) {
  std::string digits;
  append_signed128(value, digits);
  if (scale <= 0) {
    out += digits;
    if (value != 0) out.append(static_cast<std::size_t>(-scale), '0');
    return;
  }
  if (digits[0] == '-') {
    out += '-';
    digits.erase(0, 1);
  }
  const auto wanted = static_cast<std::size_t>(scale) + 1;
  if (digits.size() < wanted) digits = std::string(wanted - digits.size(), '0') + digits;
  out.append(digits, 0, digits.size() - static_cast<std::size_t>(scale));
  out += '.';
  out.append(digits, digits.size() - static_cast<std::size_t>(scale));
}

void append_padded(std::int64_t value, int width, std::string& out) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, value);
  for (auto n = end.ptr - text; n < width; ++n) out += '0';
  out.append(text, end.ptr);
}

void append_date(std::int64_t days, std::string& out) {
  // Days to a proleptic Gregorian date, for the whole range of 64-bit seconds (std::chrono::year stops at 32767).
  const std::int64_t shifted = days + 719'468;
  const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146'096) / 146'097;
  const std::int64_t day_of_era = shifted - era * 146'097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const std::int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  if (year < 0) {
    out += '-';
    year = -year;
  }
  append_padded(year, 4, out);
  out += '-';
  append_padded(month, 2, out);
  out += '-';
  append_padded(day_of_year - (153 * shifted_month + 2) / 5 + 1, 2, out);
}

/// ".5", ".123456": `fraction` of 10^digits without trailing zeros; nothing for 0.
void append_fraction(std::int64_t fraction, int digits, std::string& out) {
  if (fraction == 0) return;
  out += '.';
  append_padded(fraction, digits, out);
  while (out.back() == '0') out.pop_back();
}

std::int64_t power_of_ten(int digits) {
  std::int64_t power = 1;
  for (int i = 0; i < digits; ++i) power *= 10;
  return power;
}

void append_time(std::int64_t value, int digits, std::string& out) {
  const std::int64_t unit = power_of_ten(digits);
  const std::int64_t seconds = value / unit;
  append_padded(seconds / 3600, 2, out);
  out += ':';
  append_padded(seconds / 60 % 60, 2, out);
  out += ':';
  append_padded(seconds % 60, 2, out);
  append_fraction(value % unit, digits, out);
}

bool append_infinity(bool positive, bool negative, std::string& out) {
  if (positive) out += "infinity";
  if (negative) out += "-infinity";
  return positive || negative;
}

void append_timestamp(std::int64_t value, int digits, bool utc, std::string& out) {
  if (append_infinity(value == INT64_MAX, value == -INT64_MAX, out)) return;
  const std::int64_t day_length = kSecondsPerDay * power_of_ten(digits);
  std::int64_t days = value / day_length;
  std::int64_t rest = value % day_length;
  if (rest < 0) {
    rest += day_length;
    --days;
  }
  append_date(days, out);
  out += 'T';
  append_time(rest, digits, out);
  if (utc) out += 'Z';
}

/// DuckDB's TIMETZ: microseconds in the upper 40 bits, 57599 minus the offset in seconds in the lower 24.
void append_time_tz(std::uint64_t bits, std::string& out) {
  append_time(static_cast<std::int64_t>(bits >> 24), 6, out);
  std::int64_t offset = 57'599 - static_cast<std::int64_t>(bits & 0xFFFFFF);
  out += offset < 0 ? '-' : '+';
  offset = std::abs(offset);
  append_padded(offset / 3600, 2, out);
  out += ':';
  append_padded(offset / 60 % 60, 2, out);
  if (offset % 60 != 0) {
    out += ':';
    append_padded(offset % 60, 2, out);
  }
}

/// "1 year 2 months 3 days 04:05:06.7": what DuckDB shows and reads.
void append_interval(std::int64_t months, std::int64_t days, std::int64_t nanos, std::string& out) {
  const std::size_t begin = out.size();
  const auto part = [&](std::int64_t count, std::string_view unit) {
    if (count == 0) return;
    if (out.size() != begin) out += ' ';
    append_integer(count, out);
    out += ' ';
    out += unit;
    if (count != 1 && count != -1) out += 's';
  };
  part(months / 12, "year");
  part(months % 12, "month");
  part(days, "day");
  if (nanos == 0 && out.size() != begin) return;
  if (out.size() != begin) out += ' ';
  if (nanos < 0) out += '-';
  const std::uint64_t size = nanos < 0 ? 0 - static_cast<std::uint64_t>(nanos) : static_cast<std::uint64_t>(nanos);
  append_time(static_cast<std::int64_t>(std::min<std::uint64_t>(size, INT64_MAX)), 9, out);
}

void append_duration(std::int64_t value, int digits, std::string& out) {
  if (value < 0) out += '-';
  const std::uint64_t size = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  append_time(static_cast<std::int64_t>(std::min<std::uint64_t>(size, INT64_MAX)), digits, out);
}

void append_uuid(std::string_view bytes, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    const auto byte = static_cast<unsigned char>(bytes[i]);
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
}

/// DuckDB's BIT: a byte that says how many bits of the next one are padding, then the bits, highest first.
void append_bits(std::string_view bytes, std::string& out) {
  if (bytes.size() < 2) return;
  for (std::size_t i = static_cast<unsigned char>(bytes[0]) % 8; i < (bytes.size() - 1) * 8; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[1 + i / 8]);
    out += (byte >> (7 - i % 8) & 1) != 0 ? '1' : '0';
  }
}

/// DuckDB's BIGNUM: three bytes of header (the top bit set for a positive number), then its bytes, highest first; a
/// negative number has every bit inverted.
void append_bignum(std::string_view bytes, std::string& out) {
  constexpr std::size_t kHeader = 3;
  constexpr std::uint64_t kBase = 1'000'000'000;
  if (bytes.size() <= kHeader) {
    out += '0';
    return;
  }
  const bool negative = (static_cast<unsigned char>(bytes[0]) & 0x80) == 0;
  std::vector<std::uint32_t> limbs{0};  // base 10^9, lowest first
  for (std::size_t i = kHeader; i < bytes.size(); ++i) {
    std::uint64_t carry = static_cast<unsigned char>(bytes[i]) ^ (negative ? 0xFFU : 0U);
    for (std::uint32_t& limb : limbs) {
      carry += static_cast<std::uint64_t>(limb) << 8;
      limb = static_cast<std::uint32_t>(carry % kBase);
      carry /= kBase;
    }
    if (carry != 0) limbs.push_back(static_cast<std::uint32_t>(carry));
  }
  if (negative) out += '-';
  append_integer(limbs.back(), out);
  for (std::size_t i = limbs.size() - 1; i-- > 0;) append_padded(limbs[i], 9, out);
}

}  // namespace

bool is_bare(CellKind kind) {
  switch (kind) {
    case CellKind::boolean:
    case CellKind::bool8:
    case CellKind::int8:
    case CellKind::int16:
    case CellKind::int32:
    case CellKind::int64:
    case CellKind::uint8:
    case CellKind::uint16:
    case CellKind::uint32:
    case CellKind::uint64:
    case CellKind::hugeint:
    case CellKind::uhugeint:
    case CellKind::half:
    case CellKind::float32:
    case CellKind::float64:
    case CellKind::decimal:
    case CellKind::bignum:
    case CellKind::json:
      return true;
    default:
      return false;
  }
}

bool append_scalar(const Cell& cell, std::int64_t row, std::string& out) {
  switch (cell.kind()) {
    case CellKind::boolean:
      out += cell.bit(row) ? "true" : "false";
      break;
    case CellKind::bool8:
      out += cell.value<std::int8_t>(row) != 0 ? "true" : "false";
      break;
    case CellKind::int8:
      append_integer(static_cast<int>(cell.value<std::int8_t>(row)), out);
      break;
    case CellKind::int16:
      append_integer(cell.value<std::int16_t>(row), out);
      break;
    case CellKind::int32:
      append_integer(cell.value<std::int32_t>(row), out);
      break;
    case CellKind::int64:
      append_integer(cell.value<std::int64_t>(row), out);
      break;
    case CellKind::uint8:
      append_integer(static_cast<unsigned>(cell.value<std::uint8_t>(row)), out);
      break;
    case CellKind::uint16:
      append_integer(cell.value<std::uint16_t>(row), out);
      break;
    case CellKind::uint32:
      append_integer(cell.value<std::uint32_t>(row), out);
      break;
    case CellKind::uint64:
      append_integer(cell.value<std::uint64_t>(row), out);
      break;
    case CellKind::hugeint: {
      Int128 value = 0;
      std::memcpy(&value, cell.bytes(row).data(), sizeof value);
      append_signed128(value, out);
      break;
    }
    case CellKind::uhugeint: {
      UInt128 value = 0;
      std::memcpy(&value, cell.bytes(row).data(), sizeof value);
      append_unsigned128(value, out);
      break;
    }
    case CellKind::half:
      return append_float(ArrowHalfFloatToFloat(cell.value<std::uint16_t>(row)), out);
    case CellKind::float32:
      return append_float(cell.value<float>(row), out);
    case CellKind::float64:
      return append_float(cell.value<double>(row), out);
    case CellKind::decimal:
      append_decimal(decimal_of(cell, row), cell.scale(), out);
      break;
    case CellKind::text:
    case CellKind::json:
      out += cell.bytes(row);
      break;
    case CellKind::blob:
      append_base64(cell.bytes(row), out);
      break;
    case CellKind::bit:
      append_bits(cell.bytes(row), out);
      break;
    case CellKind::bignum:
      append_bignum(cell.bytes(row), out);
      break;
    case CellKind::date32: {
      const auto days = cell.value<std::int32_t>(row);
      if (!append_infinity(days == INT32_MAX, days == -INT32_MAX, out)) append_date(days, out);
      break;
    }
    case CellKind::date64: {
      const auto millis = cell.value<std::int64_t>(row);
      append_date((millis - (millis < 0 ? kSecondsPerDay * 1000 - 1 : 0)) / (kSecondsPerDay * 1000), out);
      break;
    }
    case CellKind::time:
      append_duration(cell.width() == 4 ? cell.value<std::int32_t>(row) : cell.value<std::int64_t>(row),
                      cell.unit_digits(), out);
      break;
    case CellKind::time_tz: {
      std::uint64_t bits = 0;
      std::memcpy(&bits, cell.bytes(row).data(), sizeof bits);
      append_time_tz(bits, out);
      break;
    }
    case CellKind::timestamp:
      append_timestamp(cell.value<std::int64_t>(row), cell.unit_digits(), cell.utc(), out);
      break;
    case CellKind::interval: {
      struct Parts {
        std::int32_t months;
        std::int32_t days;
        std::int64_t nanos;
      };
      const auto parts = cell.value<Parts>(row);
      append_interval(parts.months, parts.days, parts.nanos, out);
      break;
    }
    case CellKind::interval_months:
      append_interval(cell.value<std::int32_t>(row), 0, 0, out);
      break;
    case CellKind::interval_day_time: {
      struct Parts {
        std::int32_t days;
        std::int32_t millis;
      };
      const auto parts = cell.value<Parts>(row);
      append_interval(0, parts.days, static_cast<std::int64_t>(parts.millis) * kMicrosPerSecond, out);
      break;
    }
    case CellKind::duration:
      append_duration(cell.value<std::int64_t>(row), cell.unit_digits(), out);
      break;
    case CellKind::uuid:
      append_uuid(cell.bytes(row), out);
      break;
    default:
      break;
  }
  return true;
}

}  // namespace aqueduck
