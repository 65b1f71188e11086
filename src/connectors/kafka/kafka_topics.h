#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace aqueduck {

/// The topics that a source wants: names, and patterns that begin with `^` (POSIX extended regular expressions, as
/// librdkafka has them). Compiled once; afterwards any thread may ask.
class KafkaTopics {
 public:
  /// Kind config: what is wrong with this name or pattern.
  Result<void> add(const std::string& item);
  bool contains(const std::string& topic) const;
  /// Whether a topic that isn't among the `known` ones must have been made after those were first seen: a pattern that
  /// was looked at then matches both. Of a name nobody can tell: it may stand in the configuration since today.
  bool newer_than(const std::set<std::string>& known, const std::string& topic) const;
  /// Those that are no patterns.
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Pattern;
  bool is_named(const std::string& topic) const;
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<const Pattern>> patterns_;
};

}  // namespace aqueduck
