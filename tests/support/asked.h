#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

/// What the conformance suites have in common.
namespace aqueduck::conformance {

/// Why a case can't be asked of a component.
struct Inapplicable {
  std::string reason;
};

/// What a case needs from a component's test, or why the case can't be asked. There is no default: a test that says
/// neither doesn't compile.
template <typename T>
class Asked {
 public:
  Asked(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Asked(Inapplicable why) : value_(std::move(why)) {}  // NOLINT(google-explicit-constructor)

  /// Null where the case isn't asked, which is shown with its reason.
  const T* of(std::string_view test_case) const {
    if (const auto* value = std::get_if<T>(&value_)) return value;
    std::cout << "[ NOT ASKED] " << test_case << ": " << std::get<Inapplicable>(value_).reason << '\n';
    return nullptr;
  }

 private:
  std::variant<T, Inapplicable> value_;
};

/// Ends a fault: all is well again.
using Heal = std::function<void()>;

}  // namespace aqueduck::conformance
