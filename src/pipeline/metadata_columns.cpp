#include "pipeline/metadata_columns.h"

#include <nanoarrow/nanoarrow.h>

#include <algorithm>
#include <charconv>

#include "columnar/json_text.h"
#include "columnar/value_text.h"

namespace aqueduck::pipeline {
namespace {

using What = MetadataColumn::What;

Error no_memory() { return make_error(ErrorKind::limit, "no memory for metadata columns"); }

// Key and headers are bytes of the sender's: a BLOB, and JSON text of [name, value] pairs.
int set_type(ArrowSchema* field, What what) {
  switch (what) {
    case What::key:
      return ArrowSchemaSetType(field, NANOARROW_TYPE_BINARY);
    case What::topic:
    case What::headers:
      return ArrowSchemaSetType(field, NANOARROW_TYPE_STRING);
    case What::partition:
      return ArrowSchemaSetType(field, NANOARROW_TYPE_INT32);
    case What::offset:
      return ArrowSchemaSetType(field, NANOARROW_TYPE_INT64);
    case What::timestamp:
      return ArrowSchemaSetTypeDateTime(field, NANOARROW_TYPE_TIMESTAMP, NANOARROW_TIME_UNIT_MICRO, "UTC");
  }
  return EINVAL;
}

ArrowStringView view(std::string_view text) { return {text.data(), static_cast<std::int64_t>(text.size())}; }

std::string headers_json(const Headers& headers) {
  std::string out = "[";
  for (const auto& [name, value] : headers) {
    out += out.size() > 1 ? ",[" : "[";
    append_json_string(name, out);
    out += ',';
    append_json_string(value, out);
    out += ']';
  }
  return out + "]";
}

// "events/3" → "events" and 3; a name without a number stands for itself.
std::pair<std::string_view, std::int64_t> split_partition(std::string_view name) {
  const auto slash = name.rfind('/');
  std::int64_t number = -1;
  if (slash != std::string_view::npos) {
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + slash + 1, end, number);
    if (parsed.ec == std::errc{} && parsed.ptr == end) return {name.substr(0, slash), number};
  }
  return {name, -1};
}

int append(ArrowArray* column, What what, const Message& message, std::string_view partition) {
  switch (what) {
    case What::key:
      if (message.key.data() == nullptr) return ArrowArrayAppendNull(column, 1);
      // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): its size goes with it
      return ArrowArrayAppendBytes(column, {{message.key.data()}, static_cast<std::int64_t>(message.key.size())});
    case What::topic:
      return ArrowArrayAppendString(column, view(split_partition(partition).first));
    case What::partition: {
      const std::int64_t number = split_partition(partition).second;
      return number < 0 ? ArrowArrayAppendNull(column, 1) : ArrowArrayAppendInt(column, number);
    }
    case What::offset:
      return message.offset < 0 ? ArrowArrayAppendNull(column, 1) : ArrowArrayAppendInt(column, message.offset);
    case What::timestamp:
      if (message.timestamp_us == kNoTimestamp) return ArrowArrayAppendNull(column, 1);
      return ArrowArrayAppendInt(column, message.timestamp_us);
    case What::headers:
      if (message.headers == nullptr) return ArrowArrayAppendNull(column, 1);
      return ArrowArrayAppendString(column, view(headers_json(*message.headers)));
  }
  return EINVAL;
}

// The decoded columns, borrowed, and ours, owned.
struct Extended {
  std::shared_ptr<const Array> decoded;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  std::size_t borrowed = 0;
  const void* no_buffers[1] = {nullptr};

  Extended() = default;
  Extended(const Extended&) = delete;
  Extended& operator=(const Extended&) = delete;
  ~Extended() {
    for (std::size_t i = borrowed; i < children.size(); ++i) {
      if (children[i].release != nullptr) children[i].release(&children[i]);
    }
  }
};

}  // namespace

bool MetadataColumns::names(std::string_view column) const {
  return std::any_of(columns_.begin(), columns_.end(), [&](const auto& c) { return c.name == column; });
}

Result<std::shared_ptr<const Schema>> MetadataColumns::extend(const std::shared_ptr<const Schema>& schema) {
  if (schema == base_ && extended_ != nullptr) return extended_;
  added_.clear();
  for (const MetadataColumn& column : columns_) {
    bool taken = false;
    for (std::size_t i = 0; i < schema->size(); ++i) taken = taken || schema->name(i) == column.name;
    if (!taken) added_.push_back(column);
  }
  ArrowSchema raw;
  ArrowSchemaInit(&raw);
  int bad = ArrowSchemaSetTypeStruct(&raw, static_cast<std::int64_t>(schema->size() + added_.size()));
  for (std::size_t i = 0; bad == 0 && i < schema->size(); ++i) {
    raw.children[i]->release(raw.children[i]);
    bad = ArrowSchemaDeepCopy(&schema->column(i), raw.children[i]);
  }
  for (std::size_t i = 0; bad == 0 && i < added_.size(); ++i) {
    ArrowSchema* field = raw.children[schema->size() + i];
    bad = set_type(field, added_[i].what);
    if (bad == 0) bad = ArrowSchemaSetName(field, added_[i].name.c_str());
  }
  if (bad != 0) {
    raw.release(&raw);
    return fail(no_memory());
  }
  base_ = schema;
  extended_ = std::make_shared<const Schema>(Schema::adopt(&raw));
  return extended_;
}

Result<RecordBatch> MetadataColumns::extend(const Decoded& decoded, const Batch& batch) {
  AQ_ASSIGN(const auto schema, extend(decoded.batch.schema));
  const std::int64_t rows = decoded.batch.rows();
  const ArrowArray& from = *decoded.batch.array->raw();

  // Messages by their index over all chunks.
  std::vector<std::pair<const Message*, const std::string*>> messages;
  static const std::string kNone;
  for (const Chunk& chunk : batch.chunks()) {
    const auto& part = std::get<Messages>(chunk.data);
    for (const Message& message : part.items) {
      messages.emplace_back(&message,
                            message.partition < part.partitions.size() ? &part.partitions[message.partition] : &kNone);
    }
  }

  auto out = std::make_unique<Extended>();
  out->decoded = decoded.batch.array;
  out->borrowed = static_cast<std::size_t>(from.n_children);
  out->children.reserve(out->borrowed + added_.size());
  for (std::int64_t i = 0; i < from.n_children; ++i) {
    out->children.push_back(*from.children[i]);
    out->children.back().release = [](ArrowArray* child) { child->release = nullptr; };
  }
  for (std::size_t i = 0; i < added_.size(); ++i) {
    ArrowArray& column = out->children.emplace_back();
    int bad = ArrowArrayInitFromSchema(&column, &schema->column(out->borrowed + i), nullptr);
    if (bad == 0) bad = ArrowArrayStartAppending(&column);
    // Rows cut from a larger array: ours start where the decoded ones do.
    if (bad == 0 && from.offset > 0) bad = ArrowArrayAppendEmpty(&column, from.offset);
    for (std::int64_t row = 0; bad == 0 && row < rows; ++row) {
      const auto at = decoded.row_message.empty() ? static_cast<std::size_t>(row)
                                                  : decoded.row_message[static_cast<std::size_t>(row)];
      bad = append(&column, added_[i].what, *messages[at].first, *messages[at].second);
    }
    if (bad == 0) bad = ArrowArrayFinishBuildingDefault(&column, nullptr);
    if (bad != 0) return fail(no_memory());
  }
  for (ArrowArray& child : out->children) out->pointers.push_back(&child);
  ArrowArray raw{};
  raw.length = rows;
  raw.offset = from.offset;
  raw.n_buffers = 1;
  raw.buffers = out->no_buffers;
  raw.n_children = static_cast<std::int64_t>(out->pointers.size());
  raw.children = out->pointers.data();
  raw.private_data = out.release();
  raw.release = [](ArrowArray* array) {
    delete static_cast<Extended*>(array->private_data);
    array->release = nullptr;
  };
  return RecordBatch{schema, std::make_shared<const Array>(Array::adopt(&raw))};
}

}  // namespace aqueduck::pipeline
