#include "pipeline/batch.h"

#include <cassert>

namespace aqueduck::pipeline {

bool Batch::fits(const Chunk& chunk) const {
  if (chunks_.empty()) return true;
  const auto* rows = std::get_if<RecordBatch>(&chunk.data);
  const auto* first = std::get_if<RecordBatch>(&chunks_.front().data);
  if ((rows == nullptr) != (first == nullptr)) return false;
  return rows == nullptr || rows->schema == first->schema ||
         rows->schema->fingerprint() == first->schema->fingerprint();
}

void Batch::add(Chunk chunk, Clock::Point now) {
  std::uint64_t count = 0;
  if (const auto* messages = std::get_if<Messages>(&chunk.data)) {
    count = messages->items.size();
    bytes_ += messages->bytes;
  } else {
    const auto& rows = std::get<RecordBatch>(chunk.data);
    count = static_cast<std::uint64_t>(rows.rows());
    if (count > 0) bytes_ += byte_size(rows);
  }
  for (const auto& [partition, position] : chunk.next) next_.insert_or_assign(partition, position);
  if (chunks_.empty()) since_ = now;
  messages_ += count;
  chunks_.push_back(std::move(chunk));
}

const Message& Batch::message(std::uint64_t index, std::string* partition) const {
  for (const Chunk& chunk : chunks_) {
    const auto& messages = std::get<Messages>(chunk.data);
    if (index < messages.items.size()) {
      const Message& found = messages.items[index];
      if (partition != nullptr && found.partition < messages.partitions.size()) {
        *partition = messages.partitions[found.partition];
      }
      return found;
    }
    index -= messages.items.size();
  }
  assert(false && "index out of range");
  static const Message none;
  return none;
}

}  // namespace aqueduck::pipeline
