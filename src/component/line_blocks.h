#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "component/chunk.h"

namespace aqueduck {

struct LineRules {
  bool quoted_breaks = false;  ///< CSV: a line break between double quotes belongs to the record
  bool skip_empty = true;
  std::uint64_t max_line = std::uint64_t{64} << 20;  ///< bytes
};

/// Cuts a stream of bytes into lines, one message a line, without copying or allocating a line: messages are views into
/// blocks of about 1 MiB. A line's end ("\n", "\r\n") is not part of it. Owned by a source, on its thread.
class LineBlocks {
 public:
  LineBlocks(std::string partition, LineRules rules) : partition_(std::move(partition)), rules_(rules) {}

  /// Forgets everything; the next byte that comes stands at `offset` of the stream.
  void restart(std::uint64_t offset);
  /// Room for the next bytes, at least one; filled() says how many came.
  std::span<char> space();
  void filled(std::size_t bytes) { end_ += bytes; }
  /// At most `most` of the whole lines that came since the last call; with `at_end` the last one needs no line break.
  /// An error of kind limit for a line that is too long.
  Result<Messages> take(bool at_end, std::size_t most);
  /// The offset of the first byte that take() hasn't given.
  std::uint64_t next() const { return block_offset_ + line_; }
  /// True if a line has begun that take() hasn't given.
  bool pending() const { return line_ < end_; }

 private:
  std::size_t find_end();
  void add(std::size_t end, std::size_t next, Messages& out);

  std::string partition_;
  LineRules rules_;
  std::shared_ptr<char[]> block_;
  std::size_t capacity_ = 0;
  std::size_t end_ = 0;             ///< bytes filled
  std::size_t line_ = 0;            ///< where the first line not given begins
  std::size_t scanned_ = 0;         ///< no end of it before here
  bool in_quotes_ = false;          ///< at scanned_
  std::uint64_t block_offset_ = 0;  ///< of the block's first byte in the stream
};

}  // namespace aqueduck
