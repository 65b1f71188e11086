#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "pipeline/exit_code.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace aqueduck::app {

/// Adds a subcommand whose callback sets the exit code.
using AddCommand = std::function<void(CLI::App&, int& exit_code)>;

/// All commands, in the order of `aqueduck --help`; the list is in cli/commands.cpp.
const std::vector<AddCommand>& commands();

/// What `check` and the log say of an `admin:` that other machines can reach.
inline constexpr std::string_view kAdminIsOpen =
    "it listens on an address that other machines can reach, and there is no authentication: whoever reaches it sees "
    "counters, positions and errors of the pipeline";

/// Prints an error to stderr, secrets removed, and returns the code.
int report(const Error& error, pipeline::ExitCode code);

void add_run(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_query(CLI::App& app, int& exit_code);
void add_new(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_docs(CLI::App& app, int& exit_code);
void add_schema(CLI::App& app, int& exit_code);
void add_test(CLI::App& app, int& exit_code);
void add_version(CLI::App& app, int& exit_code);

}  // namespace aqueduck::app
