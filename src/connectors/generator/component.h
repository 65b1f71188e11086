#pragma once

#include "component/registry.h"

namespace aqueduck {

/// `generator: {columns: {…}, rows: 1000}`: rows made by SQL expressions.
const ComponentType<SourceFactory>& generator_source();

}  // namespace aqueduck
