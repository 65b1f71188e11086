#pragma once

namespace aqueduck {
inline constexpr char kVersion[] = "0.1.0";
}  // namespace aqueduck
