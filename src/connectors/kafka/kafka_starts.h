#pragma once

#include <filesystem>
#include <string_view>

#include "component/token.h"

namespace aqueduck {

/// What stands before the resolved start in the metadata of a group's offset.
inline constexpr std::string_view kKafkaStartNote = "aqueduck start=";

/// The resolved starts that a state folder keeps; none where there is no folder or file. Kind conflict if damaged.
Result<Positions> load_kafka_starts(const std::filesystem::path& folder);
/// Replaces them atomically; nothing where there is no folder.
Result<void> save_kafka_starts(const std::filesystem::path& folder, const Positions& starts);

}  // namespace aqueduck
