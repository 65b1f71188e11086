#pragma once

#include <string>
#include <string_view>

#include "golden/input.h"

namespace aqueduck::golden {

/// Messages with what surrounds them, one JSON object a line:
///   {"value": …, "key": …, "headers": {…}, "topic": "events", "partition": 0, "offset": 7, "timestamp":
///   "2026-11-30T12:00:00Z"}
/// A text stands for its own bytes, any other JSON value for its text as written; `value_base64`, `key_base64` for any
/// bytes; `"value": null` for a tombstone. What is left out: topic "input", partition 0, the next offset, no key, no
/// headers, no timestamp. Errors (config) name `file:line`.
Result<Input> read_envelopes(std::string_view text, const std::string& file);

}  // namespace aqueduck::golden
