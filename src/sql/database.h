#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "columnar/schema.h"

namespace aqueduck::sql {

/// A failure with the place in the statement's text, where the engine knows it (byte offset).
struct SqlError {
  Error error;
  std::optional<std::size_t> offset;
};
/// Errors of kind limit that say so can be helped by more memory or a folder to spill to.
inline constexpr std::string_view kOutOfMemory = "out of memory";
template <typename T>
using SqlResult = tl::expected<T, SqlError>;

struct DatabaseOptions {
  std::filesystem::path path;  ///< empty: in memory
  bool read_only = false;
  int threads = 1;  ///< the engine's own; pipelines use one and run workers beside one another
  std::optional<std::uint64_t> memory_limit;  ///< bytes
  std::filesystem::path temp_directory;       ///< empty: spilling is off
  std::filesystem::path extension_directory;  ///< empty: the engine's default
  std::filesystem::path folder;               ///< absolute; where relative paths in SQL start; empty: the process's
};

/// Rows of a query, as they are produced. Single-pass; belongs to the thread of its Session.
class Rows {
 public:
  virtual ~Rows() = default;
  virtual const std::shared_ptr<const Schema>& schema() const = 0;
  /// The next rows (at most about 122,880), or an empty batch at the end.
  virtual SqlResult<RecordBatch> next() = 0;
};

/// A script over one relation (`batch`) whose rows are swapped under prepared statements. Prepared again by itself when
/// the schema changes: the engine does not notice that, and would return raw bits.
class BatchScript {
 public:
  virtual ~BatchScript() = default;
  /// Plans every statement for rows of this schema and returns the last one's columns (null: it yields no rows).
  virtual SqlResult<std::shared_ptr<const Schema>> prepare(std::shared_ptr<const Schema> schema) = 0;
  /// Whether a statement changes something: tables, files, settings.
  virtual bool writes() const = 0;
  /// Paths of the columns and struct fields that the plans read; nullopt: all. Valid after prepare().
  virtual std::optional<std::vector<std::vector<std::string>>> columns_read() const = 0;
  /// Runs all statements over these rows, of one schema; `consume` gets the last one's rows, batch by batch; its error
  /// ends the run.
  virtual SqlResult<void> run(const std::vector<RecordBatch>& rows,
                              const std::function<Result<void>(const RecordBatch&)>& consume) = 0;
};

class ParquetFormat;
struct ParquetOptions;

/// An ATTACH of a script: the path as it is written ("duckdb:" left out), and the statement's offset in the text.
struct AttachedPath {
  std::string path;
  std::size_t offset = 0;
};

/// One connection. One thread at a time, except interrupt().
class Session {
 public:
  virtual ~Session() = default;
  /// Runs one or several statements; rows are dropped.
  virtual SqlResult<void> execute(const std::string& text) = 0;
  /// Runs all statements of the text; rows of the last one.
  virtual SqlResult<std::unique_ptr<Rows>> query(const std::string& text) = 0;
  /// Parses a script; the relation `name` need not exist. Errors: syntax.
  virtual SqlResult<std::unique_ptr<BatchScript>> script(const std::string& text,
                                                         const std::string& relation = "batch") = 0;
  /// A schema from names and type texts ("STRUCT(a INTEGER, tags VARCHAR[])"): any type of the engine. The error's
  /// offset is within the type text, and `column` says of which.
  virtual SqlResult<Schema> schema_of(const std::vector<std::pair<std::string, std::string>>& columns,
                                      std::size_t* column) = 0;
  /// The engine's names of a schema's types ("DECIMAL(18,3)"), in order.
  virtual SqlResult<std::vector<std::string>> type_names(const Schema& schema) = 0;
  /// Those statements of a script that only this connection would know of, so that each connection must run them: SET,
  /// USE, PRAGMA, PREPARE. Objects that are TEMPORARY can't be had twice: kind config.
  virtual SqlResult<std::vector<std::string>> connection_statements(const std::string& text) = 0;
  /// The files that a script would attach. Nothing is run. Errors: syntax.
  virtual SqlResult<std::vector<AttachedPath>> attached_paths(const std::string& text) = 0;
  /// A writer of Parquet files for rows of this schema (see parquet_writer.h).
  virtual Result<std::shared_ptr<ParquetFormat>> parquet(std::shared_ptr<const Schema> schema,
                                                         const ParquetOptions& options) = 0;
  /// Ends the running call with a `cancelled` error. Any thread.
  virtual void interrupt() = 0;
};

/// All rows of a query at once; no batch is empty. For results that are known to be small.
SqlResult<std::vector<RecordBatch>> collect(Session& session, const std::string& query);

/// One instance of the engine. Sets TimeZone to UTC and never opens a path that this process holds open otherwise.
/// connect() may be called from any thread. Outlives its sessions.
class Database {
 public:
  virtual ~Database() = default;
  static Result<std::unique_ptr<Database>> open(const DatabaseOptions& options);
  virtual Result<std::unique_ptr<Session>> connect() = 0;
};

/// "1.5.5"
std::string engine_version();

}  // namespace aqueduck::sql
