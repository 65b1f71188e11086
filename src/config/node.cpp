#include "config/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace aqueduck::config {
namespace {
constexpr std::size_t kShownBytes = 60;
}

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Location Node::at(std::size_t offset) const {
  offset = std::min(offset, text.size());
  const auto after = std::upper_bound(origins.begin(), origins.end(), offset,
                                      [](std::size_t wanted, const Origin& origin) { return wanted < origin.offset; });
  if (after == origins.begin()) return where;
  const Origin& origin = *std::prev(after);
  Location place = where;
  place.line = origin.line;
  place.column = origin.column;
  if (!origin.fixed) {
    place.column += characters(std::string_view(text).substr(origin.offset, offset - origin.offset));
  }
  return place;
}

int characters(std::string_view utf8) {
  return static_cast<int>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string_view describe(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return "text";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map";
  }
  return "something else";
}

std::string shown(std::string_view text) {
  std::string_view head = text.substr(0, kShownBytes);
  if (head.size() < text.size()) {
    while (!head.empty() && (static_cast<unsigned char>(text[head.size()]) & 0xC0) == 0x80) head.remove_suffix(1);
  }
  std::string out;
  for (const char c : head) {
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  if (head.size() < text.size()) out += "…";
  return out;
}

std::string shown(const Node& node) {
  if (node.kind != Node::Kind::scalar) return std::string(describe(node.kind));
  if (node.secret) return "this value (not shown: it is secret)";
  return fmt::format("'{}'{}", shown(node.text), node.quoted && !node.templated ? " in quotes" : "");
}

}  // namespace aqueduck::config
