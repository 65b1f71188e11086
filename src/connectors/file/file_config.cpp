#include "connectors/file/file_config.h"

#include <glob.h>

#include <map>

namespace aqueduck {

FileFormat format_of(std::string_view path) {
  for (const std::string_view suffix : {".gz", ".zst", ".zstd"}) {
    if (path.ends_with(suffix)) path.remove_suffix(suffix.size());
  }
  const std::size_t dot = path.rfind('.');
  const std::string_view extension = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  if (extension == "csv" || extension == "tsv") return FileFormat::csv;
  if (extension == "parquet") return FileFormat::parquet;
  if (extension == "arrow" || extension == "arrows" || extension == "ipc" || extension == "feather") {
    return FileFormat::arrow;
  }
  if (extension == "txt" || extension == "log") return FileFormat::lines;
  return FileFormat::jsonl;
}

bool gives_rows(FileFormat format) { return format == FileFormat::parquet || format == FileFormat::arrow; }

namespace {

// The folder is a name, not a pattern.
std::string escaped(std::string_view folder) {
  std::string out;
  for (const char c : folder) {
    if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

Result<std::vector<NamedFile>> list_files(const std::vector<std::string>& patterns,
                                          const std::filesystem::path& directory) {
  std::map<std::string, std::filesystem::path> found;
  for (const std::string& pattern : patterns) {
    const std::filesystem::path whole = directory / pattern;
    // Files below the pipeline's folder are named from there: positions stay good wherever the process was started.
    const bool relative = !std::filesystem::path(pattern).is_absolute();
    const std::string prefix = relative ? (directory / "").string() : std::string();
    const std::string searched = relative ? escaped(prefix) + pattern : pattern;
    glob_t matches{};
    const int code = ::glob(searched.c_str(), 0, nullptr, &matches);
    std::size_t files = 0;
    for (std::size_t i = 0; code == 0 && i < matches.gl_pathc; ++i) {
      const std::string path = matches.gl_pathv[i];
      std::error_code ignored;
      if (std::filesystem::is_directory(path, ignored)) continue;
      ++files;
      const bool below = !prefix.empty() && path.starts_with(prefix);
      const std::filesystem::path name = below ? path.substr(prefix.size()) : path;
      found.emplace(name.lexically_normal().string(), path);
    }
    ::globfree(&matches);
    if (code != 0) {
      return fail(ErrorKind::io, "there is no file '{}' (looked for {})", pattern, whole.string());
    }
    if (files == 0) {
      const std::string within = pattern.ends_with('/') ? pattern : pattern + '/';
      return fail(ErrorKind::io, "'{}' names a folder, not files: for those in it write '{}*.jsonl'", pattern, within);
    }
  }
  std::vector<NamedFile> files;
  files.reserve(found.size());
  for (auto& [name, path] : found) files.push_back({name, path});
  return files;
}

}  // namespace aqueduck
