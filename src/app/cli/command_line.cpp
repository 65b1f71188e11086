#include "app/cli/command_line.h"

#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "app/cli/command.h"
#include "base/file.h"
#include "base/log.h"
#include "base/secret.h"
#include "config/faults.h"

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

void define(CLI::App& app, Globals& globals, int& exit_code) {
  app.require_subcommand(1);
  app.fallthrough();
  app.get_formatter()->column_width(34);
  app.footer(
      "Exit codes: 0 done, 1 stopped by `errors:` or a query failed, 2 usage, 10 configuration, 11 source "
      "unreachable,\n"
      "12 sink failed for good, 13 resource limit, 14 stored state contradicts or is in use, 15 drain incomplete,\n"
      "141 the reader of stdout has gone.");
  app.add_option("--log-level", globals.log_level, "trace, debug, info, warn, error or off; logs go to stderr")
      ->capture_default_str();
  app.add_option("--log-format", globals.log_format, "text or json")->capture_default_str();
  for (const auto& add : commands()) add(app, exit_code);
}

// What was no command nor an option, or "".
std::string unknown_command(const CLI::App& app) {
  if (!app.get_subcommands().empty()) return "";
  const std::vector<std::string> rest = app.remaining();
  const auto found = std::find_if(rest.begin(), rest.end(), [](const auto& word) { return !word.starts_with('-'); });
  return found == rest.end() ? "" : *found;
}

void report_unknown(const CLI::App& app, const std::string& word) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  std::fprintf(stderr, "there is no command '%s'%s\nRun with --help for the list.\n", word.c_str(),
               config::did_you_mean(word, names).c_str());
}

constexpr const char* kSummary = "SQL on streams and on stages, in one binary.";

}  // namespace

int report(const Error& error, pipeline::ExitCode code) {
  if (code == pipeline::ExitCode::reader_gone) return static_cast<int>(code);
  std::fprintf(stderr, "%s\n", redact(error.message).c_str());
  return static_cast<int>(code);
}

namespace {

// Output that got lost is a failure of the command, however well the rest went.
int finish_output(int exit_code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  const int reason = errno;
  pollfd output{STDOUT_FILENO, 0, 0};
  const bool gone = ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
  if (exit_code != 0) return exit_code;
  if (gone) return static_cast<int>(pipeline::ExitCode::reader_gone);
  const Error error = reason == 0 ? make_error(ErrorKind::io, "cannot write all of it to stdout")
                                  : system_error(reason, "write", "stdout");
  return report(error, error.kind == ErrorKind::limit ? pipeline::ExitCode::limit : pipeline::ExitCode::stopped);
}

int run_command(int argc, char** argv) {
  CLI::App app{kSummary, "aqueduck"};
  Globals globals;
  int exit_code = 0;
  define(app, globals, exit_code);
  try {
    // Options that every command shares are read before the command's callback runs.
    app.parse_complete_callback([&] {
      if (auto configured = configure_log(globals); !configured) throw CLI::ValidationError(configured.error().message);
    });
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    if (const std::string word = unknown_command(app); !word.empty()) {
      report_unknown(app, word);
    } else {
      app.exit(error);
    }
    return static_cast<int>(pipeline::ExitCode::usage);
  }
  return exit_code;
}

}  // namespace

int run(int argc, char** argv) {
  (void)std::signal(SIGPIPE,
                    SIG_IGN);  // a reader that has gone is an error of the write, so that files are closed well
  // What a command prints is written at its end, as a whole, so that the reason of a failure is known.
  static char output[std::size_t{1} << 20U];
  if (::isatty(STDOUT_FILENO) == 0) (void)std::setvbuf(stdout, output, _IOFBF, sizeof output);
  return finish_output(run_command(argc, argv));
}

std::vector<std::pair<std::string, std::string>> help_texts() {
  CLI::App app{kSummary, "aqueduck"};
  Globals globals;
  int exit_code = 0;
  define(app, globals, exit_code);
  std::vector<std::pair<std::string, std::string>> out{{"", app.help()}};
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    out.emplace_back(command->get_name(), command->help("aqueduck"));
  }
  return out;
}

}  // namespace aqueduck::app
