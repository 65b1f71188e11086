#include "golden/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "columnar/csv_text.h"
#include "columnar/json_text.h"
#include "columnar/value_text.h"

namespace aqueduck::golden {
namespace {

constexpr std::size_t kShownRows = 5;
constexpr std::size_t kShownBytes = 400;

// "-12.50e1" as sign, digits without zeros at either end, and exponent. A point or an exponent makes it another type
// than a whole number.
std::string canonical_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.find_first_of(".eE") == std::string_view::npos) {
    return (negative && text != "0" ? "-" : "") + std::string(text);
  }
  long long exponent = 0;
  if (const auto e = text.find_first_of("eE"); e != std::string_view::npos) {
    exponent = std::strtoll(std::string(text.substr(e + 1)).c_str(), nullptr, 10);
    text = text.substr(0, e);
  }
  std::string digits;
  bool fraction = false;
  for (const char c : text) {
    if (c == '.') {
      fraction = true;
      continue;
    }
    digits += c;
    if (fraction) --exponent;
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  while (digits.ends_with('0')) {
    digits.pop_back();
    ++exponent;
  }
  if (digits.empty()) exponent = 0;
  return fmt::format("{}0.{}e{}", negative ? "-" : "", digits, exponent + static_cast<long long>(digits.size()));
}

/// Builds the canonical text while the parser reads; keeps the raw text of numbers.
class Canonical {
 public:
  using Json = nlohmann::json;

  // NOLINTBEGIN(readability-identifier-naming,readability-named-parameter): the parser's names
  bool null() { return put("null"); }
  bool boolean(bool value) { return put(value ? "true" : "false"); }
  bool number_integer(Json::number_integer_t value) { return put(std::to_string(value)); }
  bool number_unsigned(Json::number_unsigned_t value) { return put(std::to_string(value)); }
  bool number_float(Json::number_float_t, const std::string& raw) { return put(canonical_number(raw)); }
  bool string(std::string& value) {
    std::string text;
    append_json_string(value, text);
    return put(std::move(text));
  }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(true); }
  bool start_array(std::size_t) { return open(false); }
  bool key(std::string& value) {
    open_.back().key = value;
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
    overflow_ = error.id == 406;
    error_ = fmt::format("no JSON at byte {}", position);
    return false;
  }
  // NOLINTEND(readability-identifier-naming,readability-named-parameter)

  bool overflow() const { return overflow_; }
  const std::string& error() const { return error_; }
  std::string take() { return std::move(result_); }
  /// Of the outermost object.
  std::vector<std::pair<std::string, std::string>> take_members() { return std::move(members_); }

 private:
  struct Frame {
    bool object = false;
    std::string key;
    std::vector<std::pair<std::string, std::string>> parts;
  };

  bool put(std::string text) {
    if (open_.empty()) {
      result_ = std::move(text);
    } else {
      open_.back().parts.emplace_back(open_.back().key, std::move(text));
    }
    return true;
  }
  bool open(bool object) {
    open_.push_back({object, {}, {}});
    return true;
  }
  bool close() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    if (frame.object) {
      std::stable_sort(frame.parts.begin(), frame.parts.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
    }
    std::string text(1, frame.object ? '{' : '[');
    for (const auto& [key, value] : frame.parts) {
      if (text.size() > 1) text += ',';
      if (frame.object) {
        append_json_string(key, text);
        text += ':';
      }
      text += value;
    }
    text += frame.object ? '}' : ']';
    if (open_.empty() && frame.object) members_ = std::move(frame.parts);
    return put(std::move(text));
  }

  std::vector<Frame> open_;
  std::string result_;
  std::vector<std::pair<std::string, std::string>> members_;
  std::string error_;
  bool overflow_ = false;
};

Result<Canonical> parse(std::string_view text) {
  Canonical handler;
  try {
    if (nlohmann::json::sax_parse(text.begin(), text.end(), &handler)) return handler;
  } catch (const std::exception& error) {
    return fail(ErrorKind::config, "{}", error.what());
  }
  if (handler.overflow()) return fail(ErrorKind::limit, "a number is too large");
  return fail(ErrorKind::config, "{}", handler.error());
}

std::string join(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string text = "{";
  for (const auto& [key, value] : members) {
    if (text.size() > 1) text += ',';
    append_json_string(key, text);
    text += ':' + value;
  }
  return text + '}';
}

std::string cut(const std::string& text) {
  if (text.size() <= kShownBytes) return text;
  std::size_t size = kShownBytes;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return fmt::format("{} … ({} bytes)", text.substr(0, size), text.size());
}

Result<std::set<std::string>> keys_of(const std::vector<Row>& rows) {
  std::set<std::string> keys;
  for (const Row& row : rows) {
    AQ_ASSIGN(Canonical handler, parse(row.shown));
    for (const auto& [key, value] : handler.take_members()) keys.insert(key);
  }
  return keys;
}

void show(std::string& out, char mark, const std::vector<Row>& rows) {
  for (std::size_t i = 0; i < rows.size() && i < kShownRows; ++i) {
    out += fmt::format("    {} {}\n", mark, cut(rows[i].shown));
  }
  if (rows.size() > kShownRows) out += fmt::format("    {} … and {} more\n", mark, rows.size() - kShownRows);
}

bool by_key(const Row& a, const Row& b) { return a.key < b.key; }

std::string ordered_difference(const std::vector<Row>& expected, const std::vector<Row>& actual) {
  std::size_t first = 0;
  while (first < expected.size() && first < actual.size() && expected[first].key == actual[first].key) ++first;
  std::string out = fmt::format("    from row {} on (- expected, + got; {} rows expected, {} got):\n", first + 1,
                                expected.size(), actual.size());
  show(out, '-', {expected.begin() + static_cast<std::ptrdiff_t>(first), expected.end()});
  show(out, '+', {actual.begin() + static_cast<std::ptrdiff_t>(first), actual.end()});
  return out;
}

std::string multiset_difference(std::vector<Row> expected, std::vector<Row> actual) {
  std::stable_sort(expected.begin(), expected.end(), by_key);
  std::stable_sort(actual.begin(), actual.end(), by_key);
  std::vector<Row> missing;
  std::vector<Row> surplus;
  std::set_difference(expected.begin(), expected.end(), actual.begin(), actual.end(), std::back_inserter(missing),
                      by_key);
  std::set_difference(actual.begin(), actual.end(), expected.begin(), expected.end(), std::back_inserter(surplus),
                      by_key);
  if (missing.empty() && surplus.empty()) return "";
  std::string out = fmt::format("    {} missing (-), {} not expected (+); {} rows expected, {} got:\n", missing.size(),
                                surplus.size(), expected.size(), actual.size());
  show(out, '-', missing);
  show(out, '+', surplus);
  return out;
}

}  // namespace

Result<std::string> canonical_json(std::string_view text) {
  AQ_ASSIGN(Canonical handler, parse(text));
  return handler.take();
}

Result<std::vector<Row>> rows_of_json_lines(std::string_view text, const std::string& name) {
  std::vector<Row> rows;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.find_first_not_of(" \t") == std::string_view::npos) continue;
    auto key = canonical_json(row);
    if (!key && key.error().kind == ErrorKind::limit) key = std::string(row);  // compared as it is
    if (!key) return fail(with_context(std::move(key).error(), fmt::format("{}:{}", name, line)));
    rows.push_back({std::string(row), std::move(*key)});
  }
  return rows;
}

std::vector<Row> rows_of_csv(std::string_view text) {
  std::vector<Row> rows;
  while (!text.empty()) {
    bool quoted = false;
    std::size_t end = 0;
    for (; end < text.size() && (quoted || text[end] != '\n'); ++end) quoted = quoted != (text[end] == '"');
    std::string row(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.ends_with('\r')) row.pop_back();
    rows.push_back({row, row});
  }
  return rows;
}

Result<std::string> json_lines(const std::vector<RecordBatch>& batches) {
  std::string text;
  for (const RecordBatch& batch : batches) AQ_TRY(append_json_lines(batch, text));
  return text;
}

Result<std::string> csv_text(const std::vector<RecordBatch>& batches) {
  std::string text;
  if (batches.empty()) return text;
  const std::string columns = batches.front().schema->fingerprint();
  for (const RecordBatch& batch : batches) {
    AQ_ASSIGN(CsvText csv, CsvText::plan(batch.schema));
    if (text.empty()) csv.append_header(text);
    if (batch.schema->fingerprint() != columns) {
      return fail(ErrorKind::config, "the columns change between batches, CSV can't show that; use expected.jsonl");
    }
    csv.append_rows(batch, text);
  }
  return text;
}

Result<std::vector<Row>> narrowed(const std::vector<Row>& rows, const std::vector<Row>& pattern) {
  AQ_ASSIGN(const std::set<std::string> wanted, keys_of(pattern));
  std::vector<Row> out;
  for (const Row& row : rows) {
    AQ_ASSIGN(Canonical handler, parse(row.shown));
    auto members = handler.take_members();
    std::erase_if(members, [&](const auto& member) { return !wanted.contains(member.first); });
    const std::string text = join(members);
    out.push_back({text, text});
  }
  return out;
}

Result<std::string> chosen_columns(std::string_view json_lines, const std::vector<Row>& pattern) {
  AQ_ASSIGN(const auto rows, rows_of_json_lines(json_lines, "the run's rows"));
  AQ_ASSIGN(std::set<std::string> chosen, keys_of(pattern));
  std::vector<nlohmann::ordered_json> values;
  for (const Row& row : rows) {
    values.push_back(nlohmann::ordered_json::parse(row.shown, nullptr, false));
    if (!values.back().is_object()) return std::string(json_lines);
    for (const auto& [key, value] : values.back().items()) {
      if (pattern.empty() && !value.is_null()) chosen.insert(key);
    }
  }
  std::string out;
  for (const auto& value : values) {
    nlohmann::ordered_json kept = nlohmann::ordered_json::object();
    for (const auto& [key, member] : value.items()) {
      if (chosen.contains(key)) kept[key] = member;
    }
    out += kept.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return out;
}

std::optional<std::string> difference(std::vector<Row> expected, std::vector<Row> actual, bool ordered, bool heading) {
  const auto same = [](const Row& a, const Row& b) { return a.key == b.key; };
  if (std::equal(expected.begin(), expected.end(), actual.begin(), actual.end(), same)) return std::nullopt;
  if (ordered) return ordered_difference(expected, actual);
  if (heading && !expected.empty() && !actual.empty()) {
    if (!same(expected.front(), actual.front())) return ordered_difference(expected, actual);
    expected.erase(expected.begin());
    actual.erase(actual.begin());
  }
  std::string out = multiset_difference(std::move(expected), std::move(actual));
  if (out.empty()) return std::nullopt;
  return out;
}

std::string sorted_text(std::vector<Row> rows, bool heading) {
  const auto from = rows.begin() + (heading && !rows.empty() ? 1 : 0);
  std::stable_sort(from, rows.end(), [](const Row& a, const Row& b) { return a.shown < b.shown; });
  std::string out;
  for (const Row& row : rows) out += row.shown + "\n";
  return out;
}

}  // namespace aqueduck::golden
