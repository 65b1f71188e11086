#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace aqueduck {

/// Where a source resumes: partition name → the *next* position in it. A position is opaque to everyone but its source
/// (Kafka: the next offset; a file: the next byte; an Iceberg table: a snapshot id): it is compared for equality only,
/// never ordered. Partition names are stable over restarts and machines ("events/3", "data/a.jsonl").
using Positions = std::map<std::string, std::string, std::less<>>;

/// What a sink stores in the same transaction as the rows, and compares before it stores another one. On the direct
/// path its entries are source positions; from a buffered table they are one entry "spool:<id>" → "<number>:<hash>".
/// A commit compares only the entries that its own token contains.
struct Token {
  Positions entries;

  bool empty() const { return entries.empty(); }
  /// True if every entry of `expected` stands here with the same value, and every entry absent from `expected` but
  /// named in `next` is absent here, too.
  bool matches(const Token& expected, const Token& next) const;
  /// This token with the entries of `next` put in place of its own: what a commit writes.
  Token merged(const Token& next) const;
  /// One line of JSON: {"v":1,"entries":{…}}. from_json reads it; errors are of kind conflict (stored state is
  /// damaged).
  std::string to_json() const;
  static Result<Token> from_json(std::string_view text);
};

}  // namespace aqueduck
