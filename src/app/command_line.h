#pragma once

namespace aqueduck::app {

/// The whole program: parses the arguments, runs one command, returns the exit code (pipeline::ExitCode). A folder
/// cli/ has a file a command.
int run(int argc, char** argv);

}  // namespace aqueduck::app
