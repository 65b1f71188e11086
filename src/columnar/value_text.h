#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "columnar/cell.h"

/// Values as text: the one form of each type that JSON, CSV and tables share (docs/internals/json-output.md).
namespace aqueduck {

/// True for types whose text is a JSON number, boolean or JSON text: no quotes in JSON.
bool is_bare(CellKind kind);

/// Appends the text of a non-null value that isn't nested. For text columns: the bytes as they are. Returns false if
/// the text is not a JSON value by itself although the type is bare (NaN, Infinity): it wants quotes.
bool append_scalar(const Cell& cell, std::int64_t row, std::string& out);

/// Appends a JSON string with quotes. Bytes that aren't UTF-8 become U+FFFD.
void append_json_string(std::string_view text, std::string& out);

/// UTF-8 with U+FFFD in place of bytes that are none; no quotes, no escapes.
void append_utf8(std::string_view text, std::string& out);

/// RFC 4648, section 4, with padding.
void append_base64(std::string_view bytes, std::string& out);

/// Any value as JSON; nested ones too.
void append_json_value(const Cell& cell, std::int64_t row, std::string& out);

/// NULL; of a dictionary-encoded column or a union also where the value that is pointed to is.
bool is_null_value(const Cell& cell, std::int64_t row);

/// Any non-null value as people and CSV files want it: scalars without quotes, nested values as JSON.
void append_plain_value(const Cell& cell, std::int64_t row, std::string& out);

}  // namespace aqueduck
