#include "golden/case.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "config/loader.h"

namespace aqueduck::golden {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> kInputs = {"jsonl", "messages.jsonl", "json", "csv",
                                                     "txt",   "parquet",        "arrow"};

const config::ObjectSpec<ClockStep>& clock_spec() {
  static const config::ObjectSpec<ClockStep> spec(
      "clock", "Moves the clock on at a place in the input.",
      {config::field("messages", &ClockStep::messages,
                     "How many messages (or rows) come before, counted from the first.")
           .required()
           .example("3"),
       config::field("advance", &ClockStep::advance, "How far the clock moves then.").required().example("5s")});
  return spec;
}

const config::ObjectSpec<ExpectedError>& error_spec() {
  static const config::ObjectSpec<ExpectedError> spec(
      "errors", "How the pipeline must fail.",
      {config::field("exit", &ExpectedError::exit, "The exit code.").required().example("10"),
       config::field("contains", &ExpectedError::contains, "Texts that the error must contain.")
           .example("[\"pipeline.yml:7:12\", \"did you mean 'city'\"]"),
       config::field("lacks", &ExpectedError::lacks, "Texts that the error must not contain, like a password.")});
  return spec;
}

const config::ObjectSpec<CaseConfig>& case_spec() {
  static const config::ObjectSpec<CaseConfig> spec(
      "case", "How a case of `aqueduck test` runs, and what is compared.",
      {config::field("ordered", &CaseConfig::ordered, "Whether rows must come in the order of the expected file."),
       config::choice<CaseConfig>(
           "sink", &CaseConfig::sink,
           {{"memory", SinkChoice::memory, "Rows are caught in place of the pipeline's sink, dead letters too."},
            {"real", SinkChoice::real,
             "The pipeline's own sinks run, moved into a copy of the folder; what they hold is compared."}},
           "Which sink runs."),
       config::field("query", &CaseConfig::query,
                     "SQL whose rows are compared in place of the sink's: over the relation `sink`, or over what the "
                     "pipeline's `setup` attached.")
           .example("SELECT city, n FROM lake.views"),
       config::field("files", &CaseConfig::files,
                     "With `sink: real`: files that the run makes, and those of the case that they must equal.")
           .example("{out.jsonl: expected.jsonl}"),
       config::object("clock", &CaseConfig::clock, clock_spec(),
                      "Steps of the clock, which otherwise stands still; for intervals and ages."),
       config::object("errors", &CaseConfig::errors, error_spec(), "The failure that is expected."),
       config::field("columns", &CaseConfig::columns, "The columns that reach the sink and their SQL types, in order.")
           .example("{city: VARCHAR, n: BIGINT}"),
       config::field("set", &CaseConfig::set, "Overrides of the pipeline's file, as for `--set`.")
           .example("[batch.rows=2]"),
       config::field("env", &CaseConfig::env, "Environment variables for `${NAME}`, before the process's own.")
           .example("{REGION: eu}"),
       config::field("restart", &CaseConfig::restart, "Whether the case is also run with a stop in the middle."),
       config::field("why", &CaseConfig::why, "Why not; required with `restart: false`."),
       config::field("max_messages", &CaseConfig::max_messages,
                     "Ends the run after so many messages (or rows), for a source that never ends."),
       config::field("timeout", &CaseConfig::timeout, "How long one run may take.")});
  return spec;
}

void check(const CaseConfig& config, const config::Node& root, config::Faults& faults) {
  const auto at = [&](const char* key) {
    const config::Node* node = root.find(key);
    return node == nullptr ? root.where : node->where;
  };
  if (!config.restart && config.why.empty()) {
    faults.add(at("restart"), "without a restart the case proves less: say why, with `why: …`");
  }
  if (!config.files.empty() && config.sink != SinkChoice::real) {
    faults.add(at("files"), "'files' are only made by the pipeline's own sink: add `sink: real`");
  }
  if (!std::is_sorted(config.clock.begin(), config.clock.end(),
                      [](const ClockStep& a, const ClockStep& b) { return a.messages.value < b.messages.value; })) {
    faults.add(at("clock"), "the steps of the clock must be in the order of their 'messages'");
  }
}

Result<std::vector<std::string>> names_in(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    out.push_back(entry->path().filename().string());
  }
  if (error) return fail(ErrorKind::io, "cannot list {}: {}", folder.string(), error.message());
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::optional<fs::path>> find_input(const fs::path& folder, const std::vector<std::string>& names) {
  constexpr std::string_view kPrefix = "input.";
  std::optional<fs::path> found;
  for (const std::string& name : names) {
    if (!name.starts_with(kPrefix) || name.ends_with('~')) continue;
    const std::string_view extension = std::string_view(name).substr(kPrefix.size());
    if (std::find(kInputs.begin(), kInputs.end(), extension) == kInputs.end()) {
      return fail(ErrorKind::config, "{}: no input is called so; there is input.{}", (folder / name).string(),
                  fmt::join(kInputs, ", input."));
    }
    std::error_code ignored;
    if (!fs::is_regular_file(folder / name, ignored)) {
      return fail(ErrorKind::config, "{} is no file", (folder / name).string());
    }
    if (found) {
      return fail(ErrorKind::config, "{}: there are {} and {}; a case has one input", folder.string(),
                  found->filename().string(), name);
    }
    found = folder / name;
  }
  return found;
}

// A file that nothing looks at would let a case pass for the wrong reason.
void check_names(const Case& test, const std::vector<std::string>& names, config::Faults& faults) {
  const auto named = [&](const std::string& name) {
    const auto& files = test.config.files;
    return std::any_of(files.begin(), files.end(), [&](const auto& file) { return file.second == name; });
  };
  const config::Location here{std::make_shared<const std::string>(test.folder.string()), 0, 0};
  std::vector<std::string> rows;
  for (const std::string& name : names) {
    if (name == "case.yaml") faults.add(here, "case.yaml is not read: rename it to case.yml");
    if (!name.starts_with("expected.") || name.ends_with('~') || named(name) || name == "expected.dead.jsonl") continue;
    if (name == "expected.jsonl" || name == "expected.csv") {
      rows.push_back(name);
    } else {
      faults.add(here,
                 "{} would be compared with nothing; there is expected.jsonl, expected.csv, expected.dead.jsonl, and "
                 "what `files:` in case.yml names",
                 name);
    }
  }
  if (rows.size() > 1) faults.add(here, "there are {}; a case has one of them", fmt::join(rows, " and "));
}

bool is_case(const fs::path& folder) {
  std::error_code ignored;
  const auto there = [&](const char* name) { return fs::exists(fs::symlink_status(folder / name, ignored)); };
  return there("pipeline.yml") || there("case.yml") || there("expected.jsonl") || there("expected.csv");
}

void collect(const fs::path& folder, std::vector<fs::path>& out) {
  if (is_case(folder)) {
    out.push_back(folder);
    return;
  }
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) collect(entry->path(), out);
  }
  // As a case that fails, so that the others run.
  if (error) out.push_back(folder);
}

}  // namespace

const config::ObjectInfo& case_info() { return case_spec().info(); }

Result<Case> load_case(const fs::path& folder) {
  Case out;
  out.folder = folder;
  AQ_ASSIGN(const auto names, names_in(folder));
  std::error_code ignored;
  if (!fs::is_regular_file(out.pipeline(), ignored)) {
    return fail(ErrorKind::config, "there is no {}{}", out.pipeline().string(),
                fs::is_symlink(out.pipeline(), ignored) ? ": the link leads nowhere" : "");
  }
  AQ_ASSIGN(out.input, find_input(folder, names));
  config::Faults faults;
  const fs::path file = folder / "case.yml";
  if (!fs::exists(file, ignored)) {
    check_names(out, names, faults);
    if (!faults.empty()) return fail(faults.to_error());
    return out;
  }
  const auto environment = [process = config::process_environment()](const std::string& name) {
    return name == "SCRATCH" ? std::optional<std::string>(kScratch) : process(name);
  };
  const auto root = config::load_file(file, environment, faults);
  if (root && root->kind != config::Node::Kind::null) {
    out.config = case_spec().read(*root, faults);
    check(out.config, *root, faults);
  }
  if (faults.empty()) check_names(out, names, faults);
  if (!faults.empty()) return fail(faults.to_error());
  if (!out.config.clock.empty() && !out.input) {
    return fail(ErrorKind::config, "{}: 'clock' needs an input file: only its messages can be counted", file.string());
  }
  return out;
}

Result<std::vector<fs::path>> find_cases(const std::vector<fs::path>& paths, const std::string& filter) {
  std::vector<fs::path> found;
  for (const fs::path& path : paths) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      return fail(ErrorKind::config, "{} '{}'; name case folders, or folders of them",
                  fs::exists(path, ignored) ? "this is a file, no folder:" : "there is no folder", path.string());
    }
    collect(path.has_filename() ? path : path.parent_path(), found);
  }
  std::erase_if(found, [&](const fs::path& path) { return path.string().find(filter) == std::string::npos; });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace aqueduck::golden
