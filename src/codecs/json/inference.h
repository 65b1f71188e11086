#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codecs/json/known_columns.h"
#include "codecs/json/token_cursor.h"

namespace aqueduck::json {

struct InferenceLimits {
  int max_depth = 64;
  std::size_t max_columns = 1'000;  ///< fields at all levels; what comes later isn't added
  bool timestamps = true;           ///< texts that are all ISO 8601 become dates and timestamps
};

/// What was seen in one place (a column, a field, the elements of a list), and the type that holds all of it.
class SeenValues {
 public:
  /// A value that was validated. Moves past it.
  void observe(TokenCursor& cursor, const InferenceLimits& limits, std::size_t& columns);
  KnownColumn resolve(std::string name, const InferenceLimits& limits) const;
  KnownColumns resolve_fields(const InferenceLimits& limits) const;

 private:
  void observe_number(std::string_view text);
  void observe_text(std::string_view raw, const InferenceLimits& limits);
  void observe_object(TokenCursor& cursor, const InferenceLimits& limits, std::size_t& columns);
  void resolve_number(KnownColumn& out) const;
  void resolve_text(KnownColumn& out) const;

  bool boolean_ = false;
  bool number_ = false;
  bool text_ = false;
  bool array_ = false;
  bool object_ = false;
  // Of numbers:
  bool negative_ = false;   // a whole one below zero
  bool fraction_ = false;   // one with a fraction or an exponent, or -0
  bool inexact_ = false;    // a whole one that a DOUBLE would change
  bool wide_ = false;       // a whole one beyond BIGINT
  bool wider_ = false;      // … and beyond UBIGINT
  bool unbounded_ = false;  // beyond DECIMAL(38,0), or DOUBLE's range
  // Of texts: whether all so far were …
  bool dates_ = true;
  bool local_times_ = true;
  bool moments_ = true;
  std::vector<std::pair<std::string, SeenValues>> fields_;  // in the order of their first appearance
  std::unordered_map<std::string, std::size_t> by_name_;
  std::vector<SeenValues> element_;  // none or one
};

}  // namespace aqueduck::json
