#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/object_spec.h"

namespace aqueduck {

enum class FileFormat { automatic, jsonl, csv, lines, parquet, arrow };

struct FileSourceConfig {
  std::vector<std::string> path;
  FileFormat format = FileFormat::automatic;
  bool follow = false;
  config::Bytes max_line{std::uint64_t{64} << 20};
};

struct FileSinkConfig {
  std::filesystem::path path;
  FileFormat format = FileFormat::automatic;
};

/// By the extension, without one for compression: "a.jsonl.gz" is jsonl. jsonl where it says nothing.
FileFormat format_of(std::string_view path);
bool gives_rows(FileFormat format);

/// A file to read: `name` is its path as the configuration has it (the partition's name).
struct NamedFile {
  std::string name;
  std::filesystem::path path;
};
/// Globs, relative to `directory`, sorted, each file once. An error of kind io for a path that isn't there and for a
/// pattern without any match.
Result<std::vector<NamedFile>> list_files(const std::vector<std::string>& patterns,
                                          const std::filesystem::path& directory);

}  // namespace aqueduck
