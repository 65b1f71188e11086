#pragma once

#include "component/registry.h"

namespace aqueduck {

/// `parquet: {path: out}`: Parquet files in a folder, exactly once.
const ComponentType<SinkFactory>& parquet_sink();

}  // namespace aqueduck
