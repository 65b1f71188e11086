#include "app/sql_excerpt.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/node.h"

namespace aqueduck::app {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::string with_excerpt(std::string_view sql, const sql::SqlError& error) {
  if (!error.offset) return error.error.message;
  const std::size_t offset = std::min(*error.offset, sql.size());
  const std::size_t before = sql.substr(0, offset).rfind('\n');
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::string_view line = sql.substr(begin, sql.find('\n', begin) - begin);
  const auto number = 1 + std::count(sql.begin(), sql.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  const std::size_t at = offset - begin;

  constexpr std::size_t kAround = 60;
  std::size_t from = at > kAround ? at - kAround : 0;
  while (from > 0 && continues_character(line[from])) --from;
  std::size_t to = std::min(line.size(), at + kAround);
  while (to < line.size() && continues_character(line[to])) ++to;

  std::string shown;
  for (const char c : line.substr(from, to - from)) shown += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  const std::string_view left = from > 0 ? "…" : "";
  const auto indent = static_cast<std::size_t>(config::characters(line.substr(from, at - from))) + (from > 0 ? 1 : 0);
  return fmt::format("line {}, column {}: {}\n  {}{}{}\n  {}^", number, config::characters(line.substr(0, at)) + 1,
                     error.error.message, left, shown, to < line.size() ? "…" : "", std::string(indent, ' '));
}

}  // namespace aqueduck::app
