#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "component/chunk.h"

namespace aqueduck::golden {

/// A case's input file in memory: messages, or rows where the file holds rows.
struct Input {
  std::vector<Message> messages;  ///< offsets grow within each partition
  std::vector<std::string> partitions = {"input"};
  std::vector<std::shared_ptr<const void>> owners;  ///< keep the messages' bytes alive
  std::vector<RecordBatch> rows;
  bool gives_rows = false;
  std::string decoder;  ///< the one that fits the file, where the pipeline has none

  std::uint64_t size() const;
};

/// By the extension: messages.jsonl: envelopes (envelopes.h); jsonl, csv, txt: a message a line (csv: a record); json:
/// one message, the whole file; parquet and arrow: rows.
Result<Input> read_input(const std::filesystem::path& path);
/// All rows of a Parquet file (or glob), or of an Arrow IPC file.
Result<std::vector<RecordBatch>> read_rows(const std::filesystem::path& path);

}  // namespace aqueduck::golden
