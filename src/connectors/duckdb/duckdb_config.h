#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "component/sink.h"
#include "config/object_spec.h"

namespace aqueduck {

enum class DuckdbHold { always, flush };
enum class DuckdbColumns { fail, extend };

struct DuckdbConfig {
  std::filesystem::path path;
  std::string table;
  std::string schema = "main";
  bool create = true;
  DuckdbColumns columns = DuckdbColumns::fail;
  DuckdbHold hold = DuckdbHold::always;
  config::Bytes memory{std::uint64_t{512} << 20};
};

SinkTraits duckdb_traits();

}  // namespace aqueduck
