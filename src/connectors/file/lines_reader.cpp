#include <sys/stat.h>

#include <charconv>

#include "base/log.h"
#include "component/line_blocks.h"
#include "connectors/file/file_bytes.h"
#include "connectors/file/part_reader.h"

namespace aqueduck {

namespace {

/// Blocks read before a call returns, so that a file of short lines doesn't give tiny chunks at its start.
constexpr std::uint64_t kEnoughBytes = std::uint64_t{1} << 20;

std::uint64_t inode_of(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 ? static_cast<std::uint64_t>(status.st_ino) : 0;
}

/// Lines of one file. A followed file that is replaced or truncated is finished and begun again.
class LinesReader final : public PartReader {
 public:
  LinesReader(NamedFile file, FileBytes bytes, LineRules rules, bool follow)
      : file_(std::move(file)), bytes_(std::move(bytes)), lines_(file_.name, rules), follow_(follow) {}

  Result<void> start(std::uint64_t offset) {
    AQ_ASSIGN(const bool there, bytes_.skip_to(offset));
    if (!there) {
      return fail(ErrorKind::conflict, "{} is shorter than the stored position {}: it was replaced or truncated",
                  file_.path.string(), offset);
    }
    lines_.restart(offset);
    return {};
  }

  Result<std::optional<Chunk>> next(std::size_t most) override {
    for (;;) {
      AQ_ASSIGN(auto chunk, take(false, most));
      if (chunk) return chunk;
      AQ_ASSIGN(const bool end, read_block());
      if (!end) continue;
      AQ_ASSIGN(chunk, take(false, most));
      if (chunk) return chunk;
      if (!follow_) return take(true, most);
      if (!was_replaced()) return std::nullopt;
      AQ_ASSIGN(chunk, take(true, most));
      if (chunk) return chunk;
      AQ_TRY(begin_again());
    }
  }

  std::uint64_t raw_bytes() const override { return bytes_.raw_bytes(); }

 private:
  /// What has come; nullopt where that is no whole line.
  Result<std::optional<Chunk>> take(bool at_end, std::size_t most) {
    const std::uint64_t before = lines_.next();
    AQ_ASSIGN(Messages messages, lines_.take(at_end, most));
    if (lines_.next() == before) return std::nullopt;
    Chunk chunk;
    chunk.next[file_.name] = position();
    chunk.data = std::move(messages);
    return chunk;
  }

  /// True at the end of what is there.
  Result<bool> read_block() {
    std::uint64_t size = 0;
    while (size < kEnoughBytes) {
      const std::span<char> space = lines_.space();
      AQ_ASSIGN(const std::size_t got, bytes_.read(space));
      if (got == 0) return true;
      lines_.filled(got);
      size += got;
      if (got == space.size()) break;
    }
    return false;
  }

  bool was_replaced() const {
    struct stat now{};
    if (::stat(file_.path.c_str(), &now) != 0) return false;  // between removal and creation
    return static_cast<std::uint64_t>(now.st_ino) != inode_of(bytes_.descriptor()) ||
           static_cast<std::uint64_t>(now.st_size) < bytes_.raw_bytes();
  }

  Result<void> begin_again() {
    log::info("{} was replaced or truncated: reading it from its beginning", file_.path.string());
    AQ_ASSIGN(bytes_, FileBytes::open(file_.path));
    lines_.restart(0);
    return {};
  }

  std::string position() const {
    const std::string offset = std::to_string(lines_.next());
    return follow_ ? fmt::format("{}@{}", offset, inode_of(bytes_.descriptor())) : offset;
  }

  NamedFile file_;
  FileBytes bytes_;
  LineBlocks lines_;
  bool follow_;
};

}  // namespace

Result<std::uint64_t> parse_position(const NamedFile& file, std::string_view position) {
  std::uint64_t value = 0;
  const auto end = std::from_chars(position.data(), position.data() + position.size(), value);
  if (end.ec != std::errc() || end.ptr != position.data() + position.size()) {
    return fail(ErrorKind::conflict, "'{}' is not a position in {}", position, file.name);
  }
  return value;
}

Result<std::unique_ptr<PartReader>> read_lines(const NamedFile& file, FileFormat format, const FileSourceConfig& config,
                                               const std::string& position) {
  AQ_ASSIGN(FileBytes bytes, FileBytes::open(file.path));
  const std::size_t at = position.find('@');
  AQ_ASSIGN(std::uint64_t offset, parse_position(file, std::string_view(position).substr(0, at)));
  if (config.follow && at != std::string::npos) {
    AQ_ASSIGN(const std::uint64_t inode, parse_position(file, std::string_view(position).substr(at + 1)));
    struct stat status{};
    const bool same = ::fstat(bytes.descriptor(), &status) == 0 && inode == static_cast<std::uint64_t>(status.st_ino) &&
                      static_cast<std::uint64_t>(status.st_size) >= offset;
    if (!same) {
      log::warn("{} was replaced or truncated since it was read last: reading it from its beginning", file.name);
      offset = 0;
    }
  }
  LineRules rules;
  rules.quoted_breaks = format == FileFormat::csv;
  rules.skip_empty = format != FileFormat::lines;
  rules.max_line = config.max_line.value;
  auto reader = std::make_unique<LinesReader>(file, std::move(bytes), rules, config.follow);
  AQ_TRY(reader->start(offset));
  return reader;
}

}  // namespace aqueduck
