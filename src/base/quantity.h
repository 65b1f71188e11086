#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace aqueduck {

using Duration = std::chrono::microseconds;

/// A number of bytes as people write it: "64MiB", "1.5GB", "4096", "4_096". KiB/MiB/GiB/TiB are powers of 1024,
/// kB/KB/MB/GB/TB powers of 1000; a bare number is bytes. Errors of kind config name the text and show an example.
Result<std::uint64_t> parse_bytes(std::string_view text);

/// A time span: "250ms", "1s", "1.5s", "5m", "2h", "1d", "30us", and sums ("1m30s"). A number without a unit is an
/// error unless it is 0.
Result<Duration> parse_duration(std::string_view text);

/// A count: "5000000", "5_000_000".
Result<std::uint64_t> parse_count(std::string_view text);

std::string format_bytes(std::uint64_t bytes);   ///< "64MiB", "1.5KiB"; exact powers are written without a fraction
std::string format_duration(Duration duration);  ///< "1s", "250ms", "1m30s"; parse_duration reads it back
std::string format_count(std::uint64_t count);   ///< "5_000_000"

}  // namespace aqueduck
