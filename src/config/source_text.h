#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/faults.h"
#include "config/location.h"
#include "config/node.h"

namespace aqueduck::config {

/// The text of a file made fit for the YAML parser, and the way back from its byte positions to lines and columns.
/// Owned by one load; not thread-safe. prepare() fails where the text isn't UTF-8, has control bytes, or is too big.
///
/// `${…}` is masked byte by byte with control bytes (which the text itself can't hold), so that it may stand bare in
/// `{…}` and `[…]`; unmask() brings it back. Positions stay the same.
class SourceText {
 public:
  bool prepare(std::string_view text, const std::string& name, Faults& faults);

  const std::string& masked() const { return text_; }
  static void unmask(std::string& text);

  Location whole() const { return Location{file_, 0, 0}; }
  /// Cheap where positions ascend.
  Location locate(std::size_t position);
  /// Whether the quote that begins at `position`, if one does, is closed: the parser lets the end of the file close it.
  bool is_closed(std::size_t position) const;
  /// Where the bytes of the scalar `value` (masked) that begins at `position` stand; sets `block_indent` of a block.
  std::vector<Node::Origin> origins(std::size_t position, std::string_view value, int& block_indent);

 private:
  Node::Origin origin(std::size_t offset, std::size_t position, bool fixed = false);
  std::vector<Node::Origin> block_origins(std::size_t position, std::string_view value, int& block_indent);
  std::vector<Node::Origin> inline_origins(std::size_t position, std::string_view value);
  void mask();

  std::shared_ptr<const std::string> file_;
  std::string text_;
  std::vector<std::size_t> line_starts_;
  // Where locate() was last.
  std::size_t last_position_ = 0;
  std::size_t last_line_ = 0;
  int last_column_ = 1;
};

}  // namespace aqueduck::config
