#pragma once

#include "component/registry.h"

namespace aqueduck {

/// `noop: {}`: takes rows and drops them.
const ComponentType<SinkFactory>& noop_sink();

}  // namespace aqueduck
