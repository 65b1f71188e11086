#include "pipeline/attached_files.h"

#include "base/file.h"

namespace aqueduck::pipeline {
namespace {

Result<void> check(const Definition& definition, const Statement& statement, sql::Session& session,
                   const std::filesystem::path& database, const std::string& sink) {
  const auto attached = session.attached_paths(statement.text);
  if (!attached) return {};  // a syntax error, which running it tells better
  for (const sql::AttachedPath& file : *attached) {
    if (resolved_path(definition.directory / file.path) != resolved_path(database)) continue;
    return fail(ErrorKind::config,
                "{}: '{}' is the file that {} writes to, and a process must not open a DuckDB file twice, not even "
                "READ_ONLY: attach another file, or have the sink write to one",
                statement.node.at(file.offset).to_string(), file.path, sink);
  }
  return {};
}

}  // namespace

Result<void> check_attached_files(const Definition& definition, sql::Session& session) {
  std::vector<std::pair<std::filesystem::path, std::string>> databases;
  const auto add = [&](const std::unique_ptr<SinkFactory>& sink, const std::string& name) {
    if (sink == nullptr) return;
    auto path = sink->database(definition.directory);
    if (!path.empty()) databases.emplace_back(std::move(path), name);
  };
  add(definition.sink, "the sink");
  add(definition.dead_letter, "the dead-letter sink");
  for (const auto& [database, sink] : databases) {
    for (const Statement& statement : definition.setup) AQ_TRY(check(definition, statement, session, database, sink));
    if (definition.sql) AQ_TRY(check(definition, *definition.sql, session, database, sink));
  }
  return {};
}

}  // namespace aqueduck::pipeline
