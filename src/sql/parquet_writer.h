#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "columnar/schema.h"

/// Parquet files that stay open while rows come in, by the engine's own encoder.
namespace aqueduck::sql {

struct ParquetOptions {
  std::vector<std::string> partition_by;  ///< columns whose values choose the file; they aren't written into it
  std::string compression = "zstd";       ///< by the engine's names
  std::uint64_t row_group_rows = 122'880;
};

struct EngineChunks;

/// Rows of one batch that go into one file. Shares the batch's rows with its other parts.
struct ParquetPart {
  std::string folder;  ///< hive-style, from the values of partition_by: "day=2026-11-30/city=Rome"; "" without them
  std::uint64_t rows = 0;
  std::shared_ptr<const EngineChunks> batch;
  std::vector<std::uint32_t> picked;  ///< which of the batch's rows, ascending; empty: all
};

/// One file in the making. append() takes rows into memory, where they wait until they are a row group; the file is
/// made when its first row group is. A full disk (kind limit) takes nothing away: what was encoded waits in memory, and
/// the same call goes on from there. Any other error is for good: every later call answers with it. What stands on the
/// disk is nobody's before finish() has succeeded; to give a file up, destroy this and remove it. One thread, that of
/// the format's session.
class ParquetFile {
 public:
  virtual ~ParquetFile() = default;
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;

  /// Memory only; a failure shows in the next call.
  virtual void append(const ParquetPart& part) = 0;
  /// What waits becomes a row group, however small.
  virtual void end_row_group() = 0;
  /// Encodes and writes the row groups that are complete.
  virtual Result<void> settle() = 0;
  /// Everything, the footer, and a sync. May be called again after it succeeded.
  virtual Result<void> finish() = 0;

  virtual bool opened() const = 0;                 ///< it has a file descriptor
  virtual std::uint64_t rows() const = 0;          ///< appended
  virtual std::uint64_t waiting_rows() const = 0;  ///< appended, not encoded
  virtual std::uint64_t memory() const = 0;  ///< what the waiting rows take, and encoded bytes that the disk refused
  virtual std::uint64_t bytes() const = 0;   ///< of the file so far, whether written or refused

 protected:
  ParquetFile() = default;
};

/// How rows of one schema become Parquet: which columns, as what types, and which of them choose the file. Belongs to
/// the thread of its Session, which outlives it; its files keep it alive.
class ParquetFormat {
 public:
  virtual ~ParquetFormat() = default;
  ParquetFormat(const ParquetFormat&) = delete;
  ParquetFormat& operator=(const ParquetFormat&) = delete;

  /// Rows of that schema by the file they go into, in order. Errors: sql (a value doesn't fit), limit.
  virtual Result<std::vector<ParquetPart>> split(const RecordBatch& rows) = 0;
  virtual std::unique_ptr<ParquetFile> file(std::filesystem::path path) = 0;

 protected:
  ParquetFormat() = default;
};

}  // namespace aqueduck::sql
