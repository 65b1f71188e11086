#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "columnar/builder.h"

/// Text to values, for decoders: strict (the whole text or nothing), without locale, without allocation.
namespace aqueduck {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

/// A number in decimal or scientific notation, times 10^scale. What doesn't come out whole is rounded half away from
/// zero, or refused where `exact` is asked for. nullopt: no number, or beyond 127 bits.
std::optional<Int128> parse_scaled(std::string_view text, int scale, bool exact);
std::optional<double> parse_double(std::string_view text);

/// A point in time as text had it.
struct Instant {
  std::int64_t seconds = 0;  ///< since 1970; moved to UTC where `zoned`
  std::int32_t nanos = 0;
  int fraction_digits = 0;
  bool zoned = false;
  bool date_only = false;
};
/// ISO 8601: "2026-11-30", "2026-11-30T12:00:00.5+01:00"; a blank may stand for the T, seconds may be absent.
std::optional<Instant> parse_instant(std::string_view text);
/// Microseconds since midnight of "HH:MM", "HH:MM:SS", "HH:MM:SS.ffffff".
std::optional<std::int64_t> parse_time_of_day(std::string_view text);
/// 32 hexadecimal digits, with or without dashes (8-4-4-4-12), into 16 bytes.
bool parse_uuid(std::string_view text, std::uint8_t* out);
/// Base64 (RFC 4648, padding optional) into `out`, which has room for text.size() * 3 / 4 bytes; the size, or nullopt.
std::optional<std::size_t> parse_base64(std::string_view text, char* out);
bool is_utf8(std::string_view text);

/// An integer, if it fits the column's kind (an integer kind or hugeint).
bool put_integer(ColumnBuilder& builder, std::int64_t row, Int128 value);
/// A decimal that was already scaled, if it fits the precision.
bool put_decimal(ColumnBuilder& builder, const Column& column, std::int64_t row, Int128 scaled);
/// Any scalar kind from its text. False: it doesn't fit, and nothing was added. JSON columns take the text as it is.
bool put_parsed(ColumnBuilder& builder, const Column& column, std::int64_t row, std::string_view text);

}  // namespace aqueduck
