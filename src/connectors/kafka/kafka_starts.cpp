#include "connectors/kafka/kafka_starts.h"

#include "base/file.h"

namespace aqueduck {

namespace {
std::filesystem::path file_in(const std::filesystem::path& folder) { return folder / "kafka-starts.json"; }
}  // namespace

Result<Positions> load_kafka_starts(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (folder.empty() || !std::filesystem::exists(file_in(folder), ignored)) return Positions{};
  AQ_ASSIGN(const std::string text, read_file(file_in(folder)));
  auto token = Token::from_json(text);
  if (!token) return fail(with_context(std::move(token).error(), file_in(folder).string()));
  return std::move(token->entries);
}

Result<void> save_kafka_starts(const std::filesystem::path& folder, const Positions& starts) {
  if (folder.empty()) return {};
  AQ_TRY(make_folders(folder));
  return replace_file(file_in(folder), Token{starts}.to_json() + "\n");
}

}  // namespace aqueduck
