#pragma once

#include <string_view>

namespace aqueduck {

/// A named place where tests stop the process. Does nothing (one load and a branch) unless AQUEDUCK_FAILPOINTS was set
/// when the process started: "name=kill", "name=stop", "name=kill@3" (at the third passage); several with ','. `kill`
/// sends SIGKILL, `stop` SIGSTOP, to the process itself. Any thread.
void failpoint(std::string_view name);

}  // namespace aqueduck
