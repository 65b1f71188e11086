#pragma once

#include <string>
#include <string_view>

#include "sql/database.h"

namespace aqueduck::app {

/// An error in SQL that was given on the command line: "line 1, column 15: message", then the line with a caret under
/// the place, where the engine knows it. Long lines are cut around it.
std::string with_excerpt(std::string_view sql, const sql::SqlError& error);

}  // namespace aqueduck::app
