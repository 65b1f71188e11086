#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "app/cli/command.h"
#include "app/pipeline_schema.h"
#include "builtin/builtin.h"
#include "config/json_schema.h"
#include "golden/case.h"

namespace aqueduck::app {

void add_schema(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("schema", "Print the JSON Schema of a pipeline file or a test case, for editors");
  auto what = std::make_shared<std::string>("pipeline");
  command->add_option("FILE", *what, "pipeline, or case for a case.yml")->check(CLI::IsMember({"pipeline", "case"}));
  command->footer(
      "  aqueduck schema > pipeline.schema.json\n"
      "and as the first line of a pipeline file:\n"
      "  # yaml-language-server: $schema=pipeline.schema.json");
  command->callback([what, &exit_code] {
    const std::string text =
        *what == "case" ? config::json_schema(golden::case_info()) : pipeline_schema(builtin_registry());
    std::fputs(text.c_str(), stdout);
    exit_code = 0;
  });
}

}  // namespace aqueduck::app
