#include "golden/input.h"

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "columnar/ipc.h"
#include "component/line_blocks.h"
#include "golden/envelopes.h"
#include "sql/database.h"
#include "sql/quoted.h"

namespace aqueduck::golden {
namespace {

Result<std::vector<RecordBatch>> read_parquet(const std::filesystem::path& path) {
  AQ_ASSIGN(const auto database, sql::Database::open({}));
  AQ_ASSIGN(const auto session, database->connect());
  auto rows = sql::collect(*session, "SELECT * FROM read_parquet(" + sql::quoted_text(path.string()) + ")");
  if (!rows) return fail(with_context(rows.error().error, path.string()));
  return std::move(*rows);
}

Result<std::vector<RecordBatch>> read_arrow(const std::filesystem::path& path) {
  AQ_ASSIGN(const std::string text, read_file(path));
  auto rows = read_ipc(text);
  if (!rows) return fail(with_context(std::move(rows).error(), path.string()));
  return rows;
}

Result<void> split_lines(std::string_view text, bool csv, Input& out) {
  LineRules rules;
  rules.quoted_breaks = csv;
  LineBlocks blocks(out.partitions.front(), rules);
  while (true) {
    const bool at_end = text.empty();
    if (!at_end) {
      const auto space = blocks.space();
      const std::size_t size = std::min(space.size(), text.size());
      std::memcpy(space.data(), text.data(), size);
      blocks.filled(size);
      text.remove_prefix(size);
    }
    AQ_ASSIGN(const Messages lines, blocks.take(at_end, SIZE_MAX));
    out.messages.insert(out.messages.end(), lines.items.begin(), lines.items.end());
    if (!lines.items.empty()) out.owners.push_back(lines.owner);
    if (at_end) return {};
  }
}

}  // namespace

std::uint64_t Input::size() const {
  if (!gives_rows) return messages.size();
  std::uint64_t count = 0;
  for (const RecordBatch& batch : rows) count += static_cast<std::uint64_t>(batch.rows());
  return count;
}

Result<std::vector<RecordBatch>> read_rows(const std::filesystem::path& path) {
  return path.extension() == ".arrow" ? read_arrow(path) : read_parquet(path);
}

Result<Input> read_input(const std::filesystem::path& path) {
  Input out;
  const std::string extension = path.extension().string();
  if (extension == ".parquet" || extension == ".arrow") {
    out.gives_rows = true;
    AQ_ASSIGN(out.rows, read_rows(path));
    return out;
  }
  if (path.filename() == "input.messages.jsonl") {
    AQ_ASSIGN(const std::string text, read_file(path));
    AQ_ASSIGN(out, read_envelopes(text, path.filename().string()));
    out.decoder = "json";
    return out;
  }
  out.decoder = extension == ".csv" ? "csv" : extension == ".txt" ? "raw" : "json";
  AQ_ASSIGN(std::string text, read_file(path));
  if (extension == ".json") {
    const auto owner = std::make_shared<const std::string>(std::move(text));
    Message message;
    message.payload = *owner;
    while (message.payload.ends_with('\n')) message.payload.remove_suffix(1);
    out.messages.push_back(message);
    out.owners.push_back(owner);
  } else {
    AQ_TRY(split_lines(text, extension == ".csv", out));
  }
  for (std::size_t i = 0; i < out.messages.size(); ++i) out.messages[i].offset = static_cast<std::int64_t>(i);
  return out;
}

}  // namespace aqueduck::golden
