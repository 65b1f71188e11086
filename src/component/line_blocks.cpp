#include "component/line_blocks.h"

#include <algorithm>
#include <cstring>

#include "base/quantity.h"

namespace aqueduck {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::size_t kWorthReading = std::size_t{64} << 10;

}  // namespace

void LineBlocks::restart(std::uint64_t offset) {
  block_.reset();
  capacity_ = end_ = line_ = scanned_ = 0;
  in_quotes_ = false;
  block_offset_ = offset;
}

std::span<char> LineBlocks::space() {
  if (block_ == nullptr || capacity_ - end_ < kWorthReading) {
    // Lines that were given stay where they are; what is left of the block moves on.
    const std::size_t left = end_ - line_;
    const std::size_t capacity = std::max(kBlock, left * 2);
    std::shared_ptr<char[]> block(new char[capacity]);
    if (left > 0) std::memcpy(block.get(), block_.get() + line_, left);
    block_ = std::move(block);
    capacity_ = capacity;
    block_offset_ += line_;
    scanned_ -= line_;
    end_ = left;
    line_ = 0;
  }
  return {block_.get() + end_, capacity_ - end_};
}

std::size_t LineBlocks::find_end() {
  const char* bytes = block_.get();
  if (!rules_.quoted_breaks) {
    const void* found = std::memchr(bytes + scanned_, '\n', end_ - scanned_);
    scanned_ = found == nullptr ? end_ : static_cast<std::size_t>(static_cast<const char*>(found) - bytes);
    return scanned_;
  }
  for (; scanned_ < end_; ++scanned_) {
    if (bytes[scanned_] == '"') in_quotes_ = !in_quotes_;
    if (bytes[scanned_] == '\n' && !in_quotes_) break;
  }
  return scanned_;
}

void LineBlocks::add(std::size_t end, std::size_t next, Messages& out) {
  std::string_view line(block_.get() + line_, end - line_);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (!line.empty() || !rules_.skip_empty) {
    Message message;
    message.payload = line;
    message.offset = static_cast<std::int64_t>(block_offset_ + line_);
    out.items.push_back(message);
    out.bytes += line.size();
  }
  line_ = next;
}

Result<Messages> LineBlocks::take(bool at_end, std::size_t most) {
  Messages out;
  out.partitions.push_back(partition_);
  const std::size_t before = line_;
  bool too_long = false;
  while (scanned_ < end_ && out.items.size() < most) {
    const std::size_t end = find_end();
    too_long = end - line_ > rules_.max_line;
    if (too_long || end == end_) break;
    scanned_ = end + 1;
    add(end, scanned_, out);
  }
  if (too_long) {
    // What came before it is given first; the next call finds it again.
    scanned_ = line_;
    in_quotes_ = false;
    out.owner = block_;
    if (line_ != before) return out;
    return fail(ErrorKind::limit, "{}: the line at byte {} is longer than {}: raise 'max_line'", partition_, next(),
                format_bytes(rules_.max_line));
  }
  if (at_end && pending() && scanned_ == end_ && out.items.size() < most) {
    add(end_, end_, out);
    scanned_ = end_;
    in_quotes_ = false;
  }
  out.owner = block_;
  return out;
}

}  // namespace aqueduck
