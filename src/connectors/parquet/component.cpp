#include "connectors/parquet/component.h"

#include "connectors/parquet/parquet_sink.h"
#include "sql/database.h"
#include "sql/quoted.h"

namespace aqueduck {
namespace {

constexpr std::string_view kDetails =
    "Files are named `part-<pipeline>-<commit>-<k>.parquet` and appear whole, all those of a commit together with the "
    "source's positions: `_aqueduck/<pipeline>/<commit>.json` says which files belong to it, and a restart finishes "
    "what a crash interrupted. Unless the sink's `commit` says otherwise, a commit is made when one of the `roll` "
    "limits is reached. With a `commit` beyond them they only split the files.\n\n"
    "Until their commit, rows are in files that no reader sees; what waits for its row group is in memory, `buffer` at "
    "most, however far away the commit is. Where many partitions fill that, their row groups get smaller, and past "
    "`open_files` a partition gets a further file in the same commit. A full disk loses nothing: the sink waits for "
    "room and goes on.\n\n"
    "With `partition_by` files lie in folders like `day=2026-11-30/`, whose names hold those columns' values. Rows "
    "whose columns are others than the last rows' begin a new file. HUGEINT, which Parquet lacks, is written as "
    "DECIMAL(38,0).";

const config::ObjectSpec<ParquetRoll>& roll_spec() {
  static const config::ObjectSpec<ParquetRoll> spec(
      "roll", "When files are closed and committed; whichever comes first.",
      {config::field("rows", &ParquetRoll::rows, "Rows of a commit."),
       config::field("bytes", &ParquetRoll::bytes,
                     "Size of the files. Rows that wait for their row group count as much as rows took so far."),
       config::field("interval", &ParquetRoll::interval, "Age of the oldest row.")});
  return spec;
}

const config::ObjectSpec<ParquetConfig>& parquet_spec() {
  static const config::ObjectSpec<ParquetConfig> spec = [] {
    config::ObjectSpec<ParquetConfig> out(
        "parquet", "Writes Parquet files into a folder, exactly once.",
        {config::field("path", &ParquetConfig::path, "The folder; made if it isn't there.").required().example("out"),
         config::field("partition_by", &ParquetConfig::partition_by,
                       "Columns whose values become folders (`day=2026-11-30/`).")
             .example("[day]"),
         config::object("roll", &ParquetConfig::roll, roll_spec(), "When files are closed and committed."),
         config::choice("compression", &ParquetConfig::compression,
                        {{"zstd", ParquetCompression::zstd, "small, and fast to read"},
                         {"snappy", ParquetCompression::snappy, "larger, for old readers"},
                         {"gzip", ParquetCompression::gzip, "slow, for old readers"},
                         {"lz4", ParquetCompression::lz4, "larger, fastest (LZ4_RAW)"},
                         {"none", ParquetCompression::none, "no compression"}},
                        "How pages are compressed."),
         config::field("row_group_rows", &ParquetConfig::row_group_rows, "Rows of a row group, at most."),
         config::field(
             "buffer", &ParquetConfig::buffer,
             "Memory for rows that wait for their row group, over all files; past it the largest is written."),
         config::field("open_files", &ParquetConfig::open_files,
                       "How many partitions have an open file; past it the least recently used one is finished.")});
    out.details(std::string(kDetails));
    out.shorthand("path");
    return out;
  }();
  return spec;
}

bool has_files(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".parquet") return true;
  }
  return false;
}

Result<SinkContents> parquet_contents(const std::filesystem::path& folder) {
  SinkContents out;
  if (!has_files(folder)) return out;
  AQ_ASSIGN(const auto database, sql::Database::open({}));
  AQ_ASSIGN(const auto session, database->connect());
  auto rows = sql::collect(*session, fmt::format("SELECT * FROM read_parquet({}, hive_partitioning = true, "
                                                 "union_by_name = true)",
                                                 sql::quoted_text((folder / "**" / "*.parquet").string())));
  if (!rows) return fail(with_context(std::move(rows).error().error, folder.string()));
  out.rows = std::move(*rows);
  return out;
}

class ParquetFactory final : public SinkFactory {
 public:
  explicit ParquetFactory(ParquetConfig config) : config_(std::move(config)) {}
  std::unique_ptr<Sink> make(const ComponentContext& context) const override {
    return std::make_unique<ParquetSink>(config_, context);
  }
  SinkTraits traits() const override { return parquet_traits(config_); }
  Rehearsal rehearse(const std::filesystem::path& folder) const override {
    ParquetConfig inside = config_;
    inside.path = rehearsal_path(folder, config_.path);
    const auto path = inside.path;
    return {std::make_unique<ParquetFactory>(std::move(inside)), [path] { return parquet_contents(path); }};
  }

 private:
  ParquetConfig config_;
};

std::unique_ptr<SinkFactory> parse(const config::Node& node, config::Faults& faults) {
  const std::size_t before = faults.all().size();
  auto config = parquet_spec().read(node, faults);
  if (faults.all().size() != before) return nullptr;
  if (config.path.empty()) faults.add(node.where, "'path' is empty");
  if (config.roll.rows.value == 0)
    faults.add(node.where, "'roll: {{rows: 0}}' would never write a row: leave it out or give a number");
  if (config.roll.bytes.value == 0)
    faults.add(node.where, "'roll: {{bytes: 0}}' would never write a row: leave it out or give a size");
  if (config.row_group_rows.value == 0)
    faults.add(node.where, "'row_group_rows: 0' would never write a row: leave it out or give a number");
  if (config.open_files.value == 0)
    faults.add(node.where, "'open_files: 0' would never write a row: leave it out or give a number");
  if (faults.all().size() != before) return nullptr;
  return std::make_unique<ParquetFactory>(std::move(config));
}

}  // namespace

const ComponentType<SinkFactory>& parquet_sink() {
  static const ComponentType<SinkFactory> type{&parquet_spec().info(), parse,
                                               "parquet: {path: out, partition_by: [day], roll: {interval: 5m}}\n"};
  return type;
}

}  // namespace aqueduck
