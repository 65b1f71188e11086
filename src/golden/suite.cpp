#include "golden/suite.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "golden/verdict.h"

namespace aqueduck::golden {
namespace {

std::string lines(const Error& error) {
  std::string out = "  ";
  for (const char c : error.message) out += c == '\n' ? std::string("\n  ") : std::string(1, c);
  return out + "\n";
}

// The case again, stopped in the middle and started anew over the same sink and state.
Result<std::string> with_restart(const Case& test, const Input* input, const Registry& registry,
                                 std::uint64_t commits) {
  AQ_ASSIGN(const auto workspace, Workspace::make(test));
  StopPlan plan;
  plan.when = commits > 1 || test.config.errors ? StopPlan::When::after_commits : StopPlan::When::before_first_commit;
  plan.after = std::max<std::uint64_t>(1, commits / 2);
  AQ_ASSIGN(const Attempt first, run_once(test, input, *workspace, registry, plan));
  const bool drained = plan.stopped && plan.when == StopPlan::When::after_commits;
  if (first.failure && !plan.stopped) return verdict(test, first, *workspace);
  StopPlan none;
  // Where the stop met the error that is expected, messages were read that nothing settled.
  const std::uint64_t settled = drained && !first.failure ? first.messages : 0;
  AQ_ASSIGN(const Attempt second, run_once(test, input, *workspace, registry, none, settled));
  std::string found = verdict(test, second, *workspace);
  if (found.empty()) return found;
  const std::string when = drained ? fmt::format("stopped after commit {} of {}", plan.after, commits)
                                   : std::string("stopped before its first commit");
  std::string hint;
  if (drained && !second.keeps_state) {
    hint = "  (the pipeline has no `state:`, so inferred columns and a CSV header don't outlive a restart)\n";
  }
  return fmt::format("  after a restart ({}):\n{}{}", when, found, hint);
}

// A failed run, started again over what it left, as whoever watches over the process does: it fails again in the same
// way, and delivers nothing twice.
Result<std::string> again(const Case& test, const Input* input, const Registry& registry, Workspace& workspace) {
  StopPlan none;
  AQ_ASSIGN(const Attempt attempt, run_once(test, input, workspace, registry, none));
  const std::string found = verdict(test, attempt, workspace);
  return found.empty() ? found : "  started again after the failure:\n" + found;
}

Result<std::string> run(const std::filesystem::path& folder, const Registry& registry, bool update) {
  AQ_ASSIGN(const Case test, load_case(folder));
  std::optional<Input> input;
  if (test.input) {
    AQ_ASSIGN(input, read_input(*test.input));
  }
  const Input* const given = input ? &*input : nullptr;
  AQ_ASSIGN(const auto workspace, Workspace::make(test));
  StopPlan plan;
  AQ_ASSIGN(const Attempt attempt, run_once(test, given, *workspace, registry, plan));
  if (update) AQ_TRY(update_expected(test, attempt, *workspace));
  std::string found = verdict(test, attempt, *workspace);
  if (!found.empty() && given == nullptr && attempt.messages == 0 && !attempt.failure) {
    found += "  (there is no input file, so the pipeline's own source ran, and it gave nothing)\n";
  }
  if (!found.empty() || !test.config.restart) return found;
  if (test.config.errors) {
    AQ_ASSIGN(found, again(test, given, registry, *workspace));
    // Before its first commit a stop would leave nothing but what the failure has left already.
    if (!found.empty() || plan.commits == 0) return found;
  }
  return with_restart(test, given, registry, plan.commits);
}

}  // namespace

CaseResult run_case(const std::filesystem::path& folder, const Registry& registry, bool update) {
  const auto started = std::chrono::steady_clock::now();
  CaseResult out;
  out.name = folder.string();
  auto found = run(folder, registry, update);
  out.report = found ? std::move(*found) : lines(found.error());
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return out;
}

void run_cases(const std::vector<std::filesystem::path>& cases, const Registry& registry, const SuiteOptions& options,
               const std::function<void(const CaseResult&)>& done) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::optional<CaseResult>> results(cases.size());
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> workers;
  const std::size_t jobs = std::min<std::size_t>(std::max(1U, options.jobs), cases.size());
  workers.reserve(jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    workers.emplace_back([&] {
      for (std::size_t at = next++; at < cases.size(); at = next++) {
        CaseResult result = run_case(cases[at], registry, options.update);
        const std::lock_guard lock(mutex);
        results[at] = std::move(result);
        changed.notify_all();
      }
    });
  }
  for (auto& result : results) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return result.has_value(); });
    lock.unlock();
    done(*result);
  }
}

}  // namespace aqueduck::golden
