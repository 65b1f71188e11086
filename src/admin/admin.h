#pragma once

#include <functional>
#include <memory>

#include "admin/about.h"
#include "base/address.h"
#include "pipeline/stats_snapshot.h"

namespace aqueduck::admin {

/// What is watched. Both are called from other threads than the pipeline's, at any time until the Admin is gone.
struct Feed {
  std::function<pipeline::StatsSnapshot()> snapshot;  ///< returns at once
  std::function<Result<Positions>()>
      end_positions;  ///< may take as long as the peer does; kind unavailable: it is away
};

/// Serves a running pipeline's metrics, health and state over HTTP: / /metrics /healthz /readyz /stats. Three threads
/// of its own: the server's, one that takes a sample a second, one that asks where the source's data end; none of them
/// ever holds a worker up. Owned by the command that runs the pipeline.
class Admin {
 public:
  /// Serves when it returns. Kinds config and denied: the address can't be listened on.
  static Result<std::unique_ptr<Admin>> open(const Address& listen, About about, Feed feed);
  ~Admin();
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;

  /// Where it serves, with the port that it got.
  const Address& address() const;

 private:
  class Pages;
  Admin();

  std::unique_ptr<Pages> pages_;
};

}  // namespace aqueduck::admin
