#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/object_spec.h"

namespace aqueduck::golden {

/// After so many messages the case's clock moves on.
struct ClockStep {
  config::Count messages;
  Duration advance{0};
};

struct ExpectedError {
  int exit = 1;
  std::vector<std::string> contains;
  std::vector<std::string> lacks;
};

/// Stands in values of case.yml for a folder of the run's own.
inline constexpr std::string_view kScratch = "${SCRATCH}";

enum class SinkChoice { memory, real };

/// What `case.yml` may say.
struct CaseConfig {
  bool ordered = false;
  SinkChoice sink = SinkChoice::memory;
  std::string query;
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<ClockStep> clock;
  std::optional<ExpectedError> errors;
  std::vector<std::pair<std::string, std::string>> columns;
  std::vector<std::string> set;
  std::map<std::string, std::string, std::less<>> env;
  bool restart = true;
  std::string why;
  std::optional<config::Count> max_messages;
  Duration timeout = std::chrono::seconds(30);
};

/// The table of case.yml, for schema and docs.
const config::ObjectInfo& case_info();

/// A folder with a pipeline, its input and what must come out.
struct Case {
  std::filesystem::path folder;
  CaseConfig config;
  std::optional<std::filesystem::path> input;  ///< input.jsonl …; none: the pipeline's own source runs

  std::filesystem::path pipeline() const { return folder / "pipeline.yml"; }
};

/// Reads a folder's case.yml, if there is one. Errors (config) hold all faults.
Result<Case> load_case(const std::filesystem::path& folder);

/// The case folders among `paths` and below them, sorted; a path that isn't there is an error of kind config.
/// `filter`: only those whose path contains it.
Result<std::vector<std::filesystem::path>> find_cases(const std::vector<std::filesystem::path>& paths,
                                                      const std::string& filter);

}  // namespace aqueduck::golden
