#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "app/cli/command.h"
#include "builtin/builtin.h"

namespace aqueduck::app {
namespace {

template <typename F>
std::size_t longest_name(const std::vector<ComponentType<F>>& types, std::size_t least) {
  for (const auto& type : types) least = std::max(least, type.info->name.size());
  return least;
}

template <typename F>
void print(const std::vector<ComponentType<F>>& types, std::size_t width, std::string_view indent) {
  for (const auto& type : types) {
    fmt::print("{}{:<{}}  {}\n", indent, type.info->name, width, type.info->summary);
  }
}

void list(const std::string& kind) {
  const Registry& all = builtin_registry();
  const bool every = kind.empty();
  const std::size_t width = longest_name(all.sources, longest_name(all.decoders, longest_name(all.sinks, 0)));
  const std::string_view indent = every ? "  " : "";
  if (every) fmt::print("sources\n");
  if (every || kind == "sources") print(all.sources, width, indent);
  if (every) fmt::print("decoders\n");
  if (every || kind == "decoders") print(all.decoders, width, indent);
  if (every) fmt::print("sinks\n");
  if (every || kind == "sinks") print(all.sinks, width, indent);
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("list", "List sources, decoders and sinks, a sentence each");
  auto kind = std::make_shared<std::string>();
  command->add_option("KIND", *kind, "sources, decoders or sinks; all of them where it is left out");
  command->footer("`aqueduck docs NAME` prints the whole page of one.");
  command->callback([kind, &exit_code] {
    if (!kind->empty() && *kind != "sources" && *kind != "decoders" && *kind != "sinks") {
      exit_code = report(make_error(ErrorKind::config, "'{}' is no kind of component{}; use sources, decoders or sinks",
                                    *kind, config::did_you_mean(*kind, {"sources", "decoders", "sinks"})),
                         pipeline::ExitCode::usage);
      return;
    }
    list(*kind);
  });
}

}  // namespace aqueduck::app
