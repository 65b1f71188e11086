#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "base/quantity.h"
#include "component/chunk.h"
#include "component/context.h"

namespace aqueduck {

/// Events of Source::read beside chunks.
struct Assigned {      ///< These partitions are ours now; no data of them comes before start_at() was called for them.
  Positions start;     ///< where the source would resume by itself (a consumer group's offsets, else `resolved`)
  Positions resolved;  ///< its configured start in numbers, as first resolved: for a sink that holds tokens but none
                       ///< yet. Kept by the pipeline (restore_starts), where there is a state folder
};
struct Revoked {  ///< To be given back: commit or drop what is uncommitted of them before the next read().
  std::vector<std::string> partitions;
};
struct Lost {  ///< Already somebody else's: drop what is uncommitted of them, commit nothing.
  std::vector<std::string> partitions;
};
struct Idle {};  ///< Nothing arrived before the deadline.
struct End {};   ///< A finite source has given everything.
using SourceEvent = std::variant<Chunk, Assigned, Revoked, Lost, Idle, End>;

/// How one group of messages (a webhook request) ended. Each group that read() gave gets one outcome, before close() at
/// the latest: durable or rejected with the commit that settles its messages (dead letters are durable, too); failed
/// where they were given up, by a stop, an error, or partitions that moved.
enum class Outcome {
  durable,   ///< on stable storage: the sink committed it, or the journal synced it
  accepted,  ///< taken, but not promised to survive a crash
  rejected,  ///< the message itself is bad (decode, SQL): the sender should not repeat it
  failed,    ///< not taken: the sender should try again
};
struct GroupOutcome {
  std::uint64_t group = 0;
  Outcome outcome = Outcome::failed;
  std::string reason;  ///< for people, where it isn't durable; may name what only the operator should see
};

/// Everything before `positions` is settled for good: committed by the sink or dead-lettered durably. Only ever a
/// contiguous prefix of what was read of each partition. `outcomes` are given once, whatever acknowledge() answers;
/// they may come without positions.
struct Acknowledgement {
  Positions positions;
  std::vector<GroupOutcome> outcomes;
};

struct ReadLimits {
  std::chrono::steady_clock::time_point deadline;
  std::size_t max_messages = SIZE_MAX;  ///< messages, or rows where they need no decoding, in one chunk; never 0
  std::stop_token stop;
};

struct SourceTraits {
  bool finite = false;            ///< ends by itself
  bool replayable = false;        ///< start_at() can go back: exactly-once is possible
  bool stores_positions = false;  ///< the peer keeps acknowledged positions (a consumer group): it resumes itself
  bool fixed_ownership = true;    ///< no other instance can take its partitions over
  Duration give_back = std::chrono::seconds(10);  ///< after Revoked, the peer waits no longer than this for the sink
  std::optional<std::uint64_t> total;             ///< of a finite source, in the unit of progress(), where known
};

/// Where data comes from. Owned by one worker of a pipeline, which makes every call from one thread, except where it
/// says otherwise. A push source (HTTP, MQTT) receives on threads of its own into a bounded queue that read() empties;
/// when the queue is full it makes its peers wait. A pull source fetches in read(), or ahead of it within its limits;
/// it keeps its peer's session alive however long the worker takes between two reads.
///
/// Order of calls: restore_starts, open, then read / start_at / acknowledge, then close. Errors: unavailable (the
/// worker tries open again, with backoff), denied, config, conflict (a stored position that is not in the source), io.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  virtual SourceTraits traits() const = 0;
  /// What Assigned::resolved told in earlier runs, of all partitions, as the pipeline kept it. Before open(), if at
  /// all.
  virtual void restore_starts(const Positions& /*starts*/) {}
  virtual Result<void> open() = 0;
  /// Waits for the next event within the limits; Idle where nothing came in time or a stop was asked for.
  virtual Result<SourceEvent> read(const ReadLimits& limits) = 0;
  /// Where reading begins in partitions just assigned; a partition that is left out begins at Assigned::start.
  virtual Result<void> start_at(const Positions& positions) = 0;
  /// May block for as long as the peer takes to store it. An error means it isn't stored; nothing is lost by that.
  virtual Result<void> acknowledge(const Acknowledgement& acknowledgement) = 0;
  /// Where each partition's data ends now (a file's size, a topic's end offset, a table's snapshot id): what a flow
  /// puts into a cache key, and what lag is measured against. Any thread.
  virtual Result<Positions> position() = 0;
  /// How far a finite source is, in the unit of SourceTraits::total. Any thread.
  virtual std::uint64_t progress() const { return 0; }
  virtual void close() = 0;
};

}  // namespace aqueduck
