#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codecs/json/known_columns.h"
#include "columnar/builder.h"

namespace aqueduck::json {

/// The keys of one object and which field each one fills. Finds a key by the one that came before it, since messages
/// mostly repeat their order, else by hash. Learns while it is used: belongs to one reader.
class KeyTable {
 public:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  /// `field`: index into the plan's fields, or -1 for a key that is known but not read.
  void add(std::string name, std::int32_t field);
  /// The entry that followed `after` last time (0: the start of an object), if the key is its; else kUnknown. The key
  /// may still be escaped. Reads up to 7 bytes behind it.
  std::uint32_t guess(std::string_view raw, std::uint32_t after) const {
    const std::uint32_t next = entries_[after].follower;
    return next != kUnknown && same(entries_[next], raw) ? next : kUnknown;
  }
  /// The entry of a key without escapes, which is remembered as the one that follows `after`.
  std::uint32_t search(std::string_view key, std::uint32_t after);
  std::int32_t field(std::uint32_t entry) const { return entries_[entry].field; }

 private:
  struct Entry {
    std::string name;    // padded to whole words
    std::size_t length;  // SIZE_MAX where the name can't be compared with escaped bytes
    std::int32_t field;
    std::uint32_t follower;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  static bool same(const Entry& entry, std::string_view raw) {
    if (entry.length != raw.size()) return false;
    std::size_t i = 0;
    for (; i + 8 <= raw.size(); i += 8) {
      std::uint64_t a = 0;
      std::uint64_t b = 0;
      std::memcpy(&a, entry.name.data() + i, 8);
      std::memcpy(&b, raw.data() + i, 8);
      if (a != b) return false;
    }
    if (i == raw.size()) return true;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::memcpy(&a, entry.name.data() + i, 8);
    std::memcpy(&b, raw.data() + i, 8);
    return ((a ^ b) << (64 - 8 * (raw.size() - i))) == 0;
  }

  // Entry 0 is the start of an object.
  std::vector<Entry> entries_ = {Entry{"", SIZE_MAX, -1, kUnknown}};
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> by_name_;
};

/// What to do with a value: the type to read it as, where it goes, and the same for what is below it. A tree beside the
/// builders' tree.
struct ValuePlan {
  Column column;  ///< narrowed to what is read
  ColumnBuilder* builder = nullptr;
  bool pending = false;
  KeyTable keys;                  ///< of a struct
  std::vector<ValuePlan> fields;  ///< of a struct, list, fixed list or map
};

/// The plan of a whole row, its batch's schema and builders: made from the known columns and a selection, made anew
/// when either changes.
class RowPlan {
 public:
  static Result<RowPlan> make(const KnownColumns& known, const Selection& selection);

  ValuePlan& root() { return root_; }
  BatchBuilder& batch() { return batch_; }

 private:
  RowPlan(ValuePlan root, BatchBuilder batch);

  ValuePlan root_;  // a struct without a builder of its own
  BatchBuilder batch_;
};

}  // namespace aqueduck::json
