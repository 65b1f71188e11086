#pragma once

#include <string>
#include <string_view>

namespace aqueduck::sql {

/// An identifier as it stands in a statement: `a"b` → `"a""b"`.
std::string quoted_name(std::string_view name);
/// A text literal: `it's` → `'it''s'`.
std::string quoted_text(std::string_view text);

}  // namespace aqueduck::sql
