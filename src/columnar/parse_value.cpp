#include "columnar/parse_value.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace aqueduck {
namespace {

// std::numeric_limits knows nothing of it without the compiler's extensions.
constexpr auto kMax128 = static_cast<Int128>(~static_cast<UInt128>(0) >> 1U);
constexpr int kMaxExponent = 10'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// value * 10 + digit, kept negative so that the least value fits, too.
bool push_digit(Int128& negative, int digit) {
  constexpr Int128 kLeast = -kMax128 - 1;
  if (negative < (kLeast + digit) / 10) return false;
  negative = negative * 10 - digit;
  return true;
}

struct Reader {
  std::string_view text;
  std::size_t at = 0;

  bool done() const { return at == text.size(); }
  char peek() const { return done() ? '\0' : text[at]; }
  bool take(char c) {
    if (peek() != c || done()) return false;
    ++at;
    return true;
  }
  /// Exactly `count` digits.
  bool digits(int count, int& out) {
    out = 0;
    for (int i = 0; i < count; ++i, ++at) {
      if (done() || !is_digit(text[at])) return false;
      out = out * 10 + (text[at] - '0');
    }
    return true;
  }
};

/// Days since 1970 of a date of the proleptic Gregorian calendar: years begin in March, eras have 400 of them.
std::int64_t days_from_civil(int year, int month, int day) {
  const int y = month <= 2 ? year - 1 : year;
  const int era = y / 400;
  const int year_of_era = y - era * 400;
  const int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return static_cast<std::int64_t>(era) * 146'097 + day_of_era - 719'468;
}

bool read_date(Reader& in, std::int64_t& days) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!in.digits(4, year) || !in.take('-') || !in.digits(2, month) || !in.take('-') || !in.digits(2, day)) return false;
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year == 0 || month < 1 || month > 12 || day < 1) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (day > kDays[static_cast<std::size_t>(month - 1)] + (month == 2 && leap ? 1 : 0)) return false;
  days = days_from_civil(year, month, day);
  return true;
}

bool read_time(Reader& in, std::int64_t& seconds, Instant& out) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (!in.digits(2, hour) || !in.take(':') || !in.digits(2, minute)) return false;
  if (in.take(':')) {
    if (!in.digits(2, second)) return false;
    if (in.take('.')) {
      int scale = 100'000'000;
      const std::size_t begin = in.at;
      for (; is_digit(in.peek()); ++in.at, scale /= 10) out.nanos += (in.peek() - '0') * scale;
      // Trailing zeros say nothing about the precision.
      std::size_t last = in.at;
      while (last > begin && in.text[last - 1] == '0') --last;
      out.fraction_digits = static_cast<int>(std::min<std::size_t>(last - begin, 99));
      if (in.at == begin) return false;
    }
  }
  if (hour > 23 || minute > 59 || second > 59) return false;
  seconds = std::int64_t{hour} * 3600 + std::int64_t{minute} * 60 + second;
  return true;
}

bool read_zone(Reader& in, std::int64_t& offset) {
  if (in.take('Z') || in.take('z')) return true;
  const bool negative = in.peek() == '-';
  if (!in.take('+') && !in.take('-')) return false;
  int hours = 0;
  int minutes = 0;
  if (!in.digits(2, hours)) return false;
  in.take(':');
  if (!in.done() && !in.digits(2, minutes)) return false;
  if (hours > 15 || minutes > 59) return false;
  offset = (std::int64_t{hours} * 3600 + std::int64_t{minutes} * 60) * (negative ? -1 : 1);
  return true;
}

bool put_instant(ColumnBuilder& builder, const Column& column, std::int64_t row, const Instant& at) {
  constexpr std::array<std::int64_t, 4> kPerSecond = {1, 1'000, 1'000'000, 1'000'000'000};
  const std::int64_t scale = kPerSecond[static_cast<std::size_t>(column.unit)];
  const Int128 value = static_cast<Int128>(at.seconds) * scale + at.nanos / (1'000'000'000 / scale);
  if (value > std::numeric_limits<std::int64_t>::max() || value < std::numeric_limits<std::int64_t>::min())
    return false;
  builder.put(row, static_cast<std::int64_t>(value));
  return true;
}

template <typename T>
bool put_if_fits(ColumnBuilder& builder, std::int64_t row, Int128 value) {
  if (value < static_cast<Int128>(std::numeric_limits<T>::min()) ||
      value > static_cast<Int128>(std::numeric_limits<T>::max())) {
    return false;
  }
  builder.put(row, static_cast<T>(value));
  return true;
}

bool put_boolean(ColumnBuilder& builder, std::int64_t row, std::string_view text) {
  const bool yes = text == "true" || text == "TRUE" || text == "True" || text == "t" || text == "1";
  const bool no = text == "false" || text == "FALSE" || text == "False" || text == "f" || text == "0";
  if (yes || no) builder.put(row, static_cast<std::uint8_t>(yes ? 1 : 0));
  return yes || no;
}

bool put_blob(ColumnBuilder& builder, std::int64_t row, std::string_view text) {
  char* const out = builder.begin_bytes(row, text.size());
  if (out == nullptr) return false;
  const auto size = parse_base64(text, out);
  if (!size) return false;
  builder.end_bytes(row, *size);
  return true;
}

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (is_digit(c)) return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Bytes of the UTF-8 sequence at `p`, or 0 where it isn't one.
std::size_t sequence_length(const unsigned char* p, std::size_t left) {
  const auto tail = [&](std::size_t i) { return i < left && (p[i] & 0xC0U) == 0x80U; };
  if (p[0] < 0x80) return 1;
  if (p[0] >= 0xC2 && p[0] <= 0xDF) return tail(1) ? 2 : 0;
  if ((p[0] & 0xF0U) == 0xE0) {
    if (!tail(1) || !tail(2)) return 0;
    const bool overlong = p[0] == 0xE0 && p[1] < 0xA0;
    const bool surrogate = p[0] == 0xED && p[1] >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (p[0] >= 0xF0 && p[0] <= 0xF4) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    const bool overlong = p[0] == 0xF0 && p[1] < 0x90;
    const bool beyond = p[0] == 0xF4 && p[1] >= 0x90;
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

}  // namespace

std::optional<Int128> parse_scaled(std::string_view text, int scale, bool exact) {
  Reader in{text};
  const bool negative = in.take('-');
  if (!negative) in.take('+');
  // Digits without the point; `point` of them stand before it.
  const std::size_t begin = in.at;
  std::int64_t before = 0;
  std::int64_t total = 0;
  while (is_digit(in.peek())) ++in.at, ++before;
  total = before;
  if (in.take('.')) {
    while (is_digit(in.peek())) ++in.at, ++total;
  }
  if (total == 0) return std::nullopt;
  const std::size_t digits_end = in.at;
  std::int64_t exponent = 0;
  if (in.take('e') || in.take('E')) {
    const bool down = in.take('-');
    if (!down) in.take('+');
    if (in.done()) return std::nullopt;
    for (; is_digit(in.peek()); ++in.at)
      exponent = std::min<std::int64_t>(exponent * 10 + (in.peek() - '0'), INT32_MAX);
    if (down) exponent = -exponent;
  }
  if (!in.done()) return std::nullopt;

  const std::int64_t wanted = before + exponent + scale;  // how many of the digits make the result
  Int128 value = 0;
  std::int64_t index = 0;
  bool round_up = false;
  for (std::size_t i = begin; i < digits_end; ++i) {
    if (text[i] == '.') continue;
    const int digit = text[i] - '0';
    if (index < wanted) {
      if (!push_digit(value, digit)) return std::nullopt;
    } else {
      if (exact && digit != 0) return std::nullopt;
      if (index == wanted) round_up = digit >= 5;
    }
    ++index;
  }
  if (value != 0 && wanted - index > kMaxExponent) return std::nullopt;
  for (; value != 0 && index < wanted; ++index) {
    if (!push_digit(value, 0)) return std::nullopt;
  }
  if (round_up) {
    if (value == -kMax128 - 1) return std::nullopt;
    value -= 1;
  }
  if (negative) return value;
  if (value == -kMax128 - 1) return std::nullopt;
  return -value;
}

std::optional<double> parse_double(std::string_view text) {
  if (text == "NaN" || text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity" || text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity" || text == "-inf") return -std::numeric_limits<double>::infinity();
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  // from_chars would also take "nan(…)" and "infinity".
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // Too small is zero, too large is an error; from_chars doesn't tell which.
    const std::size_t exponent = text.find_first_of("eE");
    const bool small = (exponent != std::string_view::npos && text[exponent + 1] == '-') || text.substr(0, 2) == "0." ||
                       text.substr(0, 3) == "-0.";
    if (!small) return std::nullopt;
    return text[0] == '-' ? -0.0 : 0.0;
  }
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<Instant> parse_instant(std::string_view text) {
  Reader in{text};
  Instant out;
  std::int64_t days = 0;
  if (!read_date(in, days)) return std::nullopt;
  out.seconds = days * 86'400;
  if (in.done()) {
    out.date_only = true;
    return out;
  }
  std::int64_t seconds = 0;
  if (!in.take('T') && !in.take(' ') && !in.take('t')) return std::nullopt;
  if (!read_time(in, seconds, out)) return std::nullopt;
  out.seconds += seconds;
  if (in.done()) return out;
  std::int64_t offset = 0;
  if (!read_zone(in, offset) || !in.done()) return std::nullopt;
  out.zoned = true;
  out.seconds -= offset;
  return out;
}

std::optional<std::int64_t> parse_time_of_day(std::string_view text) {
  Reader in{text};
  Instant fraction;
  std::int64_t seconds = 0;
  if (!read_time(in, seconds, fraction) || !in.done()) return std::nullopt;
  return seconds * 1'000'000 + fraction.nanos / 1'000;
}

bool parse_uuid(std::string_view text, std::uint8_t* out) {
  const bool dashed = text.size() == 36;
  if (!dashed && text.size() != 32) return false;
  std::size_t nibble = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (dashed && (i == 8 || i == 13 || i == 18 || i == 23)) {
      if (text[i] != '-') return false;
      continue;
    }
    const int digit = hex_digit(text[i]);
    if (digit < 0) return false;
    out[nibble / 2] = static_cast<std::uint8_t>(nibble % 2 == 0 ? digit << 4 : out[nibble / 2] | digit);
    ++nibble;
  }
  return true;
}

std::optional<std::size_t> parse_base64(std::string_view text, char* out) {
  if (text.size() % 4 == 0 && !text.empty() && text.back() == '=') {
    text.remove_suffix(text[text.size() - 2] == '=' ? 2 : 1);
  }
  if (text.size() % 4 == 1) return std::nullopt;
  std::size_t size = 0;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int digit = base64_digit(c);
    if (digit < 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out[size++] = static_cast<char>((bits >> static_cast<unsigned>(held)) & 0xFFU);
    }
  }
  return size;
}

bool is_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t i = 0;
  while (i < text.size()) {
    if (i + 8 <= text.size()) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i, sizeof(word));
      if ((word & 0x8080808080808080U) == 0) {
        i += 8;
        continue;
      }
    }
    const std::size_t length = sequence_length(bytes + i, text.size() - i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

bool put_integer(ColumnBuilder& builder, std::int64_t row, Int128 value) {
  switch (builder.kind()) {
    case ColumnKind::int8:
      return put_if_fits<std::int8_t>(builder, row, value);
    case ColumnKind::int16:
      return put_if_fits<std::int16_t>(builder, row, value);
    case ColumnKind::int32:
      return put_if_fits<std::int32_t>(builder, row, value);
    case ColumnKind::int64:
      return put_if_fits<std::int64_t>(builder, row, value);
    case ColumnKind::uint8:
      return put_if_fits<std::uint8_t>(builder, row, value);
    case ColumnKind::uint16:
      return put_if_fits<std::uint16_t>(builder, row, value);
    case ColumnKind::uint32:
      return put_if_fits<std::uint32_t>(builder, row, value);
    case ColumnKind::uint64:
      return put_if_fits<std::uint64_t>(builder, row, value);
    case ColumnKind::hugeint:
      builder.put(row, value);
      return true;
    default:
      return false;
  }
}

bool put_decimal(ColumnBuilder& builder, const Column& column, std::int64_t row, Int128 scaled) {
  Int128 bound = 1;
  for (int i = 0; i < column.precision; ++i) bound *= 10;
  if (scaled >= bound || scaled <= -bound) return false;
  switch (column.width) {
    case 4:
      builder.put(row, static_cast<std::int32_t>(scaled));
      return true;
    case 8:
      builder.put(row, static_cast<std::int64_t>(scaled));
      return true;
    default:
      builder.put(row, scaled);
      return true;
  }
}

bool put_parsed(ColumnBuilder& builder, const Column& column, std::int64_t row, std::string_view text) {
  switch (column.kind) {
    case ColumnKind::boolean:
      return put_boolean(builder, row, text);
    case ColumnKind::float32:
    case ColumnKind::float64: {
      const auto value = parse_double(text);
      if (!value) return false;
      if (column.kind == ColumnKind::float64) {
        builder.put(row, *value);
        return true;
      }
      const auto narrow = static_cast<float>(*value);
      if (std::isinf(narrow) && !std::isinf(*value)) return false;
      builder.put(row, narrow);
      return true;
    }
    case ColumnKind::decimal: {
      const auto value = parse_scaled(text, column.scale, false);
      return value && put_decimal(builder, column, row, *value);
    }
    case ColumnKind::text:
    case ColumnKind::json:
      return builder.put_bytes(row, text);
    case ColumnKind::blob:
      return put_blob(builder, row, text);
    case ColumnKind::uuid: {
      std::array<std::uint8_t, 16> bytes{};
      if (!parse_uuid(text, bytes.data())) return false;
      builder.put(row, bytes);
      return true;
    }
    case ColumnKind::date: {
      const auto at = parse_instant(text);
      if (!at || !at->date_only) return false;
      builder.put(row, static_cast<std::int32_t>(at->seconds / 86'400));
      return true;
    }
    case ColumnKind::time: {
      const auto at = parse_time_of_day(text);
      if (at) builder.put(row, *at);
      return at.has_value();
    }
    case ColumnKind::timestamp: {
      const auto at = parse_instant(text);
      return at && put_instant(builder, column, row, *at);
    }
    case ColumnKind::structure:
    case ColumnKind::list:
    case ColumnKind::fixed_list:
    case ColumnKind::map:
      return false;
    default: {
      const auto value = parse_scaled(text, 0, true);
      return value && put_integer(builder, row, *value);
    }
  }
}

}  // namespace aqueduck
