#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include "app/cli/command.h"
#include "app/cli/command_line.h"
#include "app/reference.h"
#include "base/file.h"
#include "builtin/builtin.h"

namespace aqueduck::app {
namespace {

using pipeline::ExitCode;

struct DocsOptions {
  std::vector<std::string> names;
  std::string write;
  std::string check;
};

int print_pages(const std::vector<ReferencePage>& pages, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    auto found = find_pages(pages, name);
    if (!found) return report(found.error(), ExitCode::usage);
    for (const ReferencePage& page : *found) text += (text.empty() ? "" : "\n") + page.text;
  }
  if (names.empty()) text = find_pages(pages, "index")->front().text;
  std::fputs(text.c_str(), stdout);
  return 0;
}

int write_pages(const std::vector<ReferencePage>& pages, const std::filesystem::path& folder) {
  for (const ReferencePage& page : pages) {
    const auto path = folder / page.path;
    if (auto made = make_folders(path.parent_path()); !made) return report(made.error(), ExitCode::stopped);
    if (auto written = replace_file(path, page.text); !written) return report(written.error(), ExitCode::stopped);
  }
  std::fprintf(stderr, "wrote %zu pages to %s\n", pages.size(), folder.c_str());
  return 0;
}

// Markdown files below the folder, relative to it.
std::set<std::string> files_in(const std::filesystem::path& folder) {
  std::set<std::string> out;
  std::error_code failed;
  for (std::filesystem::recursive_directory_iterator it(folder, failed), end; !failed && it != end;
       it.increment(failed)) {
    if (it->path().extension() == ".md") out.insert(it->path().lexically_relative(folder).string());
  }
  return out;
}

int check_pages(const std::vector<ReferencePage>& pages, const std::filesystem::path& folder) {
  std::set<std::string> others = files_in(folder);
  bool same = true;
  const auto differs = [&](const std::string& path, const char* how) {
    std::fprintf(stderr, "%s: %s\n", (folder / path).c_str(), how);
    same = false;
  };
  for (const ReferencePage& page : pages) {
    if (others.erase(page.path) == 0) {
      differs(page.path, "is missing");
      continue;
    }
    const auto text = read_file(folder / page.path);
    if (!text) {
      differs(page.path, text.error().message.c_str());
    } else if (*text != page.text) {
      differs(page.path, "differs from what this binary writes");
    }
  }
  for (const std::string& path : others) differs(path, "is no page of the reference: remove it");
  if (same) return 0;
  return report(make_error(ErrorKind::config, "run: aqueduck docs --write {}", folder.string()), ExitCode::stopped);
}

int docs(const DocsOptions& options) {
  const auto pages = reference(builtin_registry(), help_texts());
  if (!options.write.empty()) return write_pages(pages, options.write);
  if (!options.check.empty()) return check_pages(pages, options.check);
  return print_pages(pages, options.names);
}

}  // namespace

void add_docs(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("docs", "Print the reference page of a component, or write all pages");
  auto options = std::make_shared<DocsOptions>();
  auto* names = command->add_option(
      "NAME", options->names, "Components, or pipeline, case, cli, exit-codes, metrics; the index where none is named");
  auto* write =
      command->add_option("--write", options->write, "Write the whole reference to this folder")->excludes(names);
  command->add_option("--check", options->check, "Exit with 1 and name the files that differ from the reference here")
      ->excludes(names)
      ->excludes(write);
  command->footer("A name that is a source's and a sink's prints both; sources/file prints one.");
  command->callback([options, &exit_code] { exit_code = docs(*options); });
}

}  // namespace aqueduck::app
