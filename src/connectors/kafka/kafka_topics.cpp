#include "connectors/kafka/kafka_topics.h"

#include <regex.h>

#include <algorithm>
#include <charconv>

namespace aqueduck {

namespace {

constexpr std::size_t kLongestPattern = 1000;
constexpr std::uint64_t kMostRepeats = 1000;
constexpr std::size_t kLongestName = 249;  // of Kafka

/// What would make matching slow or compiling large; empty where nothing does.
std::string too_costly(std::string_view pattern) {
  if (pattern.size() > kLongestPattern) return "it is longer than 1000 bytes";
  std::uint64_t repeats = 1;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      ++i;
      if (pattern[i] >= '1' && pattern[i] <= '9') return "references like \\1 are not supported";
    } else if (pattern[i] == '{') {
      // {n}, {n,} or {n,m}: the larger number counts; nested ones multiply.
      std::uint64_t most = 1;
      const char* const end = pattern.data() + pattern.size();
      const char* at = pattern.data() + i + 1;
      while (at < end && *at != '}') {
        std::uint64_t number = 0;
        const auto read = std::from_chars(at, end, number);
        if (read.ec == std::errc::result_out_of_range) number = kMostRepeats + 1;
        most = std::max(most, number);
        at = read.ptr == at ? at + 1 : read.ptr;
      }
      repeats *= std::min(most, kMostRepeats + 1);
      if (repeats > kMostRepeats) return "it repeats more than 1000 times";
    }
  }
  return {};
}

}  // namespace

struct KafkaTopics::Pattern {
  regex_t compiled{};
  bool ready = false;
  Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern() {
    if (ready) ::regfree(&compiled);
  }
  bool matches(const std::string& topic) const { return ::regexec(&compiled, topic.c_str(), 0, nullptr, 0) == 0; }
};

Result<void> KafkaTopics::add(const std::string& item) {
  if (item.empty()) return fail(ErrorKind::config, "a topic needs a name");
  if (!item.starts_with('^')) {
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
             c == '-';
    };
    if (item.size() > kLongestName || item == "." || item == ".." || !std::all_of(item.begin(), item.end(), allowed)) {
      return fail(ErrorKind::config,
                  "'{}' is no name of a topic: it has letters, digits, '.', '_' and '-', 249 at most; a regular "
                  "expression begins with ^",
                  item.substr(0, kLongestName));
    }
    names_.push_back(item);
    return {};
  }
  if (const std::string why = too_costly(item); !why.empty()) {
    return fail(ErrorKind::config, "the regular expression '{}' can't be used: {}", item.substr(0, 100), why);
  }
  auto pattern = std::make_shared<Pattern>();
  if (const int code = ::regcomp(&pattern->compiled, item.c_str(), REG_EXTENDED | REG_NOSUB); code != 0) {
    char text[256] = "";
    ::regerror(code, &pattern->compiled, text, sizeof text);
    return fail(ErrorKind::config, "'{}' is no regular expression: {}", item, text);
  }
  pattern->ready = true;
  patterns_.push_back(std::move(pattern));
  return {};
}

bool KafkaTopics::contains(const std::string& topic) const {
  return is_named(topic) ||
         std::any_of(patterns_.begin(), patterns_.end(), [&](const auto& pattern) { return pattern->matches(topic); });
}

bool KafkaTopics::newer_than(const std::set<std::string>& known, const std::string& topic) const {
  if (is_named(topic)) return false;
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const auto& pattern) {
    return pattern->matches(topic) &&
           std::any_of(known.begin(), known.end(), [&](const std::string& other) { return pattern->matches(other); });
  });
}

bool KafkaTopics::is_named(const std::string& topic) const {
  return std::find(names_.begin(), names_.end(), topic) != names_.end();
}

}  // namespace aqueduck
