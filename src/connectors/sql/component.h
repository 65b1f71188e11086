#pragma once

#include "component/registry.h"

namespace aqueduck {

/// `sql: {statement: INSERT INTO pg.t SELECT * FROM batch}`: whatever the engine can write to is a sink.
const ComponentType<SinkFactory>& sql_sink();

}  // namespace aqueduck
