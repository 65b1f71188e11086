#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/rows_printer.h"
#include "app/sql_excerpt.h"
#include "builtin/builtin.h"
#include "pipeline/runner.h"

namespace aqueduck::app {
namespace {

using pipeline::ExitCode;

struct QueryOptions {
  std::string first;
  std::string second;
  std::string format = "auto";
  std::vector<std::string> overrides;
};

ExitCode code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::config:
    case ErrorKind::denied:
      return ExitCode::config;
    case ErrorKind::limit:
      return ExitCode::limit;
    case ErrorKind::conflict:
      return ExitCode::conflict;
    case ErrorKind::cancelled:
      return ExitCode::reader_gone;
    default:
      return ExitCode::stopped;
  }
}

// Without a file the engine's settings are changed by SQL alone.
Error with_advice(Error error, const pipeline::Definition& definition) {
  if (!definition.file.empty()) return pipeline::with_engine_keys(std::move(error), definition.engine);
  if (error.kind == ErrorKind::limit && error.message.find(sql::kOutOfMemory) != std::string::npos) {
    error.message += "; begin the SQL with SET temp_directory = 'FOLDER'; so that it can spill to disk";
  }
  return error;
}

int report_sql(const std::string& sql, sql::SqlError error, const pipeline::Definition& definition) {
  error.error = with_advice(std::move(error.error), definition);
  return report(Error{error.error.kind, with_excerpt(sql, error)}, code_of(error.error.kind));
}

Result<pipeline::Definition> definition_of(const std::string& file, const std::vector<std::string>& overrides) {
  if (file.empty()) return pipeline::Definition{};
  return pipeline::load_definition(file, builtin_registry(), {overrides, config::process_environment()});
}

int query(const QueryOptions& options) {
  const std::string& sql = options.second.empty() ? options.first : options.second;
  const std::string file = options.second.empty() ? "" : options.first;
  if (sql.empty()) {
    return report({ErrorKind::config, "there is no SQL; write: aqueduck query \"SELECT 1\""}, ExitCode::usage);
  }
  if (file.empty() && !options.overrides.empty()) {
    return report({ErrorKind::config, "--set changes a pipeline's file; name one before the SQL"}, ExitCode::usage);
  }
  const auto format = parse_row_format(options.format);
  if (!format) return report(format.error(), ExitCode::usage);
  const auto definition = definition_of(file, options.overrides);
  if (!definition) return report(definition.error(), ExitCode::config);
  auto engine = pipeline::open_engine(*definition);
  if (!engine) return report(engine.error().error, engine.error().code);
  auto rows = engine->session->query(sql);
  if (!rows) return report_sql(sql, rows.error(), *definition);
  if (auto printed = print_rows(*engine->session, **rows, *format); !printed)
    return report_sql(sql, printed.error(), *definition);
  return 0;
}

}  // namespace

void add_query(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("query", "Run SQL and print its rows");
  auto options = std::make_shared<QueryOptions>();
  command->add_option("FILE", options->first, "A pipeline file, whose `setup:` is run first; may be left out");
  command->add_option("SQL", options->second, "DuckDB SQL; of several statements the last one's rows are printed");
  command->add_option("--format", options->format, "table, jsonl, csv, or auto: a table on a terminal, else jsonl")
      ->capture_default_str();
  command->add_option("--set", options->overrides, "Override a value of the file: key.path=value; may be repeated")
      ->allow_extra_args(false);
  command->footer(
      "Relative paths in the SQL start at the file's folder, without a file at the working directory. Statements that\n"
      "write do write.\n"
      "  aqueduck query \"SELECT count(*) FROM 'out/*.parquet'\"\n"
      "  aqueduck query pipeline.yml \"SELECT * FROM dim.cities\" --format csv");
  command->callback([options, &exit_code] { exit_code = query(*options); });
}

}  // namespace aqueduck::app
