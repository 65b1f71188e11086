#pragma once

namespace aqueduck::pipeline {

/// Exit codes of the process, documented in docs/reference/exit-codes.md.
enum class ExitCode {
  done = 0,
  stopped = 1,  ///< `errors:` says fail, and a message or batch failed; or a fault of Aqueduck's own
  usage = 2,
  config = 10,
  source_unreachable = 11,
  sink_failed = 12,
  limit = 13,
  conflict = 14,
  drain_incomplete = 15,
  reader_gone = 141,  ///< nobody reads stdout any more (`| head`): as a shell shows a death by SIGPIPE; nothing is said
};

}  // namespace aqueduck::pipeline
