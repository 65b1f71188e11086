#pragma once

#include "component/registry.h"

namespace aqueduck {

const ComponentType<DecoderFactory>& json_decoder();

}  // namespace aqueduck
