#include "pipeline/transform.h"

#include <algorithm>

namespace aqueduck::pipeline {

Transform::Transform(const Definition& definition, std::unique_ptr<Decoder> decoder,
                     std::unique_ptr<sql::Session> session, SharedColumns& columns)
    : definition_(definition),
      decoder_(std::move(decoder)),
      session_(std::move(session)),
      columns_(columns),
      metadata_(definition.source == nullptr ? std::vector<MetadataColumn>() : definition.source->metadata()) {}

Result<std::shared_ptr<const Schema>> Transform::with_metadata(const std::shared_ptr<const Schema>& decoded) {
  if (decoder_ == nullptr || metadata_.empty()) return decoded;
  return metadata_.extend(decoded);
}

Error Transform::located(sql::SqlError error) const {
  const config::Node& node = definition_.sql->node;
  return with_context(with_engine_keys(std::move(error.error), definition_.engine),
                      (error.offset ? node.at(*error.offset) : node.where).to_string());
}

Result<void> Transform::prepare() {
  if (definition_.sql) {
    auto script = session_->script(definition_.sql->text);
    if (!script) {
      Error error = located(std::move(script).error());
      error.kind = ErrorKind::config;
      return fail(std::move(error));
    }
    script_ = std::move(*script);
  }
  if (decoder_ == nullptr) return {};
  {
    const SharedColumns::Hold hold(columns_);
    AQ_TRY(adopt(hold));
  }
  if (const auto schema = decoder_->schema(); schema != nullptr && !schema->empty()) return plan(schema);
  return {};
}

Result<void> Transform::adopt(const SharedColumns::Hold& hold) {
  adopted_ = hold.version();
  planned_ = false;
  if (hold.saved().empty()) return {};
  return decoder_->restore(hold.saved());
}

Result<Decoded> Transform::decode(const Batch& batch) {
  std::optional<SharedColumns::Hold> hold;
  if (!planned_ && decoder_->schema() == nullptr)
    hold.emplace(columns_);  // one infers, the others wait for what it finds
  if (adopted_ != columns_.version()) {
    if (!hold) hold.emplace(columns_);
    AQ_TRY(adopt(*hold));
    decoder_->restrict_to(std::nullopt);
    if (const auto schema = decoder_->schema(); schema != nullptr && !schema->empty()) AQ_TRY(plan(schema));
    hold.reset();
  }
  for (const Chunk& chunk : batch.chunks()) {
    const auto& messages = std::get<Messages>(chunk.data);
    if (!messages.items.empty()) AQ_TRY(decoder_->decode(messages.items));
  }
  AQ_ASSIGN(Decoded decoded, decoder_->finish());
  if (decoded.schema_changed) {
    planned_ = false;
    schema_changed_ = true;
    if (!hold) hold.emplace(columns_);
    if (adopted_ != hold->version()) AQ_TRY(adopt(*hold));
    adopted_ = hold->publish(decoder_->saved_schema());
  }
  return decoded;
}

Result<void> Transform::plan(const std::shared_ptr<const Schema>& decoded) {
  planned_ = true;
  AQ_ASSIGN(const auto schema, with_metadata(decoded));
  if (script_ == nullptr) {
    output_ = schema;
    return {};
  }
  auto output = script_->prepare(schema);
  if (!output) return fail(located(std::move(output).error()));
  output_ = *output;
  if (decoder_ == nullptr) return {};
  auto read = script_->columns_read();
  if (!read) return {};
  std::erase_if(*read, [&](const auto& path) { return path.size() == 1 && metadata_.names(path.front()); });
  decoder_->restrict_to(read);
  const auto narrowed = decoder_->schema();
  if (narrowed == nullptr || narrowed == decoded) return {};
  // Where the SQL can't do with fewer columns after all, it gets all of them.
  AQ_ASSIGN(const auto narrowed_all, with_metadata(narrowed));
  auto again = script_->prepare(narrowed_all);
  if (again && (*again == nullptr) == (output_ == nullptr) &&
      (output_ == nullptr || (*again)->fingerprint() == output_->fingerprint())) {
    return {};
  }
  decoder_->restrict_to(std::nullopt);
  output = script_->prepare(schema);
  if (!output) return fail(located(std::move(output).error()));
  return {};
}

// Nothing of such a batch is delivered, and what the SQL says to the rest of it must not hide the reason.
bool Transform::ends(const std::vector<DecodeFailure>& failures) const {
  if (definition_.errors.decode == OnError::fail) return !failures.empty();
  return std::any_of(failures.begin(), failures.end(), [](const DecodeFailure& f) { return f.ends.has_value(); });
}

Result<TransformResult> Transform::run(const Batch& batch) {
  TransformResult result;
  std::vector<RecordBatch> input;
  if (decoder_ != nullptr) {
    AQ_ASSIGN(Decoded decoded, decode(batch));
    if (ends(decoded.failures)) {
      result.failures = std::move(decoded.failures);
      return result;
    }
    if (decoded.batch.rows() > 0 && !metadata_.empty()) {
      AQ_ASSIGN(RecordBatch extended, metadata_.extend(decoded, batch));
      input.push_back(std::move(extended));
    } else if (decoded.batch.rows() > 0) {
      input.push_back(std::move(decoded.batch));
    }
    result.failures = std::move(decoded.failures);
  } else {
    for (const Chunk& chunk : batch.chunks()) {
      const auto& rows = std::get<RecordBatch>(chunk.data);
      if (rows.rows() > 0) input.push_back(rows);
    }
  }
  for (const RecordBatch& rows : input) result.decoded += static_cast<std::uint64_t>(rows.rows());
  if (input.empty()) return result;
  if (script_ == nullptr) {
    result.rows = std::move(input);
  } else {
    // Rows are collected before any goes to the sink: a statement that fails half-way delivers nothing.
    auto done = script_->run(input, [&](const RecordBatch& rows) -> Result<void> {
      result.rows.push_back(rows);
      return {};
    });
    if (!done) return fail(located(std::move(done).error()));
  }
  if (!planned_ && decoder_ != nullptr) {
    decoder_->restrict_to(std::nullopt);
    if (const auto schema = decoder_->schema(); schema != nullptr && !schema->empty()) AQ_TRY(plan(schema));
  }
  return result;
}

Result<void> Transform::save_changed_schema(const std::function<Result<void>(const std::string&)>& save) {
  if (!schema_changed_) return {};
  const SharedColumns::Hold hold(columns_);
  AQ_TRY(save(hold.saved()));
  schema_changed_ = false;
  return {};
}

void Transform::interrupt() { session_->interrupt(); }

}  // namespace aqueduck::pipeline
