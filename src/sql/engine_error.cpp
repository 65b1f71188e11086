#include "sql/engine_error.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace aqueduck::sql {
namespace {

ErrorKind kind_of(duckdb::ExceptionType type) {
  using Type = duckdb::ExceptionType;
  switch (type) {
    case Type::PARSER:
    case Type::SYNTAX:
    case Type::BINDER:
    case Type::CATALOG:
    case Type::SETTINGS:
    case Type::MISSING_EXTENSION:
    case Type::AUTOLOAD:
    case Type::INVALID_CONFIGURATION:
    case Type::NOT_IMPLEMENTED:
    case Type::PARAMETER_NOT_RESOLVED:
    case Type::PARAMETER_NOT_ALLOWED:
      return ErrorKind::config;
    case Type::CONNECTION:
    case Type::NETWORK:
    case Type::HTTP:
    case Type::TRANSACTION:
      return ErrorKind::unavailable;
    case Type::PERMISSION:
      return ErrorKind::denied;
    case Type::IO:
      return ErrorKind::io;
    case Type::INTERRUPT:
      return ErrorKind::cancelled;
    case Type::OUT_OF_MEMORY:
    case Type::OBJECT_SIZE:
      return ErrorKind::limit;
    case Type::FATAL:
    case Type::INTERNAL:
      return ErrorKind::internal;
    default:
      return ErrorKind::sql;
  }
}

// With errors_as_json (see database.cpp) the engine says where in the whole text the fault is, and packs its message.
std::string plain_message(const std::string& raw) {
  if (!raw.starts_with('{')) return raw;
  const auto json = nlohmann::json::parse(raw, nullptr, false);
  if (!json.is_object()) return raw;
  const auto message = json.find("exception_message");
  return message != json.end() && message->is_string() ? message->get<std::string>() : raw;
}

}  // namespace

SqlError to_sql_error(const duckdb::ErrorData& error) {
  SqlError out;
  out.error.kind = kind_of(error.Type());
  out.error.message = plain_message(error.RawMessage());
  if (error.Type() == duckdb::ExceptionType::OUT_OF_MEMORY) {
    // What follows the first line is advice about statements that a user of ours doesn't write.
    std::string& text = out.error.message;
    text = fmt::format("the engine is {}: {}", kOutOfMemory, text.substr(0, text.find('\n')));
  }
  const auto& extra = error.ExtraInfo();
  if (const auto at = extra.find("position"); at != extra.end()) {
    std::size_t offset = 0;
    const char* end = at->second.data() + at->second.size();
    if (std::from_chars(at->second.data(), end, offset).ec == std::errc{}) out.offset = offset;
  }
  return out;
}

SqlError to_sql_error(const std::exception& exception) { return to_sql_error(duckdb::ErrorData(exception)); }

}  // namespace aqueduck::sql
