#include "sql/quoted.h"

namespace aqueduck::sql {
namespace {

std::string between(char quote, std::string_view text) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote) out += quote;
    out += c;
  }
  return out + quote;
}

}  // namespace

std::string quoted_name(std::string_view name) { return between('"', name); }
std::string quoted_text(std::string_view text) { return between('\'', text); }

}  // namespace aqueduck::sql
