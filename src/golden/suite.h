#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "component/registry.h"

namespace aqueduck::golden {

struct CaseResult {
  std::string name;    ///< the folder, as it was given
  std::string report;  ///< lines to show; empty: passed
  double seconds = 0;
};

/// Runs one case: as it is, and with a restart in the middle. With `update` its expected files are written first.
CaseResult run_case(const std::filesystem::path& folder, const Registry& registry, bool update);

struct SuiteOptions {
  bool update = false;
  unsigned jobs = 1;
};
/// Runs the cases on `jobs` threads; `done` gets each result in the cases' order, on the caller's thread.
void run_cases(const std::vector<std::filesystem::path>& cases, const Registry& registry, const SuiteOptions& options,
               const std::function<void(const CaseResult&)>& done);

}  // namespace aqueduck::golden
