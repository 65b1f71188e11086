#include "config/markdown.h"

#include <algorithm>

namespace aqueduck::config {
namespace {

using Kind = ValueInfo::Kind;

const ObjectInfo* object_within(const ValueInfo& value) {
  return value.element != nullptr ? object_within(*value.element) : value.object;
}

std::string type_of(const ValueInfo& value) {
  switch (value.kind) {
    case Kind::boolean:
      return "true or false";
    case Kind::integer:
      return "integer";
    case Kind::number:
      return "number";
    case Kind::text:
      return "text";
    case Kind::secret:
      return "secret text";
    case Kind::duration:
      return "duration";
    case Kind::bytes:
      return "bytes";
    case Kind::count:
      return "count";
    case Kind::object:
      return "object";
    case Kind::any:
      return "any";
    case Kind::choice: {
      std::vector<std::string> words;
      words.reserve(value.choices.size());
      for (const auto& choice : value.choices) words.push_back("`" + choice.first + "`");
      return fmt::format("{}", fmt::join(words, ", "));
    }
    case Kind::list:
      return (value.one_or_list ? "one or a list of " : "list of ") + type_of(*value.element);
    case Kind::map:
      return "map of " + type_of(*value.element);
  }
  return "";
}

// A value that shows the form where a field has neither default nor example.
std::string placeholder(const ValueInfo& value) {
  switch (value.kind) {
    case Kind::boolean:
      return "true";
    case Kind::integer:
    case Kind::number:
      return "1";
    case Kind::secret:
      return "${PASSWORD}";
    case Kind::duration:
      return "1s";
    case Kind::bytes:
      return "64MiB";
    case Kind::count:
      return "1_000";
    case Kind::choice:
      return value.choices.empty() ? "" : value.choices.front().first;
    case Kind::list:
      return "[" + placeholder(*value.element) + "]";
    case Kind::map:
      return "{name: " + placeholder(*value.element) + "}";
    case Kind::text:
    case Kind::object:
    case Kind::any:
      break;
  }
  return "…";
}

void write_example(const ObjectInfo& info, const std::string& indent, bool commented, std::string& out) {
  for (const FieldInfo& field : info.fields) {
    const bool comment = commented || !field.required;
    const std::string begin = (comment ? "# " : "  ") + indent;
    const ObjectInfo* nested = object_within(field.value);
    if (nested != nullptr && field.example.empty()) {
      out += fmt::format("{}{}:\n", begin, field.name);
      std::string inner = indent + "  ";
      if (field.value.kind == Kind::map) {
        out += (comment ? "# " : "  ") + inner + "name:\n";
        inner += "  ";
      }
      std::string lines;
      write_example(*nested, inner, comment, lines);
      if (field.value.kind == Kind::list && lines.size() > inner.size() + 2) {
        lines.insert(inner.size() + 2, "- ");
        for (std::size_t at = lines.find('\n'); at + 1 < lines.size(); at = lines.find('\n', at + 1)) {
          lines.insert(at + 3, "  ");
        }
      }
      out += lines;
      continue;
    }
    const std::string value = !field.example.empty()        ? field.example
                              : !field.default_text.empty() ? field.default_text
                                                            : placeholder(field.value);
    if (value.find('\n') == std::string::npos) {
      out += fmt::format("{}{}: {}{}\n", begin, field.name, value, field.required ? "  # required" : "");
      continue;
    }
    out += fmt::format("{}{}:\n", begin, field.name);
    for (std::size_t at = 0; at < value.size();) {
      const std::size_t end = std::min(value.find('\n', at), value.size());
      out += begin + "  " + value.substr(at, end - at) + "\n";
      at = end + 1;
    }
  }
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void write_rows(const ObjectInfo& info, const std::string& prefix, std::string& out) {
  for (const FieldInfo& field : info.fields) {
    const std::string name = prefix + field.name;
    std::string description = field.description;
    const ValueInfo& innermost = field.value.element == nullptr ? field.value : *field.value.element;
    for (const auto& [word, sentence] : innermost.choices) {
      if (!sentence.empty())
        description += fmt::format(" `{}`: {}{}", word, sentence, sentence.ends_with('.') ? "" : ".");
    }
    const std::string standard = field.required               ? "required"
                                 : field.default_text.empty() ? "–"
                                                              : "`" + field.default_text + "`";
    out +=
        fmt::format("| `{}` | {} | {} | {} |\n", name, cell(type_of(field.value)), cell(standard), cell(description));
    const ObjectInfo* nested = object_within(field.value);
    if (nested == nullptr) continue;
    const char* const between = field.value.kind == Kind::list ? "[]." : field.value.kind == Kind::map ? ".*." : ".";
    write_rows(*nested, name + between, out);
  }
}

std::string page(const ObjectInfo& info, const std::string& example) {
  std::string out = fmt::format("# {}\n\n{}\n", info.name, info.summary);
  if (!info.details.empty()) out += fmt::format("\n{}\n", info.details);
  if (info.fields.empty()) return out + fmt::format("\n```yaml\n{}: {{}}\n```\n\nIt has no settings.\n", info.name);
  out += fmt::format("\n```yaml\n{}```\n", example);
  if (!info.shorthand.empty()) {
    out += fmt::format("\nA value in place of the fields stands for `{}`.\n", info.shorthand);
  }
  std::string rows;
  write_rows(info, "", rows);
  return out + "\n| field | type | default | description |\n| --- | --- | --- | --- |\n" + rows;
}

}  // namespace

std::string markdown(const ObjectInfo& info) {
  std::string example = info.name + ":\n";
  write_example(info, "", false, example);
  return page(info, example);
}

std::string markdown_of_file(const ObjectInfo& info) {
  std::string nested;
  write_example(info, "", false, nested);
  std::string example;
  for (std::size_t at = 0; at < nested.size();) {
    const std::size_t end = nested.find('\n', at);
    // The first two columns are the indent, or the mark of a comment.
    const std::string_view line = std::string_view(nested).substr(at, end - at);
    example += line.starts_with("  ") ? line.substr(2) : line;
    example += '\n';
    at = end + 1;
  }
  return page(info, example);
}

}  // namespace aqueduck::config
