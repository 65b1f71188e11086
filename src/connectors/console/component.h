#pragma once

#include "component/registry.h"

namespace aqueduck {

/// `console: {format: auto|table|jsonl|csv}`: rows to stdout.
const ComponentType<SinkFactory>& console_sink();

}  // namespace aqueduck
