#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "columnar/schema.h"
#include "component/token.h"

namespace aqueduck {

inline constexpr std::int64_t kNoTimestamp = INT64_MIN;

using Headers = std::vector<std::pair<std::string, std::string>>;

/// One message as the peer sent it. The views and `headers` live as long as the chunk that carries it.
struct Message {
  std::string_view payload;                  ///< data() is null for a tombstone
  std::string_view key;                      ///< data() is null where there is none
  const Headers* headers = nullptr;          ///< null where there are none
  std::int64_t offset = -1;                  ///< in the source's unit, -1 where it has none
  std::int64_t timestamp_us = kNoTimestamp;  ///< microseconds since 1970, UTC
  std::uint32_t partition = 0;               ///< index into Messages::partitions
  std::uint32_t group = 0;                   ///< index into Messages::groups, where there are any
};

/// Undecoded messages. `groups` name the units that want an outcome of their own (a webhook request, by its id); where
/// the positions suffice (Kafka, files) it is empty. A group comes whole, in one chunk; one without a message has an
/// outcome, too. What is read again after start_at() has groups of new ids.
struct Messages {
  std::vector<Message> items;
  std::vector<std::string> partitions;
  std::vector<std::uint64_t> groups;
  std::shared_ptr<const void> owner;  ///< keeps the bytes alive
  std::uint64_t bytes = 0;            ///< of all payloads and keys
};

/// What one read gave: messages to decode, or rows that already are Arrow; and, for each partition that it touched,
/// where to resume after it. An empty chunk with positions advances, too (compaction, aborted transactions).
struct Chunk {
  std::variant<Messages, RecordBatch> data;
  Positions next;
};

}  // namespace aqueduck
