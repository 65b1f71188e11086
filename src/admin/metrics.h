#pragma once

#include <string>

#include "admin/about.h"
#include "admin/health.h"
#include "admin/process.h"

namespace aqueduck::admin {

/// What a scrape looks at.
struct Scrape {
  const About& about;
  const pipeline::StatsSnapshot& stats;
  const Health& health;
  const Process& process;
};

inline constexpr auto kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

/// Prometheus' text format, with names that OpenMetrics takes, too.
std::string metrics_text(const Scrape& scrape);

/// The reference page of the metrics, from the same table.
std::string metrics_markdown();

}  // namespace aqueduck::admin
