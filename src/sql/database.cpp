#include "sql/database.h"

#include <duckdb.hpp>
#include <duckdb/common/virtual_file_system.hpp>
#include <duckdb/main/db_instance_cache.hpp>

#include "sql/append_file_system.h"
#include "sql/arrow_bridge.h"
#include "sql/engine_error.h"
#include "sql/folder_files.h"
#include "sql/session.h"

namespace aqueduck::sql {
namespace {

// One instance a path: the engine's file locks are POSIX locks, which a second instance in this process would release.
duckdb::DBInstanceCache& instances() {
  static duckdb::DBInstanceCache cache;
  return cache;
}

class EngineDatabase : public Database {
 public:
  explicit EngineDatabase(std::shared_ptr<duckdb::DuckDB> database) : database_(std::move(database)) {}
  Result<std::unique_ptr<Session>> connect() override {
    auto session =
        guarded([&]() -> SqlResult<std::unique_ptr<Session>> { return std::make_unique<EngineSession>(database_); });
    if (!session) return fail(std::move(session).error().error);
    return std::move(*session);
  }

 private:
  std::shared_ptr<duckdb::DuckDB> database_;
};

void configure(duckdb::DBConfig& config, const DatabaseOptions& options) {
  const auto set = [&](const char* name, duckdb::Value value) { config.SetOptionByName(name, std::move(value)); };
  if (!options.folder.empty()) {
    config.file_system = duckdb::make_uniq<duckdb::VirtualFileSystem>(duckdb::make_uniq<FolderFiles>(options.folder));
  }
  set("threads", duckdb::Value::INTEGER(options.threads));
  if (options.read_only) config.options.access_mode = duckdb::AccessMode::READ_ONLY;
  if (options.memory_limit) set("memory_limit", duckdb::Value(std::to_string(*options.memory_limit) + "B"));
  set("temp_directory", duckdb::Value(options.temp_directory.string()));
  if (!options.extension_directory.empty()) {
    set("extension_directory", duckdb::Value(options.extension_directory.string()));
  }
  set("autoinstall_known_extensions", duckdb::Value::BOOLEAN(false));
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const DatabaseOptions& options) {
  auto opened = guarded([&]() -> SqlResult<std::unique_ptr<Database>> {
    duckdb::DBConfig config;
    configure(config, options);
    const auto prepare = [](duckdb::DuckDB& created) {
      register_batch_scan(*created.instance);
      register_append_files(*created.instance);
      duckdb::Connection connection(created);
      for (const char* setting : {"SET GLOBAL TimeZone='UTC'", "SET GLOBAL arrow_lossless_conversion=true",
                                  "SET GLOBAL errors_as_json=true"}) {
        auto result = connection.Query(setting);
        if (result->HasError()) result->ThrowError();
      }
    };
    if (options.path.empty()) {
      auto database = std::make_shared<duckdb::DuckDB>(nullptr, &config);
      prepare(*database);
      return std::make_unique<EngineDatabase>(std::move(database));
    }
    auto shared = instances().GetOrCreateInstance(options.path.string(), config, true, prepare);
    std::shared_ptr<duckdb::DuckDB> database(shared.get(), [shared](duckdb::DuckDB*) mutable { shared.reset(); });
    return std::make_unique<EngineDatabase>(std::move(database));
  });
  if (!opened) return fail(std::move(opened).error().error);
  return std::move(*opened);
}

SqlResult<std::vector<RecordBatch>> collect(Session& session, const std::string& query) {
  auto rows = session.query(query);
  if (!rows) return tl::make_unexpected(std::move(rows).error());
  std::vector<RecordBatch> out;
  while (true) {
    auto batch = (*rows)->next();
    if (!batch) return tl::make_unexpected(std::move(batch).error());
    if (batch->rows() == 0) return out;
    out.push_back(std::move(*batch));
  }
}

std::string engine_version() {
  std::string version = duckdb::DuckDB::LibraryVersion();
  return version.starts_with('v') ? version.substr(1) : version;
}

}  // namespace aqueduck::sql
