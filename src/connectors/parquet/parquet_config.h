#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "component/sink.h"
#include "config/object_spec.h"

namespace aqueduck {

enum class ParquetCompression { zstd, snappy, gzip, lz4, none };

/// When the files of a commit are closed: whichever comes first.
struct ParquetRoll {
  config::Count rows{1'000'000};
  config::Bytes bytes{std::uint64_t{128} << 20};
  Duration interval = std::chrono::minutes(1);
};

struct ParquetConfig {
  std::filesystem::path path;
  std::vector<std::string> partition_by;
  ParquetRoll roll;
  ParquetCompression compression = ParquetCompression::zstd;
  config::Count row_group_rows{122'880};
  config::Bytes buffer{std::uint64_t{256} << 20};
  config::Count open_files{100};
};

SinkTraits parquet_traits(const ParquetConfig& config);

}  // namespace aqueduck
