#pragma once

#include "component/registry.h"

namespace aqueduck {

const ComponentType<DecoderFactory>& csv_decoder();

}  // namespace aqueduck
