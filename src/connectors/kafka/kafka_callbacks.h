#pragma once

#include <chrono>

#include "connectors/kafka/kafka_source.h"

/// What the files of the source share. Internal to this folder.
namespace aqueduck {

/// What the consumer's callbacks see: the client's opaque pointer. Lives as long as the client.
struct KafkaCallbacks : KafkaHealth {
  KafkaCallbacks(const KafkaConnection& config, KafkaSource* owner) : KafkaHealth(config), source(owner) {}
  KafkaSource* source;
};

}  // namespace aqueduck
