#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/location.h"

namespace aqueduck::config {

/// Collects everything that is wrong with a configuration, so that a user sees all of it at once.
class Faults {
 public:
  struct Fault {
    Location where;
    std::string message;
  };

  template <typename... Args>
  void add(const Location& where, fmt::format_string<Args...> format, Args&&... args) {
    add_text(where, fmt::format(format, std::forward<Args>(args)...));
  }
  void add_text(const Location& where, std::string message);

  bool empty() const { return all_.empty(); }
  const std::vector<Fault>& all() const { return all_; }
  /// All of them, in file order, one "file:line:col: message" a line; kind config.
  Error to_error() const;

 private:
  std::vector<Fault> all_;
};

/// " (did you mean 'topics'?)" for the nearest of `known` within a third of its length in edits, else "".
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace aqueduck::config
