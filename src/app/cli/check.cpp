#include <CLI/CLI.hpp>
#include <cstdio>

#include "app/cli/command.h"
#include "builtin/builtin.h"
#include "pipeline/runner.h"

namespace aqueduck::app {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  std::vector<std::string> overrides;
};

int check_file(const std::string& file, const std::vector<std::string>& overrides) {
  auto definition = pipeline::load_definition(file, builtin_registry(), {overrides, config::process_environment()});
  if (!definition) return report(definition.error(), pipeline::ExitCode::config);
  pipeline::Runner runner(*definition, {});
  if (auto prepared = runner.prepare(); !prepared) return report(prepared.error().error, prepared.error().code);
  std::printf("%s: ok\n", file.c_str());
  std::printf("  %s -> %s%s -> %s\n", definition->source_name.c_str(),
              definition->decoder == nullptr ? "" : (definition->decoder_name + " -> ").c_str(),
              definition->sql ? "SQL" : "as it is", definition->sink_name.c_str());
  std::printf("  delivery: %s\n", pipeline::guarantee(*definition).c_str());
  for (const std::string& note : runner.notes()) std::printf("  note: %s\n", note.c_str());
  if (definition->admin && !definition->admin->loopback()) {
    std::printf("  warning: admin: %s\n", std::string(kAdminIsOpen).c_str());
  }
  if (definition->sql && runner.output() == nullptr && definition->decoder != nullptr) {
    std::printf(
        "  columns: inferred from the first batch; declare a `schema` under `decode:` to have the SQL checked against "
        "them "
        "here\n");
  }
  return 0;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("check", "Check pipeline files: settings, SQL, and what each guarantees");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("FILE", options->files, "Pipeline YAML files")->required();
  command->add_option("--set", options->overrides, "Override a value of the file: key.path=value; may be repeated")
      ->allow_extra_args(false);
  command->footer(
      "`setup:` statements are run, so that the SQL can be checked against what they attach; no source or sink is "
      "opened.");
  command->callback([options, &exit_code] {
    for (const auto& file : options->files) {
      if (const int code = check_file(file, options->overrides); code != 0) exit_code = code;
    }
  });
}

}  // namespace aqueduck::app
