#include "codecs/json/row_plan.h"

#include <utility>

namespace aqueduck::json {
namespace {

ValuePlan plan_of(const KnownColumn& known, const Selection& selection);

void add_fields(ValuePlan& out, const KnownColumns& known, const Selection& selection) {
  for (const KnownColumn& child : known) {
    static const Selection kWhole{true, {}};
    const Selection* wanted = selection.whole || child.fresh ? &kWhole : selection.field(child.type.name);
    if (wanted == nullptr) {
      out.keys.add(child.type.name, -1);
      continue;
    }
    out.keys.add(child.type.name, static_cast<std::int32_t>(out.fields.size()));
    out.fields.push_back(plan_of(child, *wanted));
    out.column.children.push_back(out.fields.back().column);
  }
}

/// A struct of which none of the wanted fields exist is read whole: it can't be empty.
bool has_any(const KnownColumns& known, const Selection& selection) {
  for (const KnownColumn& child : known) {
    if (child.fresh || selection.field(child.type.name) != nullptr) return true;
  }
  return false;
}

ValuePlan plan_of(const KnownColumn& known, const Selection& selection) {
  ValuePlan out;
  out.column = known.type;
  out.pending = known.pending;
  const bool narrow =
      known.type.kind == ColumnKind::structure && !selection.whole && has_any(known.children, selection);
  add_fields(out, known.children, narrow ? selection : Selection{true, {}});
  return out;
}

void bind(ValuePlan& plan, ColumnBuilder& builder) {
  plan.builder = &builder;
  for (std::size_t i = 0; i < plan.fields.size(); ++i) bind(plan.fields[i], builder.child(i));
}

}  // namespace

void KeyTable::add(std::string name, std::int32_t field) {
  const auto index = static_cast<std::uint32_t>(entries_.size());
  // The first entry guesses that keys come in the order in which they were declared or first seen.
  entries_.back().follower = index;
  by_name_.emplace(name, index);
  // A name that contains what must be escaped never equals the bytes of a message.
  const bool plain = name.find_first_of("\\\"") == std::string::npos;
  const std::size_t length = plain ? name.size() : SIZE_MAX;
  name.resize((name.size() + 15) / 8 * 8);
  entries_.push_back(Entry{std::move(name), length, field, kUnknown});
}

std::uint32_t KeyTable::search(std::string_view key, std::uint32_t after) {
  const auto found = by_name_.find(key);
  if (found == by_name_.end()) return kUnknown;
  entries_[after].follower = found->second;
  return found->second;
}

RowPlan::RowPlan(ValuePlan root, BatchBuilder batch) : root_(std::move(root)), batch_(std::move(batch)) {
  for (std::size_t i = 0; i < root_.fields.size(); ++i) bind(root_.fields[i], batch_.column(i));
}

Result<RowPlan> RowPlan::make(const KnownColumns& known, const Selection& selection) {
  ValuePlan root;
  root.column.kind = ColumnKind::structure;
  add_fields(root, known, selection);
  AQ_ASSIGN(Schema schema, schema_from(root.column.children));
  BatchBuilder batch(std::make_shared<const Schema>(std::move(schema)), root.column.children);
  return RowPlan(std::move(root), std::move(batch));
}

}  // namespace aqueduck::json
