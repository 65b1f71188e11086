#include "codecs/csv/csv_decoder.h"

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "columnar/parse_value.h"

namespace aqueduck::csv {
namespace {

constexpr int kVersion = 1;
constexpr std::size_t kShownBytes = 60;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string shown(std::string_view value) {
  if (value.size() <= kShownBytes) return std::string(value);
  std::size_t end = kShownBytes;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0U) == 0x80U) --end;
  return std::string(value.substr(0, end)) + "…";
}

const Column* named(const std::vector<Column>& columns, std::string_view name) {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

}  // namespace

CsvDecoder::CsvDecoder(CsvOptions options) : options_(std::move(options)) {
  if (!options_.header) columns_ = options_.declared;
}

bool CsvDecoder::is_read(const std::string& name) const {
  if (!selection_) return true;
  return std::any_of(selection_->begin(), selection_->end(),
                     [&](const ColumnPath& path) { return !path.empty() && path[0] == name; });
}

Result<CsvDecoder::Plan> CsvDecoder::make_plan() const {
  Plan plan;
  for (const Column& column : columns_) {
    const bool read = is_read(column.name);
    plan.target.push_back(read ? static_cast<int>(plan.columns.size()) : -1);
    if (read) plan.columns.push_back(column);
  }
  AQ_ASSIGN(Schema schema, schema_from(plan.columns));
  plan.batch.emplace(std::make_shared<const Schema>(std::move(schema)), plan.columns);
  return plan;
}

std::shared_ptr<const Schema> CsvDecoder::schema() const {
  if (columns_.empty()) return nullptr;
  const auto plan = make_plan();
  return plan ? plan->batch->schema() : nullptr;
}

std::string CsvDecoder::saved_schema() const {
  if (header_.empty()) return {};
  return nlohmann::json{{"version", kVersion}, {"header", header_}}.dump();
}

Result<void> CsvDecoder::restore(const std::string& saved) {
  if (saved.empty() || !options_.header) return {};
  const auto json = nlohmann::json::parse(saved, nullptr, false);
  if (!json.is_object() || !json.contains("header") || !json["header"].is_string() || !json.contains("version") ||
      json["version"] != kVersion) {
    return fail(ErrorKind::conflict, "the saved header can't be read: {}", shown(saved));
  }
  auto taken = take_header(json["header"].get<std::string>());
  if (!taken) return fail(with_context(std::move(taken).error(), "the saved header"));
  return {};
}

void CsvDecoder::restrict_to(const std::optional<std::vector<ColumnPath>>& columns) {
  selection_ = columns;
  plan_.reset();
}

Result<void> CsvDecoder::take_header(std::string_view line) {
  if (!is_utf8(line)) return fail(ErrorKind::decode, "the header is not valid UTF-8");
  if (const char* fault = splitter_.split(line, options_.dialect)) {
    return fail(ErrorKind::decode, "the header '{}' can't be read: {}", shown(line), fault);
  }
  std::vector<std::string> names;
  for (const Field& field : splitter_.fields()) names.emplace_back(field.text);
  AQ_TRY(name_columns(names));
  header_ = line;
  return {};
}

Result<void> CsvDecoder::name_columns(const std::vector<std::string>& names) {
  std::vector<Column> columns;
  for (const std::string& name : names) {
    if (name.empty() || named(columns, name) != nullptr) {
      return fail(ErrorKind::decode, "the header has {} '{}'; set `header: false` and a `schema:`",
                  name.empty() ? "an empty name" : "twice the name", name);
    }
    const Column* declared = named(options_.declared, name);
    columns.push_back(declared != nullptr ? *declared : Column());
    columns.back().name = name;
  }
  for (const Column& column : options_.declared) {
    if (named(columns, column.name) == nullptr) {
      return fail(ErrorKind::config, "column '{}' is declared, but the header doesn't name it", column.name);
    }
  }
  columns_ = std::move(columns);
  plan_.reset();
  return {};
}

Result<void> CsvDecoder::decode(std::span<const Message> messages) {
  try {
    for (const Message& message : messages) {
      std::string_view line = message.payload;
      const std::uint32_t index = messages_++;
      if (ended_) continue;
      if (line.substr(0, kByteOrderMark.size()) == kByteOrderMark) line.remove_prefix(kByteOrderMark.size());
      if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (line.empty() || (!header_.empty() && line == header_)) continue;
      if (columns_.empty()) {
        if (auto taken = take_header(line); !taken) {
          failures_.push_back({index, taken.error().message, taken.error().kind});
          ended_ = true;
          continue;
        }
        named_ = true;
        continue;
      }
      AQ_TRY(read_line(line, index));
    }
    return {};
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::limit, "no memory to decode {} messages", messages.size());
  }
}

Result<void> CsvDecoder::read_line(std::string_view line, std::uint32_t message) {
  if (!plan_) {
    AQ_ASSIGN(plan_, make_plan());
  }
  std::string reason;
  if (read_fields(line, reason)) {
    row_message_.push_back(message);
    ++rows_;
  } else {
    plan_->batch->truncate(rows_);
    failures_.push_back({message, std::move(reason)});
  }
  return {};
}

bool CsvDecoder::read_fields(std::string_view line, std::string& reason) {
  if (!is_utf8(line)) {
    reason = "the line is not valid UTF-8";
    return false;
  }
  if (const char* fault = splitter_.split(line, options_.dialect)) {
    reason = fault;
    return false;
  }
  const std::vector<Field>& fields = splitter_.fields();
  if (fields.size() != columns_.size()) {
    reason = fmt::format("the line has {} fields, but there are {} columns", fields.size(), columns_.size());
    return false;
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const int target = plan_->target[i];
    if (target < 0) continue;
    const auto index = static_cast<std::size_t>(target);
    ColumnBuilder& builder = plan_->batch->column(index);
    if (!fields[i].quoted && fields[i].text == options_.null) {
      builder.put_null(rows_);
      builder.pad(rows_ + 1);
    } else if (!put_parsed(builder, plan_->columns[index], rows_, fields[i].text)) {
      reason = fmt::format("column '{}': the value '{}' doesn't fit {}", columns_[i].name, shown(fields[i].text),
                           type_name(columns_[i]));
      return false;
    }
  }
  return true;
}

Result<Decoded> CsvDecoder::finish() {
  if (!plan_) {
    AQ_ASSIGN(plan_, make_plan());
  }
  Decoded out;
  AQ_ASSIGN(out.batch, plan_->batch->finish(rows_));
  if (static_cast<std::size_t>(rows_) != messages_) out.row_message = std::move(row_message_);
  out.failures = std::move(failures_);
  out.schema_changed = named_;
  row_message_.clear();
  failures_.clear();
  rows_ = 0;
  messages_ = 0;
  named_ = false;
  ended_ = false;
  return out;
}

}  // namespace aqueduck::csv
