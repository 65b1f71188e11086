#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "pipeline/shared_sink.h"
#include "pipeline/stats_snapshot.h"
#include "pipeline/worker.h"
#include "sql/database.h"

namespace aqueduck::pipeline {

/// Lets a test put its own components in the place of the file's.
struct Overrides {
  std::function<std::unique_ptr<Source>(const ComponentContext&)> source;
  std::function<std::unique_ptr<Sink>(const ComponentContext&)> sink;
  std::function<std::unique_ptr<Sink>(const ComponentContext&)> dead_letter;
  Clock* clock = nullptr;
};

/// A stop asks nicely only for so long: `drain`, then this for what is under way to end. After that a component blocks
/// in a call that nothing can end (a pipe that nobody empties, a peer that doesn't answer).
constexpr Duration kAbortGrace = std::chrono::seconds(2);

/// A pipeline's engine after `setup:`, and the session that ran it (which has its temporary tables and settings).
struct Engine {
  std::unique_ptr<sql::Database> database;
  std::unique_ptr<sql::Session> session;
};
tl::expected<Engine, Failure> open_engine(const Definition& definition);

/// Runs a pipeline in this process: the engine, `setup:`, the workers, and the deadline of a stop. Owned by the
/// command; run() blocks, request_drain() and stats() are for other threads. A worker that fails ends the others, which
/// deliver what they have read.
class Runner {
 public:
  /// `stuck` is called once, from a thread of the runner's, where run() doesn't return kAbortGrace after the drain
  /// time; nothing but ending the process helps then, and nothing undelivered was acknowledged.
  Runner(const Definition& definition, RunLimits limits, Overrides overrides = {}, std::function<void()> stuck = {});
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Opens the engine, runs `setup:`, makes the components, parses the SQL and, where columns are known, plans it. All
  /// that `check` needs; no source or sink is opened.
  tl::expected<void, Failure> prepare();
  /// prepare() first, under the state folder's lock. Blocks until the pipeline ends.
  tl::expected<void, Failure> run();
  /// Deliver what was read and stop, within the definition's `drain`. Any thread, any number of times.
  void request_drain();

  /// Every worker's counters together. Any thread.
  StatsSnapshot snapshot() const;
  /// Where the source's data end now, of the partitions that are ours. Any thread, blocks for as long as the source's
  /// peer does, never the worker. Kind cancelled: not running, or the peer is being waited for.
  Result<Positions> end_positions() const;
  std::vector<std::string> notes() const;
  /// The columns that go to the sink, where they are known before the first batch; null otherwise.
  std::shared_ptr<const Schema> output() const;
  const ComponentContext& context() const { return context_; }

 private:
  using MakeSink = std::function<std::unique_ptr<Sink>(const ComponentContext&)>;

  tl::expected<std::unique_ptr<Transform>, Failure> make_transform(int worker, std::unique_ptr<sql::Session> session);
  /// One sink a worker: its own where the sink can be open several times, else a port of a shared one.
  std::vector<std::unique_ptr<Sink>> make_sinks(const MakeSink& make, const SinkTraits& traits);
  tl::expected<void, Failure> make_workers();
  tl::expected<void, Failure> run_prepared();
  tl::expected<void, Failure> run_workers();
  ComponentContext context_of(int worker) const;

  const Definition& definition_;
  RunLimits limits_;
  Overrides overrides_;
  std::function<void()> stuck_;
  std::vector<std::unique_ptr<Stats>> stats_;  ///< one a worker
  std::unique_ptr<StateFile> state_;
  SharedColumns columns_;
  std::unique_ptr<sql::Database> database_;
  ComponentContext context_;
  std::unique_ptr<Transform> first_transform_;  // until make_workers()
  bool writes_ = false;
  std::optional<ReadQuota> quota_;
  std::vector<std::unique_ptr<SharedSink>> shared_sinks_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<bool> started_{false};  ///< workers_ is complete, for other threads
  std::shared_ptr<const Schema> output_;
  std::stop_source drain_;
  std::stop_source abort_;
};

/// One sentence: what the pipeline guarantees, and why.
std::string guarantee(const Definition& definition);

}  // namespace aqueduck::pipeline
