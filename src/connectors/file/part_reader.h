#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "component/chunk.h"
#include "component/context.h"
#include "connectors/file/file_config.h"

namespace aqueduck {

/// Reads one file from a position on. Owned by FileSource, on its thread.
class PartReader {
 public:
  PartReader() = default;
  PartReader(const PartReader&) = delete;
  PartReader& operator=(const PartReader&) = delete;
  virtual ~PartReader() = default;
  /// The next messages or rows, at most `most`; nullopt at the end (for now, where the file is followed).
  virtual Result<std::optional<Chunk>> next(std::size_t most) = 0;
  virtual std::uint64_t raw_bytes() const = 0;
};

/// Lines of text; positions are byte offsets of the decompressed stream, in a followed file "offset@inode".
Result<std::unique_ptr<PartReader>> read_lines(const NamedFile& file, FileFormat format, const FileSourceConfig& config,
                                               const std::string& position);
/// Rows of a Parquet or an Arrow IPC file; positions are row numbers.
Result<std::unique_ptr<PartReader>> read_parquet(const NamedFile& file, const ComponentContext& context,
                                                 const std::string& position);
Result<std::unique_ptr<PartReader>> read_arrow(const NamedFile& file, const std::string& position);

/// A stored position as a number; an error of kind conflict otherwise.
Result<std::uint64_t> parse_position(const NamedFile& file, std::string_view position);

}  // namespace aqueduck
