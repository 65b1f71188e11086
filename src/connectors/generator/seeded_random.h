#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace aqueduck {

/// The expression with every `random()` outside of texts, quoted names and comments replaced by one that depends on the
/// row number `i`, the seed and its own place (`salt`, counted up) alone: uniform in [0, 1).
std::string with_seeded_random(std::string_view expression, std::uint64_t seed, std::uint64_t& salt);

}  // namespace aqueduck
