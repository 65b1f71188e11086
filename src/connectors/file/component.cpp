#include "connectors/file/component.h"

#include <algorithm>

#include "base/file.h"
#include "connectors/file/file_sink.h"
#include "connectors/file/file_source.h"

namespace aqueduck {

namespace {

const config::ObjectSpec<FileSourceConfig>& source_spec() {
  static const config::ObjectSpec<FileSourceConfig> spec = [] {
    config::ObjectSpec<FileSourceConfig> out(
        "file", "Reads files: JSON lines, CSV, lines of text, Parquet, Arrow; gzip and zstd are unpacked.",
        {config::field("path", &FileSourceConfig::path,
                       "A path or glob, or a list of them; read in the order of names.")
             .required()
             .example("data/*.jsonl"),
         config::choice("format", &FileSourceConfig::format,
                        {{"auto", FileFormat::automatic, "by the extension; `jsonl` where it says nothing"},
                         {"jsonl", FileFormat::jsonl, "a JSON value a line"},
                         {"csv", FileFormat::csv, "CSV records; line breaks within quotes belong to the record"},
                         {"lines", FileFormat::lines, "a message a line, empty ones too"},
                         {"parquet", FileFormat::parquet, "rows of Parquet files"},
                         {"arrow", FileFormat::arrow, "rows of Arrow IPC streams or files"}},
                        "What the files hold."),
         config::field("follow", &FileSourceConfig::follow,
                       "Waits for more at the end of one file, like `tail -F`: rotation and truncation are noticed."),
         config::field("max_line", &FileSourceConfig::max_line, "A longer line ends the pipeline.")});
    out.details(
        "Positions are bytes (of the unpacked text) or row numbers, so a restart continues where the sink stands. A "
        "last line without a line break counts, except in a file that is followed.");
    out.shorthand("path");
    return out;
  }();
  return spec;
}

const config::ObjectSpec<FileSinkConfig>& sink_spec() {
  static const config::ObjectSpec<FileSinkConfig> spec = [] {
    config::ObjectSpec<FileSinkConfig> out(
        "file", "Appends the rows to a file and syncs it at every commit.",
        {config::field("path", &FileSinkConfig::path, "The file; made if it isn't there.")
             .required()
             .example("out.jsonl"),
         config::choice("format", &FileSinkConfig::format,
                        {{"auto", FileFormat::automatic, "by the extension; `jsonl` where it says nothing"},
                         {"jsonl", FileFormat::jsonl, "one JSON object a line"},
                         {"csv", FileFormat::csv, "CSV with a header line"},
                         {"arrow", FileFormat::arrow, "an Arrow IPC stream"}},
                        "What is written.")});
    out.details(
        "The file is locked while the sink is open: a second sink or run that would write to it ends with exit code "
        "14. A pipe or a device (`/dev/stdout`) may stand in its place: nothing is synced there, and what a pipe's "
        "reader didn't take before it went is gone.");
    out.shorthand("path");
    return out;
  }();
  return spec;
}

class FileSourceFactory final : public SourceFactory {
 public:
  explicit FileSourceFactory(FileSourceConfig config) : config_(std::move(config)) {}
  std::unique_ptr<Source> make(const ComponentContext& context) const override {
    return std::make_unique<FileSource>(config_, context);
  }
  bool gives_rows() const override { return aqueduck::gives_rows(format()); }
  std::string default_decoder() const override {
    if (format() == FileFormat::csv) return "csv";
    return format() == FileFormat::lines ? "raw" : "json";
  }

 private:
  FileFormat format() const {
    return config_.format == FileFormat::automatic ? format_of(config_.path.front()) : config_.format;
  }

  FileSourceConfig config_;
};

Result<SinkContents> file_contents(const FileSinkConfig& config) {
  SinkContents out;
  const FileFormat format = config.format == FileFormat::automatic ? format_of(config.path.string()) : config.format;
  if (format == FileFormat::csv) out.form = SinkContents::Form::csv;
  if (format == FileFormat::jsonl) out.form = SinkContents::Form::json_lines;
  std::error_code ignored;
  if (!std::filesystem::exists(config.path, ignored)) return out;
  AQ_ASSIGN(out.text, read_file(config.path));
  if (format != FileFormat::arrow || out.text.empty()) return out;
  auto rows = read_ipc(out.text);
  if (!rows) return fail(with_context(std::move(rows).error(), config.path.string()));
  out.rows = std::move(*rows);
  return out;
}

class FileSinkFactory final : public SinkFactory {
 public:
  explicit FileSinkFactory(FileSinkConfig config) : config_(std::move(config)) {}
  std::unique_ptr<Sink> make(const ComponentContext& context) const override {
    return std::make_unique<FileSink>(config_, context);
  }
  SinkTraits traits() const override { return file_sink_traits(); }
  std::filesystem::path file(const std::filesystem::path& directory) const override { return directory / config_.path; }
  Rehearsal rehearse(const std::filesystem::path& folder) const override {
    FileSinkConfig inside = config_;
    inside.path = rehearsal_path(folder, config_.path);
    auto contents = [inside] { return file_contents(inside); };
    return {std::make_unique<FileSinkFactory>(std::move(inside)), std::move(contents)};
  }

 private:
  FileSinkConfig config_;
};

bool is_compressed(std::string_view path) {
  return path.ends_with(".gz") || path.ends_with(".zst") || path.ends_with(".zstd");
}

std::unique_ptr<SourceFactory> parse_source(const config::Node& node, config::Faults& faults) {
  const std::size_t before = faults.all().size();
  auto config = source_spec().read(node, faults);
  if (faults.all().size() != before) return nullptr;
  if (config.path.empty()) {
    faults.add(node.where, "'path' names no file");
    return nullptr;
  }
  const auto format_at = [&](const std::string& path) {
    return config.format == FileFormat::automatic ? format_of(path) : config.format;
  };
  const FileFormat first = format_at(config.path.front());
  for (const std::string& path : config.path) {
    if (format_at(path) != first) {
      faults.add(node.where, "'{}' and '{}' are of different formats: say which with 'format'", config.path.front(),
                 path);
    }
    if (config.follow && is_compressed(path)) faults.add(node.where, "'{}' is compressed: it can't be followed", path);
  }
  if (config.follow && gives_rows(first)) faults.add(node.where, "'follow' is for files of lines");
  return std::make_unique<FileSourceFactory>(std::move(config));
}

std::unique_ptr<SinkFactory> parse_sink(const config::Node& node, config::Faults& faults) {
  const std::size_t before = faults.all().size();
  auto config = sink_spec().read(node, faults);
  if (faults.all().size() != before) return nullptr;
  const std::string path = config.path.string();
  if (is_compressed(path)) faults.add(node.where, "'{}': compressed output isn't supported", path);
  if (config.format == FileFormat::automatic && format_of(path) == FileFormat::parquet) {
    faults.add(node.where, "'{}': use the `parquet` sink for Parquet files", path);
  }
  return std::make_unique<FileSinkFactory>(std::move(config));
}

}  // namespace

const ComponentType<SourceFactory>& file_source() {
  static const ComponentType<SourceFactory> type{&source_spec().info(), parse_source, "file: {path: data/*.jsonl}\n"};
  return type;
}

const ComponentType<SinkFactory>& file_sink() {
  static const ComponentType<SinkFactory> type{&sink_spec().info(), parse_sink, "file: {path: out.jsonl}\n"};
  return type;
}

}  // namespace aqueduck
