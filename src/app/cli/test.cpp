#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <thread>

#include "app/cli/command.h"
#include "base/log.h"
#include "base/secret.h"
#include "builtin/builtin.h"
#include "golden/case.h"
#include "golden/suite.h"

namespace aqueduck::app {
namespace {

struct TestOptions {
  std::vector<std::filesystem::path> paths = {"tests"};
  bool update = false;
  std::string filter;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
};

int run_tests(const TestOptions& options) {
  const auto cases = golden::find_cases(options.paths, options.filter);
  if (!cases) return report(cases.error(), pipeline::ExitCode::usage);
  std::size_t failed = 0;
  golden::run_cases(*cases, builtin_registry(), {options.update, options.jobs}, [&](const golden::CaseResult& result) {
    const bool good = result.report.empty();
    if (!good) ++failed;
    std::printf("%-6s %s (%.0f ms)\n", good ? "ok" : "FAILED", result.name.c_str(), result.seconds * 1000);
    if (!good) std::printf("%s", redact(result.report).c_str());
    std::fflush(stdout);
  });
  if (cases->empty()) {
    std::printf("there are no cases: a case is a folder with a pipeline.yml%s\n",
                options.filter.empty() ? "" : (" and '" + options.filter + "' in its path").c_str());
  }
  std::printf("%zu passed, %zu failed\n", cases->size() - failed, failed);
  return failed == 0 && !cases->empty() ? 0 : 1;
}

}  // namespace

void add_test(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("test", "Run test cases: folders with a pipeline, its input and what must come out");
  auto options = std::make_shared<TestOptions>();
  command->add_option("PATHS", options->paths, "Case folders, or folders of them; ./tests if none is named");
  command->add_flag("--update", options->update, "Write the expected files from what comes out");
  command->add_option("--filter", options->filter, "Only cases whose path contains this text");
  command->add_option("--jobs", options->jobs, "How many cases run at once")->check(CLI::PositiveNumber);
  command->footer(
      "A case: pipeline.yml, input.{jsonl,json,csv,txt,parquet,arrow,messages.jsonl} in place of its source,\n"
      "expected.{jsonl,csv}, expected.dead.jsonl for dead letters, and case.yml (`aqueduck docs case`) for the rest.\n"
      "Every case is also run with a restart.");
  command->callback([options, &app, &exit_code] {
    // What a pipeline warns of is part of many cases; it is shown where it was asked for.
    if (app.get_option("--log-level")->count() == 0) log::configure(log::Level::off, log::Format::text);
    exit_code = run_tests(*options);
  });
}

}  // namespace aqueduck::app
