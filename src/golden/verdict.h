#pragma once

#include <string>

#include "golden/attempt.h"

namespace aqueduck::golden {

/// What of a run's outcome isn't as the case says, as lines to show; empty: all is well.
std::string verdict(const Case& test, const Attempt& attempt, const Workspace& workspace);

/// Writes the case's expected files from a run's outcome; sorted where the order doesn't count.
Result<void> update_expected(const Case& test, const Attempt& attempt, const Workspace& workspace);

}  // namespace aqueduck::golden
