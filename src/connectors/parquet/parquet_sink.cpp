#include "connectors/parquet/parquet_sink.h"

#include <algorithm>

namespace aqueduck {
namespace {

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
      staging_(own_),
      files_(config_, staging_) {}

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
  files_.release();  // they are in place
  doubt_.reset();
}

Result<void> ParquetSink::write(const RecordBatch& batch) {
  if (batch.rows() == 0) return {};
  AQ_TRY(connect());
  auto taken = files_.write(*session_, batch);
  if (!taken) return fail(with_context(std::move(taken).error(), "cannot write Parquet files in " + output_.string()));
  return {};
}

Manifest ParquetSink::manifest_after(const std::optional<Manifest>& last, Token token) const {
  Manifest out;
  out.number = last ? last->number + 1 : 1;
  out.writer = staging_.writer();
  out.token = std::move(token);
  std::size_t k = 0;
  for (const auto& file : files_.finished()) {
    const auto name = fmt::format("part-{}-{:06}-{}.parquet", pipeline_, out.number, ++k);
    out.moves.push_back({file.path, (std::filesystem::path(file.folder) / name).string()});
  }
  return out;
}

Result<CommitResult> ParquetSink::commit(const Token& expected, const Token& next) {
  if (auto finished = files_.finish_all(); !finished) {
    return fail(with_context(std::move(finished).error(), "cannot write Parquet files in " + output_.string()));
  }
  for (;;) {
    AQ_ASSIGN(const auto last, log_.settle());
    if (last) resolve_doubt(*last);
    const Token stored = last ? last->token : Token{};
    if (!stored.matches(expected, next)) {
      forget();
      return Moved{stored};
    }
    Token merged = stored.merged(next);
    if (files_.finished().empty() && merged.entries == stored.entries) return Committed{std::move(merged)};
    AQ_TRY(staging_.enter());
    AQ_TRY(staging_.sync());
    const Manifest manifest = manifest_after(last, merged);
    doubt_ = Doubt{next, manifest.number};
    auto outcome = log_.add(manifest);
    if (!outcome) {
      doubt_.reset();
      return fail(std::move(outcome).error());
    }
    switch (outcome->added) {
      case CommitLog::Added::done:
        files_.release();
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
  // What may have been committed is left to the next one who opens the folder.
  files_.drop(doubt_.has_value());
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
  files_.disconnect();
  session_.reset();
  database_.reset();
}

}  // namespace aqueduck
