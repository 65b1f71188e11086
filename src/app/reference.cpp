#include "app/reference.h"

#include <algorithm>
#include <filesystem>

#include "admin/metrics.h"
#include "config/loader.h"
#include "config/markdown.h"
#include "golden/case.h"
#include "pipeline/definition.h"

namespace aqueduck::app {
namespace {

constexpr std::string_view kExitCodes = R"(# Exit codes

Every command ends with one of these. What went wrong is on stderr; stdout carries data only.

| code | meaning | what to do |
| --- | --- | --- |
| 0 | Done: the source ended, a limit was reached, or a stop delivered what was read. | |
| 1 | A message or a batch failed where `errors:` says `fail`, a query failed on its data, `docs --check` found a difference, or a fault of Aqueduck's own. | Read the message; it names the message's position or the statement. `errors:` can skip such messages or put them aside. |
| 2 | The command line is wrong. | `--help` after the command lists what it takes. |
| 10 | The configuration is wrong: the pipeline's file, its SQL, an environment variable, or an `admin:` address that can't be listened on (in use, no permission). | The message has a line `file:line:column` for everything that was found; of an address it says what stands against it. |
| 11 | The source can't be reached or read, for longer than `retry: {give_up_after: …}` allows or for good. | Check address, credentials and path. |
| 12 | The sink failed for good. | Nothing that it didn't take is acknowledged; start again when it works. |
| 13 | A limit was reached: memory, disk, a size. | Raise the limit that the message names. |
| 14 | Stored state contradicts itself, the source or the sink; or another run holds the state folder or the output file. | The message says what contradicts what, or who holds it. Don't delete state before you know why. |
| 15 | A stop did not deliver everything within `drain:`, or a second signal ended it. | Nothing undelivered is acknowledged; the next run reads it again. |
| 141 | Whoever read stdout has gone, as `head` does: nothing is said about it. | Nothing that wasn't printed is acknowledged. |
)";

// YAML of a component under a key of the pipeline file.
std::string under(std::string_view key, std::string_view example) {
  std::string out = fmt::format("{}:\n", key);
  for (std::size_t at = 0; at < example.size();) {
    const std::size_t end = std::min(example.find('\n', at), example.size());
    out += fmt::format("  {}\n", example.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

template <typename F>
std::string component_page(const ComponentType<F>& type, std::string_view what, std::string_view key) {
  const std::string page = config::markdown(*type.info);
  return fmt::format("# `{}` {}{}\n## Example\n\n```yaml\n{}```\n", type.info->name, what, page.substr(page.find('\n')),
                     under(key, type.example));
}

std::string sink_page(const ComponentType<SinkFactory>& type) {
  std::string page = component_page(type, "sink", "sink");
  config::Faults faults;
  const auto node = config::load_text(type.example, "", nullptr, faults);
  if (!node || node->entries.empty()) return page;
  const auto sink = type.parse(node->entries.front().value, faults);
  if (sink == nullptr) return page;
  const SinkTraits traits = sink->traits();
  return page + fmt::format("\n## Delivery\n\n{}.\n",
                            traits.holds_token ? "exactly-once: it stores the source's positions in the same "
                                                 "transaction as the rows"
                                               : traits.guarantee);
}

std::string pipeline_page() {
  std::string page = config::markdown_of_file(pipeline::definition_info());
  const std::string title = "# pipeline\n";
  page.replace(0, title.size(), "# The pipeline file\n");
  page +=
      "\n`source`, `decode` and `sink` hold one key, the component's name, with its settings below it; a component "
      "that needs none may stand there as its name alone. [The index](index.md) lists them all.\n\n"
      "`${NAME}` and `${NAME:-default}` are replaced by environment variables and `${file:/path}` by a file's content, "
      "in any value; `$${` is a plain `${`. Durations are written like `1s` or `5m`, bytes like `64MiB`, counts like "
      "`5_000_000`. Relative paths, those in SQL too, start at the file's folder.\n";
  std::string commit = config::markdown(pipeline::commit_info());
  return page + "\n#" + commit;
}

std::string case_page() {
  std::string page = config::markdown_of_file(golden::case_info());
  const std::string title = "# case\n";
  page.replace(0, title.size(), "# case.yml\n");
  return page +
         "\nThe file stands in the folder of a [case](../guide/testing.md) and may be left out. `${SCRATCH}` in its "
         "values is a folder of the run's own, which is removed afterwards; with `sink: real` it is the copy of the "
         "case.\n";
}

std::string cli_page(const HelpTexts& help_texts) {
  std::string page =
      "# Commands\n\nLogs and errors go to stderr, data to stdout. [Exit codes](exit-codes.md) say how a "
      "command ended.\n";
  for (const auto& [name, help] : help_texts) {
    const std::size_t first = help.find_first_not_of('\n');
    const std::size_t last = help.find_last_not_of('\n');
    page += fmt::format("\n## aqueduck{}{}\n\n```text\n{}\n```\n", name.empty() ? "" : " ", name,
                        help.substr(first, last + 1 - first));
  }
  return page;
}

template <typename F>
std::string index_table(std::string_view title, std::string_view folder, const std::vector<ComponentType<F>>& types) {
  std::string out = fmt::format("\n## {}\n\n| name | what it does |\n| --- | --- |\n", title);
  for (const auto& type : types) {
    out += fmt::format("| [{0}]({1}/{0}.md) | {2} |\n", type.info->name, folder, type.info->summary);
  }
  return out;
}

std::string index_page(const Registry& registry) {
  return "# Reference\n\nWritten by `aqueduck docs --write`; `aqueduck docs NAME` prints a page.\n\n"
         "- [The pipeline file](pipeline.md)\n- [Test cases: case.yml](case.md)\n- [Commands](cli.md)\n- [Exit "
         "codes](exit-codes.md)\n- [Metrics](metrics.md)\n" +
         index_table("Sources", "sources", registry.sources) + index_table("Decoders", "decoders", registry.decoders) +
         index_table("Sinks", "sinks", registry.sinks);
}

std::string page_name(const ReferencePage& page) { return std::filesystem::path(page.path).stem().string(); }

}  // namespace

std::vector<ReferencePage> reference(const Registry& registry, const HelpTexts& help_texts) {
  std::vector<ReferencePage> pages = {{"index.md", index_page(registry)},
                                      {"pipeline.md", pipeline_page()},
                                      {"case.md", case_page()},
                                      {"cli.md", cli_page(help_texts)},
                                      {"exit-codes.md", std::string(kExitCodes)},
                                      {"metrics.md", admin::metrics_markdown()}};
  for (const auto& type : registry.sources) {
    pages.push_back({"sources/" + type.info->name + ".md", component_page(type, "source", "source")});
  }
  for (const auto& type : registry.decoders) {
    pages.push_back({"decoders/" + type.info->name + ".md", component_page(type, "decoder", "decode")});
  }
  for (const auto& type : registry.sinks) pages.push_back({"sinks/" + type.info->name + ".md", sink_page(type)});
  return pages;
}

Result<std::vector<ReferencePage>> find_pages(const std::vector<ReferencePage>& pages, const std::string& name) {
  std::vector<ReferencePage> found;
  std::vector<std::string> names;
  for (const ReferencePage& page : pages) {
    names.push_back(page_name(page));
    if (names.back() == name || page.path == name + ".md") found.push_back(page);
  }
  if (!found.empty()) return found;
  std::string hint = config::did_you_mean(name, {names.begin(), names.end()});
  if (hint.empty()) hint = "; `aqueduck docs` lists all";
  return fail(ErrorKind::config, "there is no component or page '{}'{}", name, hint);
}

}  // namespace aqueduck::app
