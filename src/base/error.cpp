#include "base/error.h"

namespace aqueduck {

std::string_view name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::config:
      return "config";
    case ErrorKind::unavailable:
      return "unavailable";
    case ErrorKind::denied:
      return "denied";
    case ErrorKind::decode:
      return "decode";
    case ErrorKind::sql:
      return "sql";
    case ErrorKind::io:
      return "io";
    case ErrorKind::limit:
      return "limit";
    case ErrorKind::conflict:
      return "conflict";
    case ErrorKind::cancelled:
      return "cancelled";
    case ErrorKind::internal:
      return "internal";
  }
  return "unknown";
}

Error with_context(Error error, std::string_view context) {
  if (context.empty()) return error;
  error.message.insert(0, ": ");
  error.message.insert(0, context);
  return error;
}

}  // namespace aqueduck
