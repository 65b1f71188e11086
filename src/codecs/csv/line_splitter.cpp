#include "codecs/csv/line_splitter.h"

#include <algorithm>

namespace aqueduck::csv {

const char* LineSplitter::split(std::string_view line, Dialect dialect) {
  fields_.clear();
  unquoted_.clear();
  unquoted_.reserve(line.size());
  std::size_t at = 0;
  while (true) {
    if (at < line.size() && line[at] == dialect.quote) {
      const std::size_t begin = unquoted_.size();
      ++at;
      while (true) {
        const std::size_t close = line.find(dialect.quote, at);
        if (close == std::string_view::npos) return "a quoted field has no closing quote";
        unquoted_.append(line.substr(at, close - at));
        at = close + 1;
        if (at == line.size() || line[at] != dialect.quote) break;
        unquoted_ += dialect.quote;
        ++at;
      }
      if (at < line.size() && line[at] != dialect.delimiter) return "text follows a field's closing quote";
      fields_.push_back({std::string_view(unquoted_).substr(begin), true});
    } else {
      const std::size_t end = std::min(line.find(dialect.delimiter, at), line.size());
      fields_.push_back({line.substr(at, end - at), false});
      at = end;
    }
    if (at == line.size()) return nullptr;
    ++at;
  }
}

}  // namespace aqueduck::csv
