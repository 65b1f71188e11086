#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "component/sink.h"
#include "component/source.h"
#include "pipeline/batch.h"
#include "pipeline/dead_letters.h"
#include "pipeline/definition.h"
#include "pipeline/failure.h"
#include "pipeline/groups.h"
#include "pipeline/read_quota.h"
#include "pipeline/state.h"
#include "pipeline/stats.h"
#include "pipeline/transform.h"

namespace aqueduck::pipeline {

/// One of a run's workers: source → decoder → SQL → sink, acknowledged by what the sink has committed, for the
/// partitions that its source was given. It owns its components and makes every call on them from the thread that calls
/// run(); `state`, `stats` and `quota` are shared with the run's other workers.
///
/// What holds: only a contiguous prefix of each partition is committed and acknowledged; a commit compares the token
/// read when the partition was assigned, or last committed; where it moved, everything uncommitted is dropped and
/// reading goes back to what is stored.
class Worker {
 public:
  struct Parts {
    const Definition* definition = nullptr;
    std::unique_ptr<Source> source;
    std::unique_ptr<Sink> sink;
    std::unique_ptr<Transform> transform;
    std::unique_ptr<DeadLetters> dead_letters;  ///< null where no policy needs it
    StateFile* state = nullptr;
    Stats* stats = nullptr;
    Clock* clock = nullptr;
    ReadQuota* quota = nullptr;
  };
  explicit Worker(Parts parts) : p_(std::move(parts)) {}

  /// Runs until the source ends, a limit is reached, `drain` asks it to deliver what was read and stop, or `abort` asks
  /// it to stop now (exit code 15 if that leaves something undelivered).
  tl::expected<void, Failure> run(std::stop_token drain, std::stop_token abort);
  /// Ends a statement that runs in the SQL engine. Any thread.
  void interrupt() { p_.transform->interrupt(); }
  /// Where the data of this worker's partitions end now; kind cancelled while it has none, or waits for a peer. Any
  /// thread; takes as long as the source's peer does.
  Result<Positions> end_positions() const;

 private:
  using Step = tl::expected<void, Failure>;

  Step open();
  Step read();
  Step on_chunk(Chunk chunk);
  Step on_assigned(const Assigned& assigned);
  Step on_revoked(const std::vector<std::string>& partitions);
  Step on_lost(const std::vector<std::string>& partitions);
  /// Batch → decoder → SQL → sink.write, by the error policies.
  Step process();
  Step commit();
  Step resolve_unknown(const Token& expected, const Token& next, bool& again);
  Step after_commit(const Token& next);
  /// Another writer owns the data, or it was lost: drop everything uncommitted, go back to `stored`.
  Step rewind(Token stored);
  /// Has the sink drop what a rewind gave up, if that is still to be done: nothing is written before.
  Step drop_uncommitted();
  bool too_late(const Failure& failure) const;
  /// These partitions are no longer ours.
  void forget(const std::vector<std::string>& partitions);
  /// Tells the source that nothing of the groups without an outcome was taken.
  void give_up_groups(std::string_view reason);
  void close();

  void show_queue();
  bool batch_due() const;
  bool commit_due() const;
  bool finished() const;
  Clock::Point deadline() const;
  template <typename T>
  tl::expected<T, Failure> sink_call(std::string_view what, const std::function<Result<T>()>& call);
  Failure source_failure(Error error) const;
  Failure sink_failure(Error error) const;

  Parts p_;
  CommitPolicy policy_;  // settled by open()
  std::stop_token drain_;
  std::stop_token abort_;
  std::optional<Clock::Point> sink_until_;  // for the sink to heal, where somebody waits for what it does
  Batch batch_;
  Groups groups_;
  Positions owned_;        // partitions assigned to us → where reading them began
  Token expected_;         // what we read or committed last, of the owned partitions
  Positions uncommitted_;  // next positions of what was written since the last commit
  std::uint64_t uncommitted_rows_ = 0;
  std::uint64_t uncommitted_bytes_ = 0;
  std::optional<Clock::Point> first_uncommitted_;
  std::uint64_t progress_ = 0;
  bool ended_ = false;
  bool must_drop_ = false;
};

}  // namespace aqueduck::pipeline
