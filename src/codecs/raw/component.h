#pragma once

#include "component/registry.h"

namespace aqueduck {

const ComponentType<DecoderFactory>& raw_decoder();

}  // namespace aqueduck
