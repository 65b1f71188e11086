#pragma once

#include <memory>
#include <vector>

#include "component/decoder.h"
#include "component/registry.h"
#include "pipeline/batch.h"

namespace aqueduck::pipeline {

/// The columns that a source adds to its messages' rows (`_key`, `_offset` …), behind the decoded ones; a decoded
/// column of the same name wins. `_topic` is the partition's name up to its last '/', `_partition` the number after it.
/// Owned by one Transform; one thread.
class MetadataColumns {
 public:
  explicit MetadataColumns(std::vector<MetadataColumn> columns) : columns_(std::move(columns)) {}

  bool empty() const { return columns_.empty(); }
  bool names(std::string_view column) const;
  /// `schema` with these columns behind its own.
  Result<std::shared_ptr<const Schema>> extend(const std::shared_ptr<const Schema>& schema);
  /// Rows decoded from the batch's messages with these columns behind their own.
  Result<RecordBatch> extend(const Decoded& decoded, const Batch& batch);

 private:
  std::vector<MetadataColumn> columns_;
  std::shared_ptr<const Schema> base_;      // the last schema that was extended …
  std::shared_ptr<const Schema> extended_;  // … and what came of it: equal ones stay the same object
  std::vector<MetadataColumn> added_;       // the columns in it that are ours
};

}  // namespace aqueduck::pipeline
