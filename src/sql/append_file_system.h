#pragma once

#include <duckdb.hpp>
#include <string>

#include "base/append_file.h"

/// The engine writes into files of ours. Internal to src/sql.
namespace aqueduck::sql {

/// Registers with an instance the file system that knows the files that are offered. Once, before any session.
void register_append_files(duckdb::DatabaseInstance& instance);

/// As long as this lives, whoever opens `path` in the engine, with whatever instance, writes into `file`. The handle
/// that was got so must not outlive the file. Any thread; a path is offered once at a time.
class OfferedFile {
 public:
  OfferedFile(std::string path, AppendFile& file);
  ~OfferedFile();
  OfferedFile(const OfferedFile&) = delete;
  OfferedFile& operator=(const OfferedFile&) = delete;

 private:
  std::string path_;
};

}  // namespace aqueduck::sql
