#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/stats_snapshot.h"

namespace aqueduck::admin {

/// How a pipeline is doing: what /healthz and /readyz say.
struct Health {
  bool alive = true;                 ///< no worker is dead
  bool ready = true;                 ///< every worker takes data and delivers them
  std::vector<std::string> reasons;  ///< for people; empty if it is ready
};

Health health_of(const pipeline::StatsSnapshot& snapshot);

std::string_view name(pipeline::Phase phase);  ///< "running"

}  // namespace aqueduck::admin
