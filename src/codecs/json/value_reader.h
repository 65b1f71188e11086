#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "codecs/json/row_plan.h"
#include "codecs/json/token_cursor.h"

namespace aqueduck::json {

enum class NewColumns : std::uint8_t { extend, ignore, fail };

/// Reads JSON values into the builders of a plan. After a failure the builders hold part of a row, which the caller
/// truncates. Owned by one decoder.
class ValueReader {
 public:
  ValueReader(NewColumns new_columns, int max_depth) : new_columns_(new_columns), max_depth_(max_depth) {}

  /// An object that is one row. False: reason() says why.
  bool read_row(TokenCursor& cursor, RowPlan& plan, std::int64_t row);
  /// For people: the column's path, the value, the type.
  std::string reason() const;
  /// The message can't be decoded at all, or its row isn't an object.
  void fail_message(std::string text);

  /// A key was met that no plan knows, or a value that tells the type of a pending column.
  bool met_new() const { return met_new_; }
  void forget_new() { met_new_ = false; }
  /// The unknown key that failed a message under NewColumns::fail; empty otherwise.
  const std::string& unknown_key() const { return unknown_key_; }
  /// Whether new keys can still be added; if not, a message that has one fails.
  void set_full(bool full) { full_ = full; }

 private:
  bool read(TokenCursor& cursor, ValuePlan& plan, std::int64_t row, int depth);
  bool read_object(TokenCursor& cursor, ValuePlan& plan, std::int64_t row, int depth);
  bool read_list(TokenCursor& cursor, ValuePlan& plan, std::int64_t row, int depth);
  bool read_map(TokenCursor& cursor, ValuePlan& plan, std::int64_t row, int depth);
  bool read_number(std::string_view text, ValuePlan& plan, std::int64_t row);
  bool read_text(std::string_view raw, ValuePlan& plan, std::int64_t row);
  bool read_verbatim(TokenCursor& cursor, ValuePlan& plan, std::int64_t row, int depth);
  bool put_string(ColumnBuilder& builder, std::string_view raw, std::int64_t row);
  bool unknown(std::string_view key, TokenCursor& cursor, int depth);

  bool fail(std::string what);
  bool misfit(std::string_view value, const Column& column);
  bool below(std::string_view name);

  NewColumns new_columns_;
  int max_depth_;
  bool met_new_ = false;
  bool full_ = false;
  std::string unknown_key_;
  std::string path_;    // of the failure, built while returning
  std::string what_;    // the failure itself
  std::string buffer_;  // an unescaped text
  std::string key_;     // an unescaped key
};

}  // namespace aqueduck::json
