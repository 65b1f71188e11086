#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "component/source.h"
#include "pipeline/batch.h"

namespace aqueduck::pipeline {

/// The message groups of one worker (webhook requests) that have no outcome yet. Each gets exactly one: by the commit
/// that settles its messages, or failed where they are given up. Costs nothing where messages have no groups. Owned
/// and called by its worker.
class Groups {
 public:
  /// Before the chunk joins a batch.
  void arrived(const Chunk& chunk);
  /// The message with this index in the batch is bad: so is its group, whatever becomes of its other messages.
  void reject(const Batch& batch, std::uint64_t message, std::string_view reason);
  void reject_all(const Batch& batch, std::string_view reason);
  /// The batch is with the sink, and the next commit settles its groups.
  void processed(const Batch& batch);
  bool committable() const { return processed_ > 0; }

  /// What a commit settled: everything processed.
  std::vector<GroupOutcome> committed();
  /// Everything that has no outcome yet, as failed.
  std::vector<GroupOutcome> give_up(std::string_view reason);

 private:
  std::vector<GroupOutcome> open_;  // in order of arrival, each with the outcome that a commit gives it
  std::size_t processed_ = 0;       // so many of open_, from its front: the batch's own come behind them
};

}  // namespace aqueduck::pipeline
