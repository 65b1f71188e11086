#include "config/substitution.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/quantity.h"
#include "base/secret.h"

namespace aqueduck::config {
namespace {

constexpr std::size_t kLargestValue = std::size_t{1} << 20;
// What all values of one scalar may grow to.
constexpr std::size_t kLargestScalar = std::size_t{16} << 20;
constexpr std::array<std::string_view, 4> kSecretWords = {"SECRET", "PASSWORD", "TOKEN", "KEY"};
constexpr std::string_view kForms = "write ${NAME}, ${NAME:-default} or ${file:/path}, or $${ for a literal ${";

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

struct Replacement {
  std::string text;
  bool secret = false;
};

std::optional<Replacement> from_file(std::string_view name, const std::filesystem::path& directory,
                                     const Location& where, Faults& faults) {
  const std::filesystem::path path = directory / std::filesystem::path(name);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    faults.add(where, "{} of ${{file:…}} is not a regular file", shown(name));
    return std::nullopt;
  }
  auto bytes = read_whole_file(path, kLargestValue);
  if (!bytes) {
    faults.add(where, "{} of ${{file:…}} {}", shown(name), bytes.error().message);
    return std::nullopt;
  }
  if (bytes->ends_with('\n')) bytes->pop_back();
  if (bytes->ends_with('\r')) bytes->pop_back();
  remember_secret(*bytes);
  return Replacement{std::move(*bytes), true};
}

std::optional<Replacement> from_environment(std::string_view inside, const Environment& environment,
                                            const Location& where, Faults& faults) {
  const std::size_t dash = inside.find(":-");
  const std::string name(inside.substr(0, dash));
  if (!is_name(name)) {
    faults.add(where, "'${{{}}}' is not understood: {}", shown(inside), kForms);
    return std::nullopt;
  }
  std::optional<std::string> value = environment ? environment(name) : std::nullopt;
  if (dash != std::string_view::npos && (!value || value->empty())) {
    return Replacement{std::string(inside.substr(dash + 2)), false};
  }
  if (!value) {
    faults.add(where, "the environment variable {} is not set; set it, or give a default: ${{{}:-default}}", name,
               name);
    return std::nullopt;
  }
  const bool secret = names_a_secret(name);
  if (secret) remember_secret(*value);
  return Replacement{std::move(*value), secret};
}

}  // namespace

bool names_a_secret(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return std::any_of(kSecretWords.begin(), kSecretWords.end(),
                     [&](std::string_view word) { return upper.find(word) != std::string::npos; });
}

Result<std::string> read_whole_file(const std::filesystem::path& path, std::size_t limit) {
  const auto reason = [](int error) { return std::error_code(error, std::generic_category()).message(); };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(ErrorKind::config, "cannot be read: {}", reason(errno));
  std::string bytes;
  std::string buffer(std::size_t{64} << 10, '\0');
  int error = 0;
  for (;;) {
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    bytes.append(buffer, 0, static_cast<std::size_t>(got));
    if (bytes.size() > limit) break;
  }
  ::close(file);
  if (error != 0) return fail(ErrorKind::config, "cannot be read: {}", reason(error));
  if (bytes.size() > limit) return fail(ErrorKind::config, "is larger than {}", format_bytes(limit));
  return bytes;
}

void substitute(Node& scalar, const Environment& environment, const std::filesystem::path& directory, Faults& faults) {
  const std::string& text = scalar.text;
  if (text.find("${") == std::string::npos) return;
  std::string out;
  std::vector<Node::Origin> origins;
  std::size_t copied = 0;
  bool templated = false;
  bool secret = false;
  auto next_origin = scalar.origins.begin();
  const auto copy_until = [&](std::size_t end) {
    const Location place = scalar.at(copied);
    if (!scalar.origins.empty()) origins.push_back({out.size(), place.line, place.column, false});
    for (; next_origin != scalar.origins.end() && next_origin->offset < end; ++next_origin) {
      if (next_origin->offset < copied) continue;
      origins.push_back(*next_origin);
      origins.back().offset += out.size() - copied;
    }
    out.append(text, copied, end - copied);
    copied = end;
  };
  for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", copied)) {
    const Location where = scalar.at(at);
    if (at > copied && text[at - 1] == '$') {
      copy_until(at);
      copied = at + 1;
      continue;
    }
    copy_until(at);
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos) {
      faults.add(where, "'${{' is not closed: {}", kForms);
      break;
    }
    copied = end + 1;
    const std::string_view inside = std::string_view(text).substr(at + 2, end - at - 2);
    const auto value = inside.starts_with("file:") ? from_file(inside.substr(5), directory, where, faults)
                                                   : from_environment(inside, environment, where, faults);
    if (!value) continue;
    if (!origins.empty()) origins.push_back({out.size(), where.line, where.column, true});
    if (out.size() + value->text.size() > kLargestScalar) {
      faults.add(where, "with its variables put in, this text is larger than {}", format_bytes(kLargestScalar));
      break;
    }
    out += value->text;
    templated = true;
    secret = secret || value->secret;
  }
  copy_until(text.size());
  scalar.text = std::move(out);
  scalar.origins = std::move(origins);
  scalar.templated = templated;
  scalar.secret = secret;
}

}  // namespace aqueduck::config
