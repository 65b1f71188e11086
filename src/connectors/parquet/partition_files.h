#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "connectors/parquet/parquet_config.h"
#include "connectors/parquet/staging.h"
#include "sql/database.h"
#include "sql/parquet_writer.h"

namespace aqueduck {

/// The files of an uncommitted set: those that are open, at most one for each partition, and those that are finished.
/// Keeps memory and descriptors within the configuration, by smaller row groups and by finishing the file that was used
/// least recently. One thread.
///
/// write() and finish_all() may be called again after an error: every row that was taken is in one place, in memory, in
/// an encoded row group that the disk refused, or in a file. An error that isn't the disk's is for good.
class PartitionFiles {
 public:
  struct Finished {
    std::string path;    ///< in the pipeline's folder
    std::string folder;  ///< where it goes, in the output folder: "day=2026-11-30", or ""
    std::uint64_t bytes = 0;
  };

  PartitionFiles(const ParquetConfig& config, Staging& staging) : config_(config), staging_(staging) {}

  /// Takes all of the rows, or none of them where it fails.
  Result<void> write(sql::Session& session, const RecordBatch& rows);
  Result<void> finish_all();

  const std::vector<Finished>& finished() const { return finished_; }
  /// Size of all files; rows that wait for their row group count as much as rows took in files so far.
  std::uint64_t bytes() const { return bytes_; }
  /// Somebody else has the finished files now.
  void release();
  /// Removes all files, or where `keep_finished` only those that aren't.
  void drop(bool keep_finished);
  /// Forgets the session of earlier writes.
  void disconnect();

 private:
  struct Open {
    std::unique_ptr<sql::ParquetFile> file;
    std::string path;
    std::string folder;
    std::uint64_t used = 0;  // number of the write that last gave it rows
  };
  using OpenFiles = std::map<std::string, Open>;

  Result<void> fit_format(sql::Session& session, const RecordBatch& rows);
  void take(const sql::ParquetPart& part);
  /// Writes what is due and keeps to the limits.
  Result<void> settle();
  Result<void> settle(Open& open);
  Result<void> finish_closing();
  OpenFiles::iterator close(OpenFiles::iterator open);
  std::uint64_t size(const sql::ParquetFile& file) const;
  void recount();

  const ParquetConfig& config_;
  Staging& staging_;
  std::shared_ptr<sql::ParquetFormat> format_;
  std::shared_ptr<const Schema> schema_;  // of the format
  OpenFiles open_;                        // by folder
  std::deque<Open> closing_;              // get no more rows
  std::vector<Finished> finished_;
  std::uint64_t writes_ = 0;
  std::uint64_t bytes_ = 0;
  double row_bytes_ = 0;  // of a row in a file, as far as known
  // Since the sink was made, in memory and in finished files.
  std::uint64_t seen_rows_ = 0;
  std::uint64_t seen_bytes_ = 0;
  std::uint64_t finished_rows_ = 0;
  std::uint64_t finished_bytes_ = 0;
};

}  // namespace aqueduck
