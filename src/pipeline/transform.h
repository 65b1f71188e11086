#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "component/decoder.h"
#include "pipeline/batch.h"
#include "pipeline/definition.h"
#include "pipeline/metadata_columns.h"
#include "pipeline/shared_columns.h"
#include "sql/database.h"

namespace aqueduck::pipeline {

struct TransformResult {
  std::vector<RecordBatch> rows;
  std::vector<DecodeFailure> failures;  ///< by index into the batch's messages
  std::uint64_t decoded = 0;            ///< rows that went into the SQL
};

/// Decoder and SQL of one worker: a batch in, rows out. Narrows the decoder to what the SQL reads. One thread.
class Transform {
 public:
  /// `decoder` is null where the source gives rows; `session` runs the SQL; `columns` are what the decoders of all
  /// workers know, and outlive this.
  Transform(const Definition& definition, std::unique_ptr<Decoder> decoder, std::unique_ptr<sql::Session> session,
            SharedColumns& columns);

  /// Parses the SQL and, where the columns are known already (declared or restored), plans it. Errors are of kind
  /// config and say where in the pipeline's file.
  Result<void> prepare();
  /// The columns that go to the sink, where they are known before the first batch.
  const std::shared_ptr<const Schema>& output() const { return output_; }
  /// Has `save` keep the columns of all workers' decoders for a later process, if this one's changed since the last
  /// time. No other worker saves or changes them meanwhile: an older set never comes after a newer one.
  Result<void> save_changed_schema(const std::function<Result<void>(const std::string&)>& save);
  /// Whether the SQL has a statement that changes something. Valid after prepare().
  bool writes() const { return script_ != nullptr && script_->writes(); }

  /// Where failures end the pipeline, by its policy or by themselves, there are no rows, and the SQL isn't run. Errors:
  /// sql (of these rows), config (the SQL doesn't fit the columns), limit, cancelled.
  Result<TransformResult> run(const Batch& batch);
  /// Ends a running statement. Any thread.
  void interrupt();

 private:
  /// Takes over what other workers' decoders found.
  Result<void> adopt(const SharedColumns::Hold& hold);
  Result<Decoded> decode(const Batch& batch);
  Result<void> plan(const std::shared_ptr<const Schema>& decoded);
  Result<std::shared_ptr<const Schema>> with_metadata(const std::shared_ptr<const Schema>& decoded);
  bool ends(const std::vector<DecodeFailure>& failures) const;
  Error located(sql::SqlError error) const;

  const Definition& definition_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<sql::Session> session_;
  std::unique_ptr<sql::BatchScript> script_;
  SharedColumns& columns_;
  std::uint64_t adopted_ = 0;  // version of columns_ that the decoder knows
  MetadataColumns metadata_;
  std::shared_ptr<const Schema> output_;
  bool planned_ = false;  // for the decoder's present columns
  bool schema_changed_ = false;
};

}  // namespace aqueduck::pipeline
