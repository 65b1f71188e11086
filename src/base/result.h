#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace aqueduck {

/// A value or an Error. Fallible functions return it; no exception leaves a module.
template <typename T>
using Result = tl::expected<T, Error>;

/// `return fail(ErrorKind::io, "cannot read {}", path);`
template <typename... Args>
tl::unexpected<Error> fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return tl::make_unexpected(make_error(kind, format, std::forward<Args>(args)...));
}
inline tl::unexpected<Error> fail(Error error) { return tl::make_unexpected(std::move(error)); }

}  // namespace aqueduck

#define AQ_CONCAT_(a, b) a##b
#define AQ_CONCAT(a, b) AQ_CONCAT_(a, b)

/// Evaluates a Result expression and returns its error from the enclosing function, if it is one.
#define AQ_TRY(expression)                                                                                  \
  do {                                                                                                      \
    if (auto&& aq_result = (expression); !aq_result) return ::aqueduck::fail(std::move(aq_result).error()); \
  } while (false)

/// `AQ_ASSIGN(auto file, open(path));`: the value, or a return with the error.
#define AQ_ASSIGN(target, expression) AQ_ASSIGN_(AQ_CONCAT(aq_assign_, __LINE__), target, expression)
#define AQ_ASSIGN_(name, target, expression)                   \
  auto name = (expression);                                    \
  if (!name) return ::aqueduck::fail(std::move(name).error()); \
  target = std::move(*name)
