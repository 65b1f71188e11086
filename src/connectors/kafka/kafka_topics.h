#pragma once

#include <memory>
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
  /// Those that are no patterns.
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Pattern;
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<const Pattern>> patterns_;
};

}  // namespace aqueduck
