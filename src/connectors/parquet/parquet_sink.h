#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/parquet/commit_log.h"
#include "connectors/parquet/parquet_config.h"
#include "connectors/parquet/staging.h"
#include "sql/database.h"

namespace aqueduck {

/// Writes Parquet files that become visible with the token, by a numbered manifest of renames (see CommitLog). Rows
/// wait in memory within the roll limits, are then encoded into files aside, and are committed as a set; a failed
/// commit keeps the files. Several writers, of any process, may share the folder and the pipeline's name.
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
  void close() override;

 private:
  struct Staged {
    std::string path;    ///< in the pipeline's folder
    std::string folder;  ///< where it goes, in the output folder: "day=2026-11-30", or ""
  };
  struct Doubt {
    Token next;
    std::uint64_t number = 0;
  };

  Result<void> connect();
  Result<void> remove_orphans();
  /// Encodes what waits into files.
  Result<void> stage();
  Result<void> encode(const std::vector<RecordBatch>& rows, std::vector<Staged>& files);
  Result<std::string> copy_statement(const Schema& schema, const std::string& target);
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
  std::vector<RecordBatch> waiting_;
  std::uint64_t waiting_rows_ = 0;
  std::uint64_t waiting_bytes_ = 0;
  std::vector<Staged> staged_;
  std::optional<Doubt> doubt_;  ///< a commit of which it isn't known whether it happened
};

}  // namespace aqueduck
