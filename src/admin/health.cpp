#include "admin/health.h"

#include <fmt/format.h>

#include <algorithm>

namespace aqueduck::admin {
namespace {

using pipeline::Condition;
using pipeline::Phase;

std::string reason(const Condition::Value& worker, const std::string& last_error) {
  if (worker.phase == Phase::failed) return fmt::format("failed: {}", last_error);
  if (worker.phase == Phase::stopped) return "stopped: everything was delivered";
  if (!worker.waiting_for.empty()) return fmt::format("trying again: {}", worker.waiting_for);
  if (worker.phase == Phase::draining) return "draining: nothing more is read, what was read is being delivered";
  if (worker.phase == Phase::starting) return "starting: source and sink are being opened";
  if (!worker.assigned) return "no partition of the source has been assigned yet";
  return {};
}

}  // namespace

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::starting:
      return "starting";
    case Phase::running:
      return "running";
    case Phase::draining:
      return "draining";
    case Phase::stopped:
      return "stopped";
    case Phase::failed:
      break;
  }
  return "failed";
}

Health health_of(const pipeline::StatsSnapshot& snapshot) {
  Health out;
  const auto& workers = snapshot.workers;
  const bool all_stopped =
      std::all_of(workers.begin(), workers.end(), [](const auto& worker) { return worker.phase == Phase::stopped; });
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (workers[i].phase == Phase::failed) out.alive = false;
    if (workers[i].phase == Phase::stopped && !all_stopped) continue;  // its part is done, others go on
    std::string why = reason(workers[i], snapshot.last_error);
    if (why.empty()) continue;
    out.reasons.push_back(workers.size() == 1 ? std::move(why) : fmt::format("worker {}: {}", i, why));
  }
  if (workers.empty()) out.reasons.emplace_back("starting: there is no worker yet");
  out.ready = out.reasons.empty();
  return out;
}

}  // namespace aqueduck::admin
