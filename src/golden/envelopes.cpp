#include "golden/envelopes.h"

#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>

#include "columnar/parse_value.h"
#include "config/faults.h"
#include "golden/rows.h"

namespace aqueduck::golden {
namespace {

namespace json = simdjson::ondemand;

constexpr std::array<std::string_view, 9> kKeys = {"value", "value_base64", "key",    "key_base64", "headers",
                                                   "topic", "partition",    "offset", "timestamp"};

struct Envelope {
  std::optional<std::string> payload;
  std::optional<std::string> key;
  std::optional<Headers> headers;
  std::string topic = "input";
  std::int64_t partition = 0;
  std::optional<std::int64_t> offset;
  std::int64_t timestamp_us = kNoTimestamp;
  bool has_value = false;
};

/// What the messages of an input point into.
struct Stored {
  std::deque<Envelope> envelopes;
};

tl::unexpected<Error> bad(std::string_view key, std::string_view wanted) {
  return fail(ErrorKind::config, "'{}' must be {}", key, wanted);
}

Result<std::string> text_of(json::value value, std::string_view key) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return bad(key, "a text");
  return std::string(text);
}

// A text stands for its own bytes, anything else for its JSON as written; null for nothing.
Result<std::optional<std::string>> bytes_of(json::value value, std::string_view key) {
  json::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return bad(key, "a JSON value");
  switch (type) {
    case json::json_type::null:
      return std::nullopt;
    case json::json_type::string: {
      AQ_ASSIGN(std::string text, text_of(value, key));
      return text;
    }
    case json::json_type::array:
    case json::json_type::object: {
      std::string_view text;
      if (simdjson::to_json_string(value).get(text) != simdjson::SUCCESS) return bad(key, "a JSON value");
      return std::string(text);
    }
    default: {
      std::string_view token = value.raw_json_token();
      while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
      return std::string(token);
    }
  }
}

Result<std::string> base64_of(json::value value, std::string_view key) {
  AQ_ASSIGN(const std::string text, text_of(value, key));
  std::string out(text.size() * 3 / 4 + 3, '\0');
  const auto size = parse_base64(text, out.data());
  if (!size) return bad(key, "base64");
  out.resize(*size);
  return out;
}

Result<std::int64_t> number_of(json::value value, std::string_view key) {
  std::int64_t number = -1;
  if (value.get_int64().get(number) != simdjson::SUCCESS || number < 0) return bad(key, "a whole number from 0 on");
  return number;
}

Result<std::int64_t> timestamp_of(json::value value, std::string_view key) {
  constexpr std::string_view kWanted = "a time like \"2026-11-30T12:00:00Z\", or milliseconds since 1970";
  std::int64_t milliseconds = 0;
  if (value.get_int64().get(milliseconds) == simdjson::SUCCESS) {
    constexpr std::int64_t kLimit = INT64_MAX / 1000;
    if (milliseconds > kLimit || milliseconds < -kLimit) return bad(key, kWanted);
    return milliseconds * 1000;
  }
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return bad(key, kWanted);
  const auto instant = parse_instant(text);
  if (!instant) return bad(key, kWanted);
  return instant->seconds * 1'000'000 + instant->nanos / 1000;
}

// {"name": "value"}, or a list of [name, value] where a name comes more than once.
Result<Headers> headers_of(json::value value) {
  constexpr std::string_view kWanted = "an object of texts, or a list of [name, value]";
  Headers out;
  json::object object;
  if (value.get_object().get(object) == simdjson::SUCCESS) {
    for (auto field : object) {
      std::string_view name;
      std::string_view text;
      // Looking at the value invalidates nothing: names are unescaped into a buffer of their own.
      if (field.unescaped_key().get(name) != simdjson::SUCCESS) return bad("headers", kWanted);
      if (field.value().get_string().get(text) != simdjson::SUCCESS) return bad("headers", kWanted);
      out.emplace_back(name, text);
    }
    return out;
  }
  json::array pairs;
  if (value.get_array().get(pairs) != simdjson::SUCCESS) return bad("headers", kWanted);
  for (auto pair : pairs) {
    json::array items;
    if (pair.get_array().get(items) != simdjson::SUCCESS) return bad("headers", kWanted);
    std::vector<std::string> texts;
    for (auto item : items) {
      std::string_view text;
      if (item.get_string().get(text) != simdjson::SUCCESS) return bad("headers", kWanted);
      texts.emplace_back(text);
    }
    if (texts.size() != 2) return bad("headers", kWanted);
    out.emplace_back(std::move(texts[0]), std::move(texts[1]));
  }
  return out;
}

Result<void> read_field(std::string_view key, json::value value, Envelope& out) {
  const bool is_value = key == "value" || key == "value_base64";
  if (is_value && out.has_value) return fail(ErrorKind::config, "'value' and 'value_base64' exclude one another");
  if (is_value) out.has_value = true;
  if (key == "value") {
    AQ_ASSIGN(out.payload, bytes_of(value, key));
  } else if (key == "value_base64") {
    AQ_ASSIGN(out.payload, base64_of(value, key));
  } else if (key == "key") {
    AQ_ASSIGN(out.key, bytes_of(value, key));
  } else if (key == "key_base64") {
    AQ_ASSIGN(out.key, base64_of(value, key));
  } else if (key == "headers") {
    AQ_ASSIGN(out.headers, headers_of(value));
  } else if (key == "topic") {
    AQ_ASSIGN(out.topic, text_of(value, key));
  } else if (key == "partition") {
    AQ_ASSIGN(out.partition, number_of(value, key));
  } else if (key == "offset") {
    AQ_ASSIGN(out.offset, number_of(value, key));
  } else if (key == "timestamp") {
    AQ_ASSIGN(out.timestamp_us, timestamp_of(value, key));
  } else {
    return fail(ErrorKind::config, "there is no '{}' in a message{}; there is {}", key,
                config::did_you_mean(std::string(key), {kKeys.begin(), kKeys.end()}), fmt::join(kKeys, ", "));
  }
  return {};
}

Result<Envelope> read_envelope(json::parser& parser, std::string_view line) {
  // The other parser doesn't look at what it passes over.
  AQ_TRY(canonical_json(line));
  const simdjson::padded_string padded(line);
  json::document document;
  json::object object;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return fail(ErrorKind::config, "a message is a JSON object: {{\"value\": …, \"key\": …}}");
  }
  Envelope out;
  for (auto field : object) {
    std::string_view key;
    json::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS || field.value().get(value) != simdjson::SUCCESS) {
      return fail(ErrorKind::config, "no JSON");
    }
    AQ_TRY(read_field(std::string(key), value, out));
  }
  if (!out.has_value) {
    return fail(ErrorKind::config, "the message has no 'value' (null for a tombstone) and no 'value_base64'");
  }
  return out;
}

// Partition and offset of a message, in the numbering of the input.
Result<void> place(const Envelope& envelope, std::map<std::string, std::uint32_t>& indexes,
                   std::vector<std::int64_t>& ends, Input& input, Message& out) {
  const std::string name = fmt::format("{}/{}", envelope.topic, envelope.partition);
  const auto [found, added] = indexes.try_emplace(name, static_cast<std::uint32_t>(indexes.size()));
  if (added) {
    input.partitions.push_back(name);
    ends.push_back(0);
  }
  out.partition = found->second;
  std::int64_t& end = ends[out.partition];
  out.offset = envelope.offset.value_or(end);
  if (out.offset < end || out.offset == INT64_MAX) {
    return fail(ErrorKind::config, "offset {} of '{}' comes after {}: offsets grow", out.offset, name, end - 1);
  }
  end = out.offset + 1;
  return {};
}

}  // namespace

Result<Input> read_envelopes(std::string_view text, const std::string& file) {
  Input out;
  out.partitions.clear();
  const auto stored = std::make_shared<Stored>();
  std::map<std::string, std::uint32_t> indexes;
  std::vector<std::int64_t> ends;
  json::parser parser;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Message message;
    auto envelope = read_envelope(parser, line);
    Result<void> placed = envelope ? place(*envelope, indexes, ends, out, message) : Result<void>();
    if (!envelope || !placed) {
      return fail(with_context(envelope ? placed.error() : envelope.error(), fmt::format("{}:{}", file, number)));
    }
    const Envelope& kept = stored->envelopes.emplace_back(std::move(*envelope));
    if (kept.payload) message.payload = *kept.payload;
    if (kept.key) message.key = *kept.key;
    if (kept.headers) message.headers = &*kept.headers;
    message.timestamp_us = kept.timestamp_us;
    out.messages.push_back(message);
  }
  if (out.partitions.empty()) out.partitions.emplace_back("input/0");
  out.owners.push_back(stored);
  return out;
}

}  // namespace aqueduck::golden
