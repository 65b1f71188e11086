#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/cli/command.h"
#include "app/starter.h"
#include "base/file.h"
#include "builtin/builtin.h"

namespace aqueduck::app {
namespace {

using pipeline::ExitCode;

struct NewOptions {
  std::string name = "pipeline";
  std::string source = "generator";
  std::string sink = "console";
  bool force = false;
};

int make(const NewOptions& options) {
  const auto files = starter(builtin_registry(), options.name, options.source, options.sink);
  if (!files) return report(files.error(), ExitCode::usage);
  for (const StarterFile& file : *files) {
    std::error_code ignored;
    if (!options.force && std::filesystem::exists(file.path, ignored)) {
      return report(make_error(ErrorKind::config, "{} is there already; --force overwrites it", file.path),
                    ExitCode::usage);
    }
  }
  for (const StarterFile& file : *files) {
    const std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
    if (!folder.empty()) {
      if (auto made = make_folders(folder); !made) return report(made.error(), ExitCode::stopped);
    }
    if (auto written = replace_file(file.path, file.text); !written) return report(written.error(), ExitCode::stopped);
    std::fprintf(stderr, "wrote %s\n", file.path.c_str());
  }
  std::fprintf(stderr, "\nNext: aqueduck run %s\n", files->front().path.c_str());
  return 0;
}

}  // namespace

void add_new(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("new", "Write a commented pipeline to start from, and a test case for it");
  auto options = std::make_shared<NewOptions>();
  command->add_option("NAME", options->name, "The pipeline's name; the file is NAME.yml")->capture_default_str();
  command->add_option("--source", options->source, "Its source, of `aqueduck list sources`")->capture_default_str();
  command->add_option("--sink", options->sink, "Its sink, of `aqueduck list sinks`")->capture_default_str();
  command->add_flag("--force", options->force, "Overwrite files that are there");
  command->footer("As it comes it makes up rows, filters them by SQL and prints them: run it, then change it.");
  command->callback([options, &exit_code] { exit_code = make(*options); });
}

}  // namespace aqueduck::app
