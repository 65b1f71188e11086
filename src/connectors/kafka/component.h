#pragma once

#include "component/registry.h"

namespace aqueduck {

/// `kafka: {brokers: [localhost:9092], topics: [events], group: views}`: messages of topics.
const ComponentType<SourceFactory>& kafka_source();
/// `kafka: {brokers: [localhost:9092], topic: views}`: a JSON message a row.
const ComponentType<SinkFactory>& kafka_sink();

}  // namespace aqueduck
