#include "base/quantity.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

namespace aqueduck {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kByteUnits = {
    Unit{"TiB", 1024.0 * 1024 * 1024 * 1024},
    Unit{"GiB", 1024.0 * 1024 * 1024},
    Unit{"MiB", 1024.0 * 1024},
    Unit{"KiB", 1024.0},
    Unit{"TB", 1e12},
    Unit{"GB", 1e9},
    Unit{"MB", 1e6},
    Unit{"kB", 1e3},
    Unit{"KB", 1e3},
    Unit{"B", 1.0},
};
constexpr std::array kTimeUnits = {
    Unit{"us", 1.0}, Unit{"µs", 1.0},   Unit{"ms", 1e3},    Unit{"s", 1e6},
    Unit{"m", 60e6}, Unit{"h", 3600e6}, Unit{"d", 86400e6},
};

// Takes "[0-9][0-9_]*(\.[0-9]+)?" off the front of text.
bool take_number(std::string_view& text, double& value) {
  std::string digits;
  std::size_t i = 0;
  bool seen_point = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '_' && i > 0) continue;
    if (c == '.' && !seen_point)
      seen_point = true;
    else if (std::isdigit(static_cast<unsigned char>(c)) == 0)
      break;
    digits += c;
  }
  if (digits.empty() || digits.front() == '.' || digits.back() == '.') return false;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ec != std::errc{}) return false;
  text.remove_prefix(i);
  return true;
}

template <std::size_t N>
const Unit* take_unit(std::string_view& text, const std::array<Unit, N>& units) {
  std::size_t length = 0;
  while (length < text.size() && std::isdigit(static_cast<unsigned char>(text[length])) == 0 && text[length] != ' ')
    ++length;
  for (const Unit& unit : units) {
    if (text.substr(0, length) == unit.name) {
      text.remove_prefix(length);
      return &unit;
    }
  }
  return nullptr;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorKind::config, "'{}' is not a number of bytes; write it like 64MiB, 512KiB or 4096", text);
  };
  std::string_view rest = trimmed(text);
  double value = 0;
  if (!take_number(rest, value)) return bad();
  rest = trimmed(rest);
  if (!rest.empty()) {
    const Unit* unit = take_unit(rest, kByteUnits);
    if (unit == nullptr || !rest.empty()) return bad();
    value *= unit->factor;
  }
  if (value >= 9.2e18) return bad();
  return static_cast<std::uint64_t>(std::llround(value));
}

Result<Duration> parse_duration(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorKind::config, "'{}' is not a duration; write it like 1s, 250ms, 5m or 1m30s", text);
  };
  std::string_view rest = trimmed(text);
  if (rest == "0") return Duration{0};
  if (rest.empty()) return bad();
  std::int64_t total = 0;  // a sum of doubles would lose the small parts of a long span
  while (!rest.empty()) {
    double value = 0;
    if (!take_number(rest, value)) return bad();
    const Unit* unit = take_unit(rest, kTimeUnits);
    if (unit == nullptr) return bad();
    value *= unit->factor;
    if (value >= 9.2e18) return bad();
    const std::int64_t part = std::llround(value);
    if (part > std::numeric_limits<std::int64_t>::max() - total) return bad();
    total += part;
  }
  return Duration{total};
}

Result<std::uint64_t> parse_count(std::string_view text) {
  std::string digits;
  for (const char c : trimmed(text)) {
    if (c != '_') digits += c;
  }
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size()) {
    return fail(ErrorKind::config, "'{}' is not a count; write it like 5000 or 5_000_000", text);
  }
  return value;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kNames = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  if (value == std::floor(value)) return fmt::format("{}{}", static_cast<std::uint64_t>(value), kNames[unit]);
  return fmt::format("{:.1f}{}", value, kNames[unit]);
}

std::string format_duration(Duration duration) {
  std::int64_t left = duration.count();
  if (left == 0) return "0s";
  std::string out = left < 0 ? "-" : "";
  left = left < 0 ? -left : left;
  const auto take = [&](std::int64_t unit, std::string_view name) {
    if (left >= unit) {
      out += fmt::format("{}{}", left / unit, name);
      left %= unit;
    }
  };
  take(86'400'000'000, "d");
  take(3'600'000'000, "h");
  take(60'000'000, "m");
  take(1'000'000, "s");
  take(1'000, "ms");
  take(1, "us");
  return out;
}

std::string format_count(std::uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, "_");
  }
  return digits;
}

}  // namespace aqueduck
