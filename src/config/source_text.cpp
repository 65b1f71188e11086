#include "config/source_text.h"

#include <algorithm>
#include <iterator>

namespace aqueduck::config {
namespace {

constexpr std::size_t kLargestFile = std::size_t{4} << 20;
// Bytes that mean something to YAML, and the control bytes that stand for them within ${…}. Not 4: yaml-cpp takes it
// for the end of the file.
constexpr std::string_view kMeaningful = "{},[]:# ";
constexpr std::string_view kMasks = "\x01\x02\x03\x05\x06\x07\x08\x0e";

// Length of the well-formed UTF-8 sequence at the front of `text`, or 0.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned char least = 0x80;
  unsigned char most = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) least = 0xA0;
    if (lead == 0xED) most = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) least = 0x90;
    if (lead == 0xF4) most = 0x8F;
  } else {
    return 0;
  }
  if (text.size() < length || byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

std::size_t leading_spaces(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

std::string_view without_trailing_blanks(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  return line;
}

}  // namespace

bool SourceText::prepare(std::string_view text, const std::string& name, Faults& faults) {
  file_ = std::make_shared<const std::string>(name);
  if (text.size() > kLargestFile) {
    faults.add(whole(), "the file is larger than {} MiB, which no configuration should be", kLargestFile >> 20);
    return false;
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text_.reserve(text.size());
  line_starts_ = {0};
  bool good = true;
  for (std::size_t i = 0; i < text.size() && good;) {
    const std::size_t length = sequence_length(text.substr(i));
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      continue;
    }
    if (length == 0) {
      faults.add(locate(text_.size()), "byte 0x{:02x} is not UTF-8: save the file as UTF-8 text", byte);
      good = false;
    } else if (byte < 0x20 && byte != '\t' && byte != '\n') {
      faults.add(locate(text_.size()), "the control byte 0x{:02x} may not stand in a configuration", byte);
      good = false;
    } else {
      text_.append(text, i, length);
      i += length;
      if (byte == '\n') line_starts_.push_back(text_.size());
    }
  }
  if (good) mask();
  return good;
}

void SourceText::mask() {
  for (std::size_t at = text_.find("${"); at != std::string::npos; at = text_.find("${", at + 1)) {
    const std::size_t end = text_.find_first_of("{}\n", at + 2);
    if (end == std::string::npos || text_[end] != '}') continue;
    for (std::size_t i = at + 1; i <= end; ++i) {
      const std::size_t which = kMeaningful.find(text_[i]);
      if (which != std::string_view::npos) text_[i] = kMasks[which];
    }
  }
}

void SourceText::unmask(std::string& text) {
  for (char& c : text) {
    const std::size_t which = static_cast<unsigned char>(c) < 0x20 ? kMasks.find(c) : std::string_view::npos;
    if (which != std::string_view::npos) c = kMeaningful[which];
  }
}

Location SourceText::locate(std::size_t position) {
  position = std::min(position, text_.size());
  const bool goes_on =
      position >= last_position_ && (last_line_ + 1 >= line_starts_.size() || position < line_starts_[last_line_ + 1]);
  if (!goes_on) {
    const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), position);
    last_line_ = static_cast<std::size_t>(std::distance(line_starts_.begin(), after)) - 1;
    last_position_ = line_starts_[last_line_];
    last_column_ = 1;
  }
  last_column_ += characters(std::string_view(text_).substr(last_position_, position - last_position_));
  last_position_ = position;
  return Location{file_, static_cast<int>(last_line_) + 1, last_column_};
}

Node::Origin SourceText::origin(std::size_t offset, std::size_t position, bool fixed) {
  const Location place = locate(position);
  return Node::Origin{offset, place.line, place.column, fixed};
}

bool SourceText::is_closed(std::size_t position) const {
  const char quote = position < text_.size() ? text_[position] : '\0';
  if (quote != '"' && quote != '\'') return true;
  for (std::size_t at = position + 1; at < text_.size(); ++at) {
    if (quote == '"' && text_[at] == '\\') {
      ++at;
    } else if (text_[at] == quote) {
      if (quote == '"' || at + 1 >= text_.size() || text_[at + 1] != quote) return true;
      ++at;
    }
  }
  return false;
}

std::vector<Node::Origin> SourceText::origins(std::size_t position, std::string_view value, int& block_indent) {
  if (position >= text_.size()) return {};
  const char style = text_[position];
  if (style == '|' || style == '>') return block_origins(position, value, block_indent);
  return inline_origins(position, value);
}

std::vector<Node::Origin> SourceText::block_origins(std::size_t position, std::string_view value, int& block_indent) {
  std::vector<Node::Origin> out;
  const std::string_view text = text_;
  std::size_t begin = text.find('\n', position);
  std::size_t indent = 0;
  std::size_t done = 0;
  const bool folded = text[position] == '>';
  // Leading line breaks of the value are blank lines of the file; everything else is found line by line.
  while (begin != std::string_view::npos && done < value.size()) {
    ++begin;
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t line_begin = begin;
    begin = end < text.size() ? end : std::string_view::npos;
    if (block_indent < 0) {
      if (is_blank(line)) {
        if (value[done] == '\n') out.push_back(origin(done++, end));
        continue;
      }
      const std::string_view first = value.substr(done, std::min(value.find('\n', done), value.size()) - done);
      const std::size_t kept = leading_spaces(first);
      if (leading_spaces(line) < kept) return out;
      indent = leading_spaces(line) - kept;
      block_indent = static_cast<int>(indent);
    }
    const std::string_view content = line.size() > indent ? line.substr(indent) : std::string_view();
    if (!folded) {
      if (!value.substr(done).starts_with(content)) return out;
      out.push_back(origin(done, line_begin + std::min(indent, line.size())));
      done += content.size() + 1;
      continue;
    }
    if (is_blank(content)) continue;
    while (done < value.size() && value[done] == '\n') ++done;
    if (done < value.size() && value[done] == ' ' && content.front() != ' ') ++done;
    const std::string_view wanted = without_trailing_blanks(content);
    if (!value.substr(done).starts_with(wanted)) return out;
    out.push_back(origin(done, line_begin + indent));
    done += value.substr(done).starts_with(content) ? content.size() : wanted.size();
  }
  return out;
}

std::vector<Node::Origin> SourceText::inline_origins(std::size_t position, std::string_view value) {
  const std::string_view text = text_;
  const char style = text[position];
  const bool quoted = style == '"' || style == '\'';
  std::size_t at = position + (quoted ? 1 : 0);
  std::size_t done = 0;
  std::vector<Node::Origin> out{origin(0, at)};
  // Line breaks and the blanks around them: one break is a space, more are one break less.
  const auto fold = [&](bool continued) {
    const std::size_t end = std::min(text.find_first_not_of(" \t\n", at), text.size());
    const auto breaks = static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                            text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    if (continued || breaks > 1) {
      done += breaks - 1;
    } else {
      ++done;
    }
    at = end;
    out.push_back(origin(done, at));
  };
  while (done < value.size() && at < text.size()) {
    const char c = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (style == '"' && c == '\\') {
      if (next == '\n') {
        ++at;
        fold(true);
        continue;
      }
      out.push_back(origin(done, at, true));
      at += next == 'x' ? 4 : next == 'u' ? 6 : next == 'U' ? 10 : 2;
      done += std::max<std::size_t>(1, sequence_length(value.substr(done)));
      out.push_back(origin(done, at));
    } else if (style == '\'' && c == '\'' && next == '\'') {
      out.push_back(origin(done, at, true));
      at += 2;
      out.push_back(origin(++done, at));
    } else {
      const std::size_t run = c == ' ' || c == '\t' || c == '\n' ? text.find_first_not_of(" \t", at) : at;
      if (run < text.size() && text[run] == '\n') {
        fold(false);
      } else if (c != value[done]) {
        return out;
      } else {
        ++at;
        ++done;
      }
    }
  }
  return out;
}

}  // namespace aqueduck::config
