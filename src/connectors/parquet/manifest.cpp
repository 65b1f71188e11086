#include "connectors/parquet/manifest.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace aqueduck {
namespace {

constexpr int kVersion = 1;

bool stays_below(const std::filesystem::path& path) {
  return !path.empty() && path.is_relative() &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string Manifest::to_json() const {
  nlohmann::ordered_json out;
  out["v"] = kVersion;
  out["number"] = number;
  out["writer"] = writer;
  out["token"] = token.to_json();
  auto& files = out["files"] = nlohmann::ordered_json::array();
  for (const Move& move : moves) files.push_back({{"from", move.from}, {"to", move.to}});
  return out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<Manifest> Manifest::from_json(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return fail(ErrorKind::conflict, "it is not a JSON object");
  const auto version = json.find("v");
  if (version == json.end() || *version != kVersion) {
    return fail(ErrorKind::conflict, "it is not of version {}: use the program that wrote it, or a newer one",
                kVersion);
  }
  Manifest out;
  const auto number = json.find("number");
  if (number == json.end() || !number->is_number_unsigned()) return fail(ErrorKind::conflict, "it has no number");
  out.number = number->get<std::uint64_t>();
  out.writer = text_of(json, "writer");
  AQ_ASSIGN(out.token, Token::from_json(text_of(json, "token")));
  const auto files = json.find("files");
  if (files == json.end() || !files->is_array()) return fail(ErrorKind::conflict, "it has no list of files");
  for (const auto& file : *files) {
    if (!file.is_object()) return fail(ErrorKind::conflict, "one of its files is no object");
    Move move{text_of(file, "from"), text_of(file, "to")};
    if (!stays_below(move.from) || !stays_below(move.to)) {
      return fail(ErrorKind::conflict, "it names a file outside of its folder: '{}' to '{}'", move.from, move.to);
    }
    out.moves.push_back(std::move(move));
  }
  return out;
}

std::uint64_t manifest_number(std::string_view file_name) {
  constexpr std::string_view kEnd = ".json";
  if (!file_name.ends_with(kEnd) || file_name.starts_with('0')) return 0;
  file_name.remove_suffix(kEnd.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(file_name.data(), file_name.data() + file_name.size(), number);
  return error == std::errc{} && end == file_name.data() + file_name.size() ? number : 0;
}

}  // namespace aqueduck
