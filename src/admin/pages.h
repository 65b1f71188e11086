#pragma once

#include <string>

#include "admin/metrics.h"
#include "admin/rates.h"

namespace aqueduck::admin {

/// What /stats shows beside a scrape.
struct Recent {
  Rate second;
  Rate ten_seconds;
  Rate minute;
};

std::string stats_json(const Scrape& scrape, const Recent& recent);
std::string healthz_json(const Health& health);
std::string readyz_json(const Health& health);
/// Names the other pages, for people.
std::string index_html(const About& about, const Health& health);

}  // namespace aqueduck::admin
