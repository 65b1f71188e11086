#include "codecs/json/json_decoder.h"

#include <new>
#include <numeric>
#include <utility>

namespace aqueduck::json {
namespace {

NewColumns policy(const JsonOptions& options) {
  return options.new_columns.value_or(options.declared.empty() ? NewColumns::extend : NewColumns::ignore);
}

}  // namespace

JsonDecoder::JsonDecoder(JsonOptions options)
    : options_(std::move(options)),
      known_(declared_columns(options_.declared)),
      selection_(Selection::of(std::nullopt)),
      reader_(policy(options_), options_.limits.max_depth) {}

std::shared_ptr<const Schema> JsonDecoder::schema() const {
  if (known_.empty()) return nullptr;
  auto plan = RowPlan::make(known_, selection_);
  return plan ? plan->batch().schema() : nullptr;
}

std::string JsonDecoder::saved_schema() const { return save(known_); }

Result<void> JsonDecoder::restore(const std::string& saved) {
  plan_.reset();
  return json::restore(known_, saved);
}

void JsonDecoder::restrict_to(const std::optional<std::vector<ColumnPath>>& columns) {
  selection_ = Selection::of(columns);
  forget_fresh(known_);
  plan_.reset();
}

Result<void> JsonDecoder::ensure_plan() {
  if (plan_) return {};
  AQ_ASSIGN(plan_, RowPlan::make(known_, selection_));
  reader_.set_full(full_ || count(known_) >= options_.limits.max_columns);
  return {};
}

Result<void> JsonDecoder::decode(std::span<const Message> messages) {
  try {
    const std::size_t first = payloads_.size();
    payloads_.reserve(first + messages.size());
    for (const Message& message : messages) payloads_.push_back(message.payload);
    if (known_.empty()) return {};
    return read_all(first);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::limit, "no memory to decode {} messages", messages.size());
  }
}

Result<void> JsonDecoder::read_all(std::size_t first) {
  AQ_TRY(ensure_plan());
  for (std::size_t i = first; i < payloads_.size(); ++i) {
    AQ_TRY(read_message(payloads_[i], static_cast<std::uint32_t>(i)));
  }
  return {};
}

void JsonDecoder::count_rows(std::int64_t rows, std::uint32_t message) {
  if (rows != 1 && !uneven_) {
    uneven_ = true;
    row_message_.resize(static_cast<std::size_t>(rows_));
    std::iota(row_message_.begin(), row_message_.end(), 0U);
  }
  if (uneven_) row_message_.insert(row_message_.end(), static_cast<std::size_t>(rows), message);
  rows_ += rows;
}

Result<void> JsonDecoder::read_message(std::string_view payload, std::uint32_t index) {
  std::int64_t rows = 0;
  bool good = true;
  if (payload.data() == nullptr && options_.tombstone != TombstonePolicy::fail) {
    rows = options_.tombstone == TombstonePolicy::row ? 1 : 0;
  } else if (payload.data() == nullptr) {
    reader_.fail_message("the message is a tombstone");
    good = false;
  } else if (const char* fault = index_.build(payload)) {
    reader_.fail_message(fault);
    good = false;
  } else {
    TokenCursor cursor(index_);
    good = read_rows(cursor, rows);
  }
  if (good && rows > 0 && known_.empty()) {
    reader_.fail_message("it has no keys, and no column is known yet: declare a `schema`");
    good = false;
  }
  if (good) {
    count_rows(rows, index);
    return {};
  }
  plan_->batch().truncate(rows_);
  failures_.push_back({index, reader_.reason()});
  if (!reader_.unknown_key().empty()) failures_.back().ends = ErrorKind::decode;
  count_rows(0, index);
  return {};
}

bool JsonDecoder::read_rows(TokenCursor& cursor, std::int64_t& rows) {
  if (cursor.peek() == '[' && options_.array == ArrayPolicy::fail) {
    reader_.fail_message("the message is a list, and the setting is `array: fail`");
    return false;
  }
  if (cursor.take('[')) {
    if (!cursor.take(']')) {
      do {
        if (!reader_.read_row(cursor, *plan_, rows_ + rows)) return false;
        ++rows;
      } while (cursor.take(','));
      if (!cursor.take(']')) {
        reader_.fail_message("a comma or a closing bracket is expected");
        return false;
      }
    }
  } else {
    if (!reader_.read_row(cursor, *plan_, rows_)) return false;
    rows = 1;
  }
  if (cursor.done()) return true;
  reader_.fail_message("there is more text behind the message's value");
  return false;
}

Result<bool> JsonDecoder::infer() {
  SeenValues seen;
  std::size_t columns = 0;
  const std::size_t before = count(known_);
  for (const std::string_view payload : payloads_) {
    if (payload.data() == nullptr || index_.build(payload) != nullptr) continue;
    TokenCursor whole(index_);
    if (whole.validate(options_.limits.max_depth) != nullptr || !whole.done()) continue;
    TokenCursor cursor(index_);
    if (cursor.take('[')) {
      if (options_.array == ArrayPolicy::fail || cursor.take(']')) continue;
      do {
        if (cursor.kind() != Kind::object) break;
        seen.observe(cursor, options_.limits, columns);
      } while (cursor.take(','));
    } else if (cursor.kind() == Kind::object) {
      seen.observe(cursor, options_.limits, columns);
    }
  }
  const std::size_t limit = options_.limits.max_columns;
  std::size_t room = before < limit ? limit - before : 0;
  const bool changed = extend(known_, seen.resolve_fields(options_.limits), room);
  full_ = full_ || room == kLeftOut || columns >= limit;
  if (before == 0) forget_fresh(known_);
  return changed;
}

void JsonDecoder::start_over() {
  plan_.reset();
  rows_ = 0;
  uneven_ = false;
  row_message_.clear();
  failures_.clear();
}

Result<Decoded> JsonDecoder::finish() {
  try {
    Decoded out;
    const bool unread = known_.empty() && !payloads_.empty();
    if (unread || reader_.met_new()) {
      const bool was_full = full_;
      AQ_ASSIGN(out.schema_changed, infer());
      if (out.schema_changed || unread || full_ != was_full) {
        start_over();
        AQ_TRY(read_all(0));
      }
    }
    AQ_TRY(ensure_plan());
    AQ_ASSIGN(out.batch, plan_->batch().finish(rows_));
    if (uneven_) out.row_message = std::move(row_message_);
    out.failures = std::move(failures_);
    payloads_.clear();
    rows_ = 0;
    uneven_ = false;
    row_message_.clear();
    failures_.clear();
    reader_.forget_new();
    index_.trim();
    return out;
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::limit, "no memory to decode {} messages", payloads_.size());
  }
}

}  // namespace aqueduck::json
