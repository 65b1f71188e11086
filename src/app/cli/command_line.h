#pragma once

#include <string>
#include <utility>
#include <vector>

namespace aqueduck::app {

/// The whole program: parses the arguments, runs one command, returns the exit code (pipeline::ExitCode). A file a
/// command.
int run(int argc, char** argv);

/// The help text of the program ("") and of each command, in the order of `aqueduck --help`.
std::vector<std::pair<std::string, std::string>> help_texts();

}  // namespace aqueduck::app
