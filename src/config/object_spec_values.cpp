#include "config/object_spec_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace aqueduck::config::values {
namespace {

using Kind = Node::Kind;

bool wrong(const Node& node, std::string_view wanted, Faults& faults) {
  faults.add(node.where, "wants {}, not {}", wanted, shown(node));
  return false;
}

// Quotes say "text"; around a variable they are habit.
bool is_bare(const Node& node) { return node.kind == Kind::scalar && (!node.quoted || node.templated); }

template <typename T>
bool take(const Node& node, std::string_view wanted, Result<T> parsed, T& out, Faults& faults) {
  if (!parsed) return wrong(node, wanted, faults);
  out = *parsed;
  return true;
}

// The digits of a whole number without '_' and '+', or "" if it isn't one.
std::string digits_of(std::string_view text) {
  std::string out;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    if (text.front() == '-') out += '-';
    text.remove_prefix(1);
  }
  if (text.empty() || text.front() == '_' || text.back() == '_') return "";
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      out += c;
    } else if (c != '_') {
      return "";
    }
  }
  return out;
}

}  // namespace

bool read_boolean(const Node& node, bool& out, Faults& faults) {
  if (!is_bare(node) || (node.text != "true" && node.text != "false")) return wrong(node, "true or false", faults);
  out = node.text == "true";
  return true;
}

bool read_integer(const Node& node, std::int64_t least, std::uint64_t most, std::uint64_t& out, Faults& faults) {
  const std::string digits = is_bare(node) ? digits_of(node.text) : "";
  if (digits.empty()) return wrong(node, "a whole number", faults);
  const char* const end = digits.data() + digits.size();
  std::int64_t negative = 0;
  if (digits.front() == '-') {
    const auto parsed = std::from_chars(digits.data(), end, negative);
    if (parsed.ec == std::errc{} && negative >= least) {
      out = static_cast<std::uint64_t>(negative);
      return true;
    }
  } else {
    const auto parsed = std::from_chars(digits.data(), end, out);
    if (parsed.ec == std::errc{} && out <= most) return true;
  }
  faults.add(node.where, "{} is out of range: it must be from {} to {}", shown(node), least, most);
  return false;
}

bool read_number(const Node& node, double& out, Faults& faults) {
  if (!is_bare(node)) return wrong(node, "a number", faults);
  std::string digits;
  std::copy_if(node.text.begin(), node.text.end(), std::back_inserter(digits), [](char c) { return c != '_'; });
  const char* begin = digits.data();
  const char* const end = begin + digits.size();
  if (begin != end && *begin == '+' && begin + 1 != end && begin[1] != '-') ++begin;
  double value = 0;
  const auto parsed = std::from_chars(begin, end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end || !std::isfinite(value)) return wrong(node, "a number", faults);
  out = value;
  return true;
}

bool read_text(const Node& node, std::string& out, Faults& faults) {
  if (node.kind != Kind::scalar) return wrong(node, "text", faults);
  out = node.text;
  return true;
}

bool read_secret(const Node& node, Secret& out, Faults& faults) {
  if (node.kind != Kind::scalar) return wrong(node, "text", faults);
  out = Secret(node.text);
  return true;
}

bool read_duration(const Node& node, Duration& out, Faults& faults) {
  constexpr std::string_view kWanted = "a duration like 1s, 250ms, 5m or 1m30s";
  if (node.kind != Kind::scalar) return wrong(node, kWanted, faults);
  return take(node, kWanted, parse_duration(node.text), out, faults);
}

bool read_bytes(const Node& node, std::uint64_t& out, Faults& faults) {
  constexpr std::string_view kWanted = "a number of bytes like 64MiB, 512KiB or 4096";
  if (node.kind != Kind::scalar) return wrong(node, kWanted, faults);
  return take(node, kWanted, parse_bytes(node.text), out, faults);
}

bool read_count(const Node& node, std::uint64_t& out, Faults& faults) {
  constexpr std::string_view kWanted = "a count like 5000 or 5_000_000";
  if (node.kind != Kind::scalar) return wrong(node, kWanted, faults);
  return take(node, kWanted, parse_count(node.text), out, faults);
}

std::optional<std::size_t> read_choice(const Node& node, const ValueInfo& info, Faults& faults) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < info.choices.size(); ++i) {
    if (node.kind == Kind::scalar && node.text == info.choices[i].first) return i;
    words.push_back(info.choices[i].first);
  }
  const std::string hint = node.kind == Kind::scalar ? did_you_mean(node.text, words) : "";
  faults.add(node.where, "wants one of {}, not {}{}", fmt::join(words, ", "), shown(node), hint);
  return std::nullopt;
}

bool list_items(const Node& node, const ValueInfo& element, std::vector<const Node*>& out, Faults& faults) {
  if (node.kind == Kind::list) {
    for (const Node& item : node.items) out.push_back(&item);
    return true;
  }
  const bool takes_maps = element.kind == ValueInfo::Kind::object || element.kind == ValueInfo::Kind::any ||
                          element.kind == ValueInfo::Kind::map;
  if (node.kind == Kind::null || (node.kind == Kind::map && !takes_maps)) return wrong(node, "a list", faults);
  out.push_back(&node);
  return true;
}

bool expect_map(const Node& node, Faults& faults) {
  return node.kind == Kind::map || wrong(node, "a map (key: value)", faults);
}

std::string quoted_if_needed(std::string_view text) {
  constexpr std::string_view kWords[] = {"true", "false", "null", "~", "yes", "no", "on", "off"};
  constexpr std::string_view kFirst = "-?:,[]{}#&*!|>'\"%@` ";
  bool plain = !text.empty() && kFirst.find(text.front()) == std::string_view::npos && text.back() != ' ' &&
               text.back() != ':' && text.find(": ") == std::string_view::npos &&
               text.find(" #") == std::string_view::npos && text.find_first_of(",[]{}") == std::string_view::npos &&
               std::find(std::begin(kWords), std::end(kWords), text) == std::end(kWords);
  plain = plain && std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (plain) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

std::string format_number(double value) { return fmt::format("{}", value); }

ValueInfo simple(ValueInfo::Kind kind) {
  ValueInfo info;
  info.kind = kind;
  return info;
}

ValueInfo list_of(ValueInfo element) {
  ValueInfo info = simple(ValueInfo::Kind::list);
  info.element = std::make_shared<const ValueInfo>(std::move(element));
  info.one_or_list = true;
  return info;
}

ValueInfo map_of(ValueInfo element) {
  ValueInfo info = simple(ValueInfo::Kind::map);
  info.element = std::make_shared<const ValueInfo>(std::move(element));
  return info;
}

ValueInfo object_of(const ObjectInfo& object) {
  ValueInfo info = simple(ValueInfo::Kind::object);
  info.object = &object;
  return info;
}

}  // namespace aqueduck::config::values
