#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/quantity.h"
#include "columnar/schema.h"
#include "component/context.h"
#include "component/token.h"

namespace aqueduck {

/// When a commit falls on the direct path: whichever comes first; all empty: after every batch.
struct CommitPolicy {
  std::optional<std::uint64_t> rows;
  std::optional<std::uint64_t> bytes;
  std::optional<Duration> interval;  ///< since the first uncommitted row

  bool every_batch() const { return !rows && !bytes && !interval; }
};

struct SinkTraits {
  bool holds_token = false;   ///< stores the token in the same transaction as the rows: exactly-once is possible
  CommitPolicy commit;        ///< where the pipeline doesn't say
  std::string guarantee;      ///< one sentence for `check`: why at-least-once or exactly-once
  bool many_writers = false;  ///< several sinks of one pipeline may be open at once; else its workers take turns at one
};

struct Committed {
  Token stored;  ///< what stands there now
};
struct Moved {
  Token stored;  ///< another writer's: our uncommitted rows were dropped
};
struct Unknown {
  Error error;  ///< no clean answer: ask stored_token(), then commit again or go on
};
using CommitResult = std::variant<Committed, Moved, Unknown>;

/// Where rows go. Owned and called by one thread at a time.
///
/// Uncommitted set: what write() took since the last commit, abort or open. It is the sink's to keep: a failed write or
/// commit leaves it whole, and the same call may be made again. A row never appears twice for a call that was repeated.
///
/// A commit is a compare-and-set: rows and `next` become durable and visible together, only if the stored token still
/// `matches(expected, next)`; entries that others moved meanwhile are kept (`merged`), and the sink tries again by
/// itself on the new base. Otherwise nothing changes and it answers Moved. Sinks without a token make the rows durable
/// as well as they can and answer Committed{next}.
///
/// Errors: unavailable (the pipeline tries again, with backoff), denied, config, sql, io, limit, conflict (another
/// writer), cancelled (whoever reads what it writes has gone: the pipeline ends quietly). Errors of commit() mean that
/// it definitely did not happen.
///
/// After Unknown the uncommitted set stays as it is, and stored_token() decides: where the token that it finds covers
/// the doubtful commit's `next`, the commit happened, and the sink drops the set there and then. Where it doesn't, or
/// `next` is empty so that no token can tell, the set stays for the commit that the pipeline makes again. Nothing is
/// written between the two.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  virtual SinkTraits traits() const = 0;
  /// Reaches the peer, finishes what a crashed predecessor left, and returns the stored token (empty: none yet).
  virtual Result<Token> open() = 0;
  virtual Result<void> write(const RecordBatch& batch) = 0;
  virtual Result<CommitResult> commit(const Token& expected, const Token& next) = 0;
  /// Drops the uncommitted set.
  virtual Result<void> abort() = 0;
  /// Size of the uncommitted set, for CommitPolicy::bytes, where the sink measures it otherwise than by what the rows
  /// take in memory (by its files).
  virtual std::optional<std::uint64_t> uncommitted_bytes() const { return std::nullopt; }
  /// Reads the stored token again; after Unknown it settles what became of the uncommitted set (see above).
  virtual Result<Token> stored_token() = 0;
  /// Releases everything; what is uncommitted is dropped. No call but open() follows.
  virtual void close() = 0;
};

}  // namespace aqueduck
