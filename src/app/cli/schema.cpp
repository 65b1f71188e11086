#include <CLI/CLI.hpp>
#include <cstdio>

#include "app/cli/command.h"
#include "app/pipeline_schema.h"
#include "builtin/builtin.h"

namespace aqueduck::app {

void add_schema(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("schema", "Print the JSON Schema of a pipeline file, for editors");
  command->footer(
      "  aqueduck schema > pipeline.schema.json\n"
      "and as the first line of a pipeline file:\n"
      "  # yaml-language-server: $schema=pipeline.schema.json");
  command->callback([&exit_code] {
    std::fputs(pipeline_schema(builtin_registry()).c_str(), stdout);
    exit_code = 0;
  });
}

}  // namespace aqueduck::app
