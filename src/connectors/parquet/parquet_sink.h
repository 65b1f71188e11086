#pragma once

#include <memory>
#include <optional>
#include <string>

#include "connectors/parquet/commit_log.h"
#include "connectors/parquet/parquet_config.h"
#include "connectors/parquet/partition_files.h"
#include "connectors/parquet/staging.h"
#include "sql/database.h"

namespace aqueduck {

/// Writes Parquet files that become visible with the token, by a numbered manifest of renames (see CommitLog). Rows go
/// into open files aside (see PartitionFiles), which are finished and committed as a set; a failed write or commit
/// keeps them. Several writers, of any process, may share the folder and the pipeline's name.
class ParquetSink final : public Sink {
 public:
  ParquetSink(ParquetConfig config, const ComponentContext& context);
  ~ParquetSink() override { close(); }

  SinkTraits traits() const override { return parquet_traits(config_); }
  Result<Token> open() override;
  Result<void> write(const RecordBatch& batch) override;
  Result<CommitResult> commit(const Token& expected, const Token& next) override;
  Result<void> abort() override;
  Result<Token> stored_token() override;
  std::optional<std::uint64_t> uncommitted_bytes() const override { return files_.bytes(); }
  void close() override;

 private:
  struct Doubt {
    Token next;
    std::uint64_t number = 0;
  };

  Result<void> connect();
  Result<void> remove_orphans();
  /// Whether the commit in doubt happened, by what stands there now.
  void resolve_doubt(const Manifest& last);
  Manifest manifest_after(const std::optional<Manifest>& last, Token token) const;
  void forget();

  ParquetConfig config_;
  std::filesystem::path output_;
  std::filesystem::path own_;
  std::string pipeline_;  ///< as it stands in file names
  sql::Database* shared_;
  CommitLog log_;
  Staging staging_;
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<sql::Session> session_;
  PartitionFiles files_;
  std::optional<Doubt> doubt_;  ///< a commit of which it isn't known whether it happened
};

}  // namespace aqueduck
