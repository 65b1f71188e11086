#include "connectors/parquet/parquet_sink.h"

#include <algorithm>

#include "base/log.h"
#include "sql/quoted.h"

namespace aqueduck {
namespace {

using sql::quoted_name;
using sql::quoted_text;

constexpr const char* kRelation = "aqueduck_batch";
// Not ".parquet": readers that look for `**/*.parquet` must not find what isn't committed.
constexpr const char* kExtension = "part";

/// A name as one component of a path.
std::string path_component(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || (c == '.' && !out.empty());
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out.empty() ? "_" : out;
}

std::string_view word(ParquetCompression compression) {
  switch (compression) {
    case ParquetCompression::zstd:
      return "zstd";
    case ParquetCompression::snappy:
      return "snappy";
    case ParquetCompression::gzip:
      return "gzip";
    case ParquetCompression::lz4:
      return "lz4_raw";
    case ParquetCompression::none:
      break;
  }
  return "uncompressed";
}

/// The type to write: the engine would make DOUBLE of whole numbers of 128 bits, silently.
std::string parquet_type(std::string_view type) {
  std::string out;
  char quote = 0;
  for (std::size_t i = 0; i < type.size();) {
    if (quote == 0) {
      const std::string_view rest = type.substr(i);
      const std::string_view wide = rest.starts_with("UHUGEINT") ? "UHUGEINT" : "HUGEINT";
      const char after = rest.size() > wide.size() ? rest[wide.size()] : ')';
      const bool is_type = after == ')' || after == ',' || after == '[';  // a field's name has a space after it
      if (rest.starts_with(wide) && is_type) {
        out += "DECIMAL(38,0)";
        i += wide.size();
        continue;
      }
    }
    const char c = type[i++];
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
    out += c;
  }
  return out;
}

Error failed(sql::SqlError error, const std::filesystem::path& folder) {
  Error out = std::move(error.error);
  if (out.message.find("No space left") != std::string::npos) out.kind = ErrorKind::limit;
  return with_context(std::move(out), "cannot write Parquet files in " + folder.string());
}

bool holds(const Token& stored, const Token& next) {
  return !next.empty() && std::all_of(next.entries.begin(), next.entries.end(), [&](const auto& entry) {
    const auto found = stored.entries.find(entry.first);
    return found != stored.entries.end() && found->second == entry.second;
  });
}

}  // namespace

SinkTraits parquet_traits(const ParquetConfig& config) {
  SinkTraits traits;
  traits.holds_token = true;
  traits.many_writers = true;
  traits.commit = {config.roll.rows.value, config.roll.bytes.value, config.roll.interval};
  traits.guarantee = "exactly-once: the positions are stored with the names of the files, which appear together";
  return traits;
}

ParquetSink::ParquetSink(ParquetConfig config, const ComponentContext& context)
    : config_(std::move(config)),
      output_(context.directory / config_.path),
      own_(output_ / "_aqueduck" / path_component(context.pipeline)),
      pipeline_(path_component(context.pipeline)),
      shared_(context.database),
      log_(output_, own_),
      staging_(own_) {}

Result<void> ParquetSink::connect() {
  if (session_ != nullptr) return {};
  if (shared_ == nullptr) {
    AQ_ASSIGN(database_, sql::Database::open({}));
  }
  AQ_ASSIGN(session_, (shared_ != nullptr ? shared_ : database_.get())->connect());
  return {};
}

Result<Token> ParquetSink::open() {
  close();
  AQ_TRY(make_folders(own_));
  AQ_TRY(sync_folder(output_ / "_aqueduck"));
  AQ_TRY(sync_folder(output_));
  AQ_TRY(sync_folder(output_.parent_path()));
  AQ_TRY(connect());
  AQ_TRY(remove_orphans());
  return stored_token();
}

Result<void> ParquetSink::remove_orphans() {
  AQ_ASSIGN(const auto orphans, staging_.orphans());
  if (orphans.empty()) return {};
  // With their locks in hand nothing of theirs can be committed any more: what the newest commit doesn't need is waste.
  AQ_TRY(log_.settle());
  for (const auto& orphan : orphans) staging_.remove(orphan);
  return {};
}

Result<Token> ParquetSink::stored_token() {
  AQ_ASSIGN(const auto last, log_.settle());
  if (!last) return Token{};
  resolve_doubt(*last);
  return last->token;
}

void ParquetSink::resolve_doubt(const Manifest& last) {
  if (!doubt_ || last.number < doubt_->number) return;
  const bool ours = last.number == doubt_->number && last.writer == staging_.writer();
  if (!ours && !holds(last.token, doubt_->next)) return;
  staged_.clear();  // they are in place
  doubt_.reset();
}

Result<void> ParquetSink::write(const RecordBatch& batch) {
  if (batch.rows() == 0) return {};
  const std::uint64_t bytes = byte_size(batch);
  const auto rows = static_cast<std::uint64_t>(batch.rows());
  // Before this batch is taken: a failure must not leave it half taken.
  if (!waiting_.empty() &&
      (waiting_rows_ + rows > config_.roll.rows.value || waiting_bytes_ + bytes > config_.roll.bytes.value)) {
    AQ_TRY(stage());
  }
  waiting_.push_back(batch);
  waiting_rows_ += rows;
  waiting_bytes_ += bytes;
  return {};
}

Result<void> ParquetSink::stage() {
  if (waiting_.empty()) return {};
  AQ_TRY(connect());
  AQ_TRY(staging_.enter());
  std::vector<std::vector<RecordBatch>> groups;
  std::string last;
  for (const RecordBatch& batch : waiting_) {
    const std::string fingerprint = batch.schema->fingerprint();
    if (groups.empty() || fingerprint != last) groups.emplace_back();
    groups.back().push_back(batch);
    last = fingerprint;
  }
  std::vector<Staged> files;
  for (const auto& rows : groups) {
    auto done = encode(rows, files);
    if (!done) {
      for (const Staged& file : files) staging_.remove(file.path);
      return done;
    }
  }
  staged_.insert(staged_.end(), files.begin(), files.end());
  waiting_.clear();
  waiting_rows_ = waiting_bytes_ = 0;
  return {};
}

Result<std::string> ParquetSink::copy_statement(const Schema& schema, const std::string& target) {
  auto types = session_->type_names(schema);
  if (!types) return fail(failed(std::move(types).error(), output_));
  std::vector<std::string> columns;
  for (std::size_t i = 0; i < schema.size(); ++i) {
    const std::string name = quoted_name(schema.name(i));
    const std::string type = parquet_type((*types)[i]);
    columns.push_back(type == (*types)[i] ? name : fmt::format("CAST({0} AS {1}) AS {0}", name, type));
  }
  std::string options = fmt::format("FORMAT parquet, COMPRESSION {}", word(config_.compression));
  if (config_.partition_by.empty()) {
    options += ", USE_TMP_FILE false";
  } else {
    std::vector<std::string> by;
    for (const auto& name : config_.partition_by) by.push_back(quoted_name(name));
    options += fmt::format(", PARTITION_BY ({}), FILE_EXTENSION {}", fmt::join(by, ", "), quoted_text(kExtension));
  }
  return fmt::format("COPY (SELECT {} FROM {}) TO {} ({})", fmt::join(columns, ", "), kRelation, quoted_text(target),
                     options);
}

Result<void> ParquetSink::encode(const std::vector<RecordBatch>& rows, std::vector<Staged>& files) {
  const std::string name = staging_.next_name();
  AQ_ASSIGN(const auto statement, copy_statement(*rows.front().schema, (own_ / name).string()));
  const auto encoded = [&]() -> Result<std::vector<std::string>> {
    auto script = session_->script(statement, kRelation);
    if (!script) return fail(failed(std::move(script).error(), output_));
    auto done = (*script)->run(rows, [](const RecordBatch&) -> Result<void> { return {}; });
    // The view points into the script.
    auto dropped = session_->execute(fmt::format("DROP VIEW IF EXISTS temp.{}", kRelation));
    if (!done) return fail(failed(std::move(done).error(), output_));
    if (!dropped) return fail(failed(std::move(dropped).error(), output_));
    return staging_.synced_files(name);
  };
  auto paths = encoded();
  if (!paths) {
    staging_.remove(name);
    return fail(std::move(paths).error());
  }
  for (auto& path : *paths) {
    const std::string folder =
        path == name ? "" : std::filesystem::path(path).parent_path().lexically_relative(name).string();
    files.push_back({std::move(path), folder});
  }
  return {};
}

Manifest ParquetSink::manifest_after(const std::optional<Manifest>& last, Token token) const {
  Manifest out;
  out.number = last ? last->number + 1 : 1;
  out.writer = staging_.writer();
  out.token = std::move(token);
  std::size_t k = 0;
  for (const Staged& file : staged_) {
    const auto name = fmt::format("part-{}-{:06}-{}.parquet", pipeline_, out.number, ++k);
    out.moves.push_back({file.path, (std::filesystem::path(file.folder) / name).string()});
  }
  return out;
}

Result<CommitResult> ParquetSink::commit(const Token& expected, const Token& next) {
  AQ_TRY(stage());
  for (;;) {
    AQ_ASSIGN(const auto last, log_.settle());
    if (last) resolve_doubt(*last);
    const Token stored = last ? last->token : Token{};
    if (!stored.matches(expected, next)) {
      forget();
      return Moved{stored};
    }
    Token merged = stored.merged(next);
    if (staged_.empty() && merged.entries == stored.entries) return Committed{std::move(merged)};
    AQ_TRY(staging_.enter());
    const Manifest manifest = manifest_after(last, merged);
    doubt_ = Doubt{next, manifest.number};
    auto outcome = log_.add(manifest);
    if (!outcome) {
      doubt_.reset();
      return fail(std::move(outcome).error());
    }
    switch (outcome->added) {
      case CommitLog::Added::done:
        staged_.clear();
        doubt_.reset();
        return Committed{std::move(merged)};
      case CommitLog::Added::taken:
        doubt_.reset();
        break;
      case CommitLog::Added::overtaken: {
        // If ours counted, then whoever overtook it has put its files in place, and the token says so.
        auto newest = log_.settle();
        if (!newest) return Unknown{std::move(newest).error()};
        doubt_.reset();
        forget();
        return Moved{*newest ? (*newest)->token : Token{}};
      }
      case CommitLog::Added::unfinished:
        return Unknown{std::move(outcome->error)};
    }
  }
}

void ParquetSink::forget() {
  waiting_.clear();
  waiting_rows_ = waiting_bytes_ = 0;
  // What may have been committed is left to the next one who opens the folder.
  if (!doubt_) {
    for (const Staged& file : staged_) staging_.remove(file.path);
  }
  staged_.clear();
}

Result<void> ParquetSink::abort() {
  forget();
  doubt_.reset();
  return {};
}

void ParquetSink::close() {
  const bool doubt = doubt_.has_value();
  forget();
  staging_.leave(doubt);
  doubt_.reset();
  session_.reset();
  database_.reset();
}

}  // namespace aqueduck
