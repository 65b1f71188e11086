#include "config/faults.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace aqueduck::config {
namespace {

constexpr std::size_t kLongestWord = 64;

// Edits (insert, delete, replace, swap of neighbours) that make `a` of `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string plain_form(std::string_view word) {
  std::string out;
  for (const char c : word) {
    if (c == '-' || c == '.' || c == ' ') {
      out += '_';
    } else if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

void Faults::add_text(const Location& where, std::string message) { all_.push_back({where, std::move(message)}); }

Error Faults::to_error() const {
  std::vector<const Fault*> order;
  order.reserve(all_.size());
  for (const Fault& fault : all_) order.push_back(&fault);
  std::sort(order.begin(), order.end(), [](const Fault* a, const Fault* b) {
    static const std::string kNone;
    const std::string& left = a->where.file == nullptr ? kNone : *a->where.file;
    const std::string& right = b->where.file == nullptr ? kNone : *b->where.file;
    // Addresses last: of two at one place the one found first comes first.
    return std::tie(left, a->where.line, a->where.column, a) < std::tie(right, b->where.line, b->where.column, b);
  });
  std::string text;
  for (const Fault* fault : order) {
    if (!text.empty()) text += '\n';
    const std::string where = fault->where.to_string();
    if (!where.empty()) text += where + ": ";
    text += fault->message;
  }
  return Error{ErrorKind::config, std::move(text)};
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > kLongestWord) return "";
  const std::string wanted = plain_form(word);
  std::string_view nearest;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(wanted, plain_form(candidate));
    const std::size_t allowed = std::max<std::size_t>(1, candidate.size() / 3);
    if (candidate.size() > 1 && distance <= allowed && distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest);
}

}  // namespace aqueduck::config
