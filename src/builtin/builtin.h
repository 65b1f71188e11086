#pragma once

#include "component/registry.h"

namespace aqueduck {

/// Every component of this binary. One line each in builtin.cpp.
const Registry& builtin_registry();

}  // namespace aqueduck
