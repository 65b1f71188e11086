#pragma once

#include <utility>

#include "base/result.h"
#include "pipeline/exit_code.h"

namespace aqueduck::pipeline {

/// Why a worker ended other than well, and what the process's exit code is.
struct Failure {
  ExitCode code = ExitCode::stopped;
  Error error;
};

/// The exit code of an error's kind; `standard` where the kind alone doesn't say.
inline ExitCode code_of(const Error& error, ExitCode standard) {
  switch (error.kind) {
    case ErrorKind::config:
      return ExitCode::config;
    case ErrorKind::conflict:
      return ExitCode::conflict;
    case ErrorKind::limit:
      return ExitCode::limit;
    case ErrorKind::cancelled:
      return ExitCode::drain_incomplete;
    case ErrorKind::internal:
      return ExitCode::stopped;
    default:
      return standard;
  }
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from
inline tl::unexpected<Failure> failed(ExitCode code, Error error) {
  return tl::make_unexpected(Failure{code, std::move(error)});
}

}  // namespace aqueduck::pipeline

/// For steps of a worker: hands a Failure on.
#define AQ_STEP(expression)                                                                            \
  do {                                                                                                 \
    if (auto aq_step = (expression); !aq_step) return tl::make_unexpected(std::move(aq_step).error()); \
  } while (false)
