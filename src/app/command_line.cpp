#include "app/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "app/cli/command.h"
#include "base/log.h"
#include "base/secret.h"

namespace aqueduck::app {
namespace {

struct Globals {
  std::string log_level = "info";
  std::string log_format = "text";
};

Result<void> configure_log(const Globals& globals) {
  AQ_ASSIGN(const log::Level level, log::parse_level(globals.log_level));
  if (globals.log_format != "text" && globals.log_format != "json") {
    return fail(ErrorKind::config, "'{}' is not a log format; use text or json", globals.log_format);
  }
  log::configure(level, globals.log_format == "json" ? log::Format::json : log::Format::text);
  return {};
}

}  // namespace

int report(const Error& error, pipeline::ExitCode code) {
  std::fprintf(stderr, "%s\n", redact(error.message).c_str());
  return static_cast<int>(code);
}

int run(int argc, char** argv) {
  CLI::App app{"SQL on streams and on stages, in one binary.", "aqueduck"};
  app.require_subcommand(1);
  app.fallthrough();
  app.get_formatter()->column_width(34);
  app.footer(
      "Exit codes: 0 done, 1 stopped by `errors:`, 2 usage, 10 configuration, 11 source unreachable,\n"
      "12 sink failed for good, 13 resource limit, 14 stored state contradicts, 15 drain incomplete.");
  Globals globals;
  app.add_option("--log-level", globals.log_level, "trace, debug, info, warn, error or off; logs go to stderr")
      ->capture_default_str();
  app.add_option("--log-format", globals.log_format, "text or json")->capture_default_str();

  int exit_code = 0;
  for (const auto& add : commands()) add(app, exit_code);
  try {
    // Options that every command shares are read before the command's callback runs.
    app.parse_complete_callback([&] {
      if (auto configured = configure_log(globals); !configured) throw CLI::ValidationError(configured.error().message);
    });
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(pipeline::ExitCode::usage);
  }
  return exit_code;
}

}  // namespace aqueduck::app
