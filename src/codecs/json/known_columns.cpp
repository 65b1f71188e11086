#include "codecs/json/known_columns.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace aqueduck::json {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 1;
constexpr int kDeepestSaved = 1'000;

KnownColumn known(const Column& column) {
  KnownColumn out;
  out.type = column;
  out.type.children.clear();
  out.declared = true;
  for (const Column& child : column.children) out.children.push_back(known(child));
  return out;
}

/// Takes `columns` from the room; false where there isn't so much.
bool take_room(std::size_t& room, std::size_t columns) {
  if (room == kLeftOut || columns > room) {
    room = kLeftOut;
    return false;
  }
  room -= columns;
  return true;
}

bool extend_type(KnownColumn& known, const KnownColumn& seen, std::size_t& room) {
  if (known.pending) {
    if (seen.pending || !take_room(room, count(seen.children))) return false;
    const std::string name = known.type.name;
    known = seen;
    known.type.name = name;
    known.fresh = true;
    return true;
  }
  if (known.type.kind != seen.type.kind) return false;
  if (known.type.kind == ColumnKind::structure) return extend(known.children, seen.children, room);
  if (known.type.kind == ColumnKind::list) return extend_type(known.children[0], seen.children[0], room);
  return false;
}

/// The types that inference makes, by the name under which they are saved.
struct Inferred {
  std::string_view name;
  ColumnKind kind;
  bool zoned = false;
};
constexpr Inferred kInferred[] = {
    {"BOOLEAN", ColumnKind::boolean},
    {"BIGINT", ColumnKind::int64},
    {"UBIGINT", ColumnKind::uint64},
    {"DOUBLE", ColumnKind::float64},
    {"VARCHAR", ColumnKind::text},
    {"JSON", ColumnKind::json},
    {"DATE", ColumnKind::date},
    {"TIMESTAMP", ColumnKind::timestamp},
    {"TIMESTAMPTZ", ColumnKind::timestamp, true},
    {"STRUCT", ColumnKind::structure},
    {"LIST", ColumnKind::list},
};
constexpr std::string_view kBigInteger = "DECIMAL(38,0)";
constexpr std::string_view kPending = "pending";

Json to_json(const KnownColumns& columns);

std::optional<Json> to_json(const KnownColumn& column) {
  Json out{{"name", column.type.name}};
  if (!column.children.empty()) {
    // A map's or fixed list's parts are declared; only structs and lists can hold what was inferred.
    out["children"] = to_json(column.children);
    if (column.declared && out["children"].empty()) return std::nullopt;
  } else if (column.declared) {
    return std::nullopt;
  }
  if (column.pending) {
    out["type"] = kPending;
  } else if (column.type.kind == ColumnKind::decimal) {
    out["type"] = kBigInteger;
  } else {
    for (const Inferred& type : kInferred) {
      if (type.kind == column.type.kind && type.zoned == column.type.zoned) out["type"] = type.name;
    }
  }
  return out;
}

Json to_json(const KnownColumns& columns) {
  Json out = Json::array();
  for (const KnownColumn& column : columns) {
    if (auto saved = to_json(column)) out.push_back(std::move(*saved));
  }
  return out;
}

bool from_json(const Json& json, KnownColumns& out, int depth);

bool from_json(const Json& json, KnownColumn& out, int depth) {
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string() || !json.contains("type") ||
      !json["type"].is_string()) {
    return false;
  }
  out.type.name = json["name"].get<std::string>();
  const auto type = json["type"].get<std::string>();
  if (json.contains("children") && !from_json(json["children"], out.children, depth + 1)) return false;
  if (type == kPending) {
    out.pending = true;
    out.type.kind = ColumnKind::json;
    return out.children.empty();
  }
  if (type == kBigInteger) {
    out.type.kind = ColumnKind::decimal;
    out.type.width = 16;
    out.type.precision = 38;
    return out.children.empty();
  }
  const auto* found =
      std::find_if(std::begin(kInferred), std::end(kInferred), [&](const Inferred& i) { return i.name == type; });
  if (found == std::end(kInferred)) return false;
  out.type.kind = found->kind;
  out.type.zoned = found->zoned;
  if (found->kind == ColumnKind::list) return out.children.size() == 1;
  return (found->kind == ColumnKind::structure) != out.children.empty();
}

bool from_json(const Json& json, KnownColumns& out, int depth) {
  if (!json.is_array() || depth > kDeepestSaved) return false;
  std::unordered_set<std::string> names;
  for (const Json& item : json) {
    KnownColumn column;
    if (!from_json(item, column, depth) || !names.insert(column.type.name).second) return false;
    out.push_back(std::move(column));
  }
  return true;
}

}  // namespace

KnownColumns declared_columns(const std::vector<Column>& columns) {
  KnownColumns out;
  for (const Column& column : columns) out.push_back(known(column));
  return out;
}

std::size_t count(const KnownColumns& columns) {
  std::size_t total = columns.size();
  for (const KnownColumn& column : columns) total += count(column.children);
  return total;
}

void forget_fresh(KnownColumns& columns) {
  for (KnownColumn& column : columns) {
    column.fresh = false;
    forget_fresh(column.children);
  }
}

bool extend(KnownColumns& known, const KnownColumns& seen, std::size_t& room) {
  std::unordered_map<std::string_view, KnownColumn*> by_name;
  by_name.reserve(seen.size());
  for (const KnownColumn& column : seen) by_name.emplace(column.type.name, nullptr);
  for (KnownColumn& column : known) {
    const auto found = by_name.find(column.type.name);
    if (found != by_name.end()) found->second = &column;
  }
  bool changed = false;
  KnownColumns added;
  for (const KnownColumn& column : seen) {
    if (KnownColumn* same = by_name.find(column.type.name)->second) {
      changed = extend_type(*same, column, room) || changed;
    } else if (take_room(room, 1 + count(column.children))) {
      added.push_back(column);
      added.back().fresh = true;
      changed = true;
    }
  }
  std::move(added.begin(), added.end(), std::back_inserter(known));
  return changed;
}

Selection Selection::of(const std::optional<std::vector<ColumnPath>>& paths) {
  Selection out;
  out.whole = !paths;
  if (!paths) return out;
  for (const ColumnPath& path : *paths) {
    Selection* at = &out;
    for (const std::string& name : path) at = &at->fields[name];
    at->whole = true;
  }
  return out;
}

const Selection* Selection::field(std::string_view name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? nullptr : &found->second;
}

std::string save(const KnownColumns& columns) {
  Json saved = to_json(columns);
  if (saved.empty()) return {};
  return Json{{"version", kVersion}, {"columns", std::move(saved)}}.dump(-1, ' ', false,
                                                                         Json::error_handler_t::replace);
}

Result<void> restore(KnownColumns& columns, const std::string& saved) {
  if (saved.empty()) return {};
  const Json json = Json::parse(saved, nullptr, false);
  if (!json.is_object() || !json.contains("version") || !json.contains("columns")) {
    return fail(ErrorKind::conflict, "the saved columns can't be read: they are not what the json decoder writes");
  }
  if (json["version"] != kVersion) {
    return fail(ErrorKind::conflict, "the saved columns are of version {}; this program knows version {}",
                json["version"].dump(), kVersion);
  }
  KnownColumns restored;
  if (!from_json(json["columns"], restored, 0)) {
    return fail(ErrorKind::conflict, "the saved columns can't be read: {}", json["columns"].dump().substr(0, 200));
  }
  std::size_t room = SIZE_MAX - 1;
  extend(columns, restored, room);
  forget_fresh(columns);
  return {};
}

}  // namespace aqueduck::json
