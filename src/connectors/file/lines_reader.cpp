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
      : file_(std::move(file)), bytes_(std::move(bytes)), lines_(file_.name, rules), rules_(rules), follow_(follow) {}

  Result<void> start(std::uint64_t offset) {
    // The header stands at the beginning of each file, and the decoder needs it wherever reading begins.
    if (rules_.quoted_breaks && offset > 0) AQ_TRY(read_header());
    AQ_ASSIGN(const bool there, bytes_.skip_to(offset));
    if (!there) {
      return fail(ErrorKind::conflict, "{} is shorter than the stored position {}: it was replaced or truncated",
                  file_.path.string(), offset);
    }
    lines_.restart(offset);
    return {};
  }

  Result<std::optional<Chunk>> next() override {
    for (;;) {
      const std::uint64_t before = lines_.next();
      AQ_ASSIGN(const bool end, read_block());
      const bool replaced = end && follow_ && was_replaced();
      AQ_ASSIGN(Messages messages, lines_.take(end && (!follow_ || replaced)));
      const bool advanced = lines_.next() != before || header_;
      if (!advanced && !end) continue;
      Chunk chunk;
      if (header_ && !messages.items.empty()) add_header(messages);
      if (replaced) {
        AQ_TRY(begin_again());
        chunk.next[file_.name] = position();
        chunk.data = std::move(messages);
        return chunk;
      }
      if (!advanced) return std::nullopt;
      if (messages.items.empty() && end && lines_.next() == before) return std::nullopt;
      chunk.next[file_.name] = position();
      chunk.data = std::move(messages);
      return chunk;
    }
  }

  std::uint64_t raw_bytes() const override { return bytes_.raw_bytes(); }

 private:
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

  Result<void> read_header() {
    AQ_ASSIGN(FileBytes bytes, FileBytes::open(file_.path));
    LineBlocks lines(file_.name, rules_);
    lines.restart(0);
    for (bool end = false; !end;) {
      const std::span<char> space = lines.space();
      AQ_ASSIGN(const std::size_t got, bytes.read(space));
      lines.filled(got);
      end = got == 0;
      AQ_ASSIGN(Messages messages, lines.take(end));
      if (messages.items.empty()) continue;
      header_text_ = messages.items.front().payload;
      header_ = true;
      return {};
    }
    return {};
  }

  void add_header(Messages& messages) {
    struct Both {
      std::string header;
      std::shared_ptr<const void> lines;
    };
    auto both = std::make_shared<Both>(Both{std::move(header_text_), messages.owner});
    Message message;
    message.payload = both->header;
    message.offset = 0;
    messages.bytes += message.payload.size();
    messages.items.insert(messages.items.begin(), message);
    messages.owner = std::move(both);
    header_ = false;
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
  LineRules rules_;
  bool follow_;
  bool header_ = false;
  std::string header_text_;
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
