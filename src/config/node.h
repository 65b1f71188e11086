#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/location.h"

namespace aqueduck::config {

/// One value of a YAML file with the place where it stands. Scalars keep their text; what it means (a number, a byte
/// size, a choice) is for the field that reads it to say. A value type; deep-copied.
class Node {
 public:
  enum class Kind { null, scalar, list, map };
  struct Entry;  // key, its location, and its value
  /// Byte `offset` of the text stands at line:column of the file; the bytes after it move along the line with it, or,
  /// if `fixed` (what ${…} or an escape became), all stand there.
  struct Origin {
    std::size_t offset = 0;
    int line = 0;
    int column = 0;
    bool fixed = false;
  };

  Kind kind = Kind::null;
  Location where;
  std::string text;        ///< of a scalar, variables replaced
  bool quoted = false;     ///< the scalar was quoted or a block: never null, a number or a boolean
  bool templated = false;  ///< some of the text came from ${…}
  bool secret = false;     ///< some of the text came from ${…}: its value is remembered for redaction
  int block_indent = -1;   ///< of a block scalar ('|'): columns its lines are indented by; the text begins a line below
  std::vector<Origin> origins;  ///< of a scalar's text, by offset; empty where it isn't from a file
  std::vector<Node> items;      ///< of a list
  std::vector<Entry> entries;   ///< of a map, in file order, keys unique

  const Node* find(std::string_view key) const;
  /// The place of byte `offset` of a scalar's text: exact for all styles of scalars in a file; else `where`.
  Location at(std::size_t offset) const;
};

struct Node::Entry {
  std::string key;
  Location where;
  Node value;
};

/// How many characters (code points) a UTF-8 text has: what columns count.
int characters(std::string_view utf8);
/// "a list", "a map", "text" …, for messages.
std::string_view describe(Node::Kind kind);
/// A value for a message: its text in quotes (cut, escaped), "a list", "a map", "nothing"; a secret is not shown.
std::string shown(const Node& node);
/// A text for a message: cut after some 60 bytes, control bytes escaped.
std::string shown(std::string_view text);

}  // namespace aqueduck::config
