#pragma once

#include "component/registry.h"

namespace aqueduck {

/// `stdin: {format: jsonl|csv|lines}`: lines from standard input.
const ComponentType<SourceFactory>& stdin_source();

}  // namespace aqueduck
