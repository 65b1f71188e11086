#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>

#include "admin/admin.h"
#include "app/cli/command.h"
#include "app/cli/signals.h"
#include "app/progress.h"
#include "base/file.h"
#include "base/log.h"
#include "builtin/builtin.h"
#include "pipeline/runner.h"

namespace aqueduck::app {
namespace {

struct RunOptions {
  std::string file;
  std::vector<std::string> overrides;
  std::string max_messages;
  std::string until_idle;
  std::string stats_json;
};

Result<pipeline::RunLimits> limits_of(const RunOptions& options) {
  pipeline::RunLimits limits;
  if (!options.max_messages.empty()) {
    AQ_ASSIGN(limits.max_messages, parse_count(options.max_messages));
    if (*limits.max_messages == 0) return fail(ErrorKind::config, "--max-messages 0 would read nothing; use 1 or more");
  }
  if (!options.until_idle.empty()) {
    AQ_ASSIGN(limits.until_idle, parse_duration(options.until_idle));
  }
  return limits;
}

// Null where the file asks for none.
Result<std::unique_ptr<admin::Admin>> open_admin(const pipeline::Definition& definition,
                                                 const pipeline::Runner& runner) {
  if (!definition.admin) return nullptr;
  admin::About about;
  about.pipeline = definition.name;
  about.version = AQUEDUCK_VERSION;
  about.source = definition.source_name;
  about.sink = definition.sink_name;
  about.delivery = pipeline::guarantee(definition);
  about.holds_token = definition.sink->traits().holds_token;
  about.started = pipeline::Stats::seconds_now();
  auto opened = admin::Admin::open(*definition.admin, std::move(about),
                                   {[&] { return runner.snapshot(); }, [&] { return runner.end_positions(); }});
  if (!opened) return fail(with_context(std::move(opened).error(), "admin"));
  const Address& address = (*opened)->address();
  log::info("admin: listening on http://{}", address.to_string());
  if (!address.loopback()) log::warn("admin: {}", kAdminIsOpen);
  return std::move(*opened);
}

int run_pipeline(const RunOptions& options) {
  auto limits = limits_of(options);
  if (!limits) return report(limits.error(), pipeline::ExitCode::usage);
  auto definition =
      pipeline::load_definition(options.file, builtin_registry(), {options.overrides, config::process_environment()});
  if (!definition) return report(definition.error(), pipeline::ExitCode::config);

  const auto stuck = [&] {
    log::write_unless_blocked(log::Level::error,
                              fmt::format("{}: not everything was delivered within the drain time of {}, and a call of "
                                          "source '{}' or sink '{}' still "
                                          "blocks: ending at once; nothing undelivered was acknowledged",
                                          definition->name, format_duration(definition->drain), definition->source_name,
                                          definition->sink_name));
    ::_exit(static_cast<int>(pipeline::ExitCode::drain_incomplete));
  };
  pipeline::Runner runner(*definition, *limits, {}, stuck);
  const auto started = std::chrono::steady_clock::now();
  tl::expected<void, pipeline::Failure> result;
  {
    const StopSignals signals([&] { runner.request_drain(); }, static_cast<int>(pipeline::ExitCode::drain_incomplete));
    const auto admin = open_admin(*definition, runner);
    if (!admin) return report(admin.error(), pipeline::ExitCode::config);
    const Progress progress({[&] { return runner.snapshot(); }, [&] { return runner.end_positions(); }},
                            definition->name);
    result = runner.run();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  const auto stats = runner.snapshot();
  if (!options.stats_json.empty()) {
    const std::string json = pipeline::to_json(stats, definition->name, seconds) + "\n";
    if (auto written = replace_file(options.stats_json, json); !written) log::warn("{}", written.error().message);
  }
  log::info("{}: {} messages, {} rows decoded, {} rows written, {} commits in {:.1f} s", definition->name,
            stats.messages, stats.rows_decoded, stats.rows_written, stats.commits, seconds);
  if (!result) return report(result.error().error, result.error().code);
  return 0;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("run", "Run a pipeline until its source ends or it is stopped");
  auto options = std::make_shared<RunOptions>();
  command->add_option("FILE", options->file, "The pipeline's YAML file")->required();
  command->add_option("--set", options->overrides, "Override a value of the file: key.path=value; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--max-messages", options->max_messages, "Stop after so many messages (or rows)");
  command->add_option("--until-idle", options->until_idle, "Stop when nothing came for so long, like 5s");
  command->add_option("--stats-json", options->stats_json, "Write counters to this file at the end");
  command->footer(
      "SIGTERM and SIGINT deliver what was read and stop, within the file's `drain:`; a second signal ends at once.");
  command->callback([options, &exit_code] { exit_code = run_pipeline(*options); });
}

}  // namespace aqueduck::app
