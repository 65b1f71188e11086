#include <CLI/CLI.hpp>
#include <cstdio>

#include "app/cli/command.h"
#include "sql/database.h"

namespace aqueduck::app {

void add_version(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("version", "Print the version of Aqueduck and of its engine");
  command->footer("");
  command->callback([&exit_code] {
    std::printf("aqueduck %s (DuckDB %s)\n", AQUEDUCK_VERSION, sql::engine_version().c_str());
    exit_code = 0;
  });
}

}  // namespace aqueduck::app
