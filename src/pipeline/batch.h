#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "component/chunk.h"

namespace aqueduck::pipeline {

/// Chunks collected until they are handed to the SQL. Keeps the messages' bytes alive, for dead letters.
class Batch {
 public:
  /// Chunks of messages, or of rows of one schema: a chunk for which fits() is false must wait for the next batch.
  void add(Chunk chunk, Clock::Point now);
  bool fits(const Chunk& chunk) const;

  bool empty() const { return chunks_.empty(); }
  std::uint64_t messages() const { return messages_; }  ///< or rows
  std::uint64_t bytes() const { return bytes_; }
  Clock::Point since() const { return since_; }  ///< when the first chunk with data came
  const Positions& next() const { return next_; }
  const std::vector<Chunk>& chunks() const { return chunks_; }
  /// The message with this index, counted over all chunks, and the name of its partition.
  const Message& message(std::uint64_t index, std::string* partition) const;
  void clear() { *this = Batch(); }

 private:
  std::vector<Chunk> chunks_;
  Positions next_;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  Clock::Point since_;
};

}  // namespace aqueduck::pipeline
