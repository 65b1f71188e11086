#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aqueduck::csv {

struct Dialect {
  char delimiter = ',';
  char quote = '"';  ///< doubled within a quoted field
};

/// One field of a line. `quoted`: it is never NULL.
struct Field {
  std::string_view text;
  bool quoted = false;
};

/// Splits one line by RFC 4180. Owned by a decoder; its fields live until the next split.
class LineSplitter {
 public:
  /// Null, or what is wrong with the line, for people. A quoted field may contain line ends.
  const char* split(std::string_view line, Dialect dialect);
  const std::vector<Field>& fields() const { return fields_; }

 private:
  std::vector<Field> fields_;
  std::string unquoted_;  // texts of fields with doubled quotes; never grows while views point into it
};

}  // namespace aqueduck::csv
