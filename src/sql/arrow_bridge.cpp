#include "sql/arrow_bridge.h"

#include <duckdb/catalog/catalog.hpp>
#include <duckdb/catalog/catalog_entry/table_function_catalog_entry.hpp>
#include <duckdb/common/arrow/arrow_appender.hpp>
#include <duckdb/common/arrow/arrow_converter.hpp>
#include <duckdb/function/table/arrow.hpp>
#include <duckdb/function/table/arrow/arrow_duck_schema.hpp>
#include <duckdb/main/client_context.hpp>
#include <duckdb/main/extension/extension_loader.hpp>

#include "sql/padded_validity.h"

namespace aqueduck::sql {
namespace {

constexpr duckdb::idx_t kRowsPerBatch = 122'880;
constexpr duckdb::idx_t kBytesPerBatch = 512ULL << 20U;  // far below the 2 GiB that 32-bit offsets can address

// A C stream over the slot's rows, with the columns that the scan asked for.
struct SlotStream {
  std::shared_ptr<const Schema> schema;
  std::vector<RecordBatch> rows;
  std::vector<std::size_t> columns;
  std::size_t next = 0;
};

// An array (or schema) whose children are borrowed from a shared one: it keeps that alive and frees only itself.
template <typename Owner>
struct Borrowed {
  std::shared_ptr<const Owner> owner;
  std::vector<ArrowArray> arrays;
  std::vector<ArrowArray*> array_pointers;
  std::vector<ArrowSchema> schemas;
  std::vector<ArrowSchema*> schema_pointers;
  PaddedValidity padded;
};

void release_borrowed_array(ArrowArray* array) {
  delete static_cast<Borrowed<Array>*>(array->private_data);
  array->release = nullptr;
}
void release_child_array(ArrowArray* array) { array->release = nullptr; }
void release_borrowed_schema(ArrowSchema* schema) {
  delete static_cast<Borrowed<Schema>*>(schema->private_data);
  schema->release = nullptr;
}
void release_child_schema(ArrowSchema* schema) { schema->release = nullptr; }

const void* kNoBuffers[1] = {nullptr};

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  auto& state = *static_cast<SlotStream*>(stream->private_data);
  auto borrowed = std::make_unique<Borrowed<Schema>>();
  borrowed->owner = state.schema;
  borrowed->schemas.reserve(state.columns.size());
  for (const std::size_t column : state.columns) {
    ArrowSchema child = state.schema->column(column);
    child.release = release_child_schema;
    borrowed->schemas.push_back(child);
  }
  for (auto& child : borrowed->schemas) borrowed->schema_pointers.push_back(&child);
  *out = ArrowSchema{};
  out->format = "+s";
  out->n_children = static_cast<std::int64_t>(borrowed->schemas.size());
  out->children = borrowed->schema_pointers.data();
  out->release = release_borrowed_schema;
  out->private_data = borrowed.release();
  return 0;
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  auto& state = *static_cast<SlotStream*>(stream->private_data);
  *out = ArrowArray{};
  if (state.next == state.rows.size()) return 0;
  const auto& array = state.rows[state.next++].array;
  const ArrowArray& from = *array->raw();
  auto borrowed = std::make_unique<Borrowed<Array>>();
  borrowed->owner = array;
  borrowed->arrays.reserve(state.columns.size());
  for (const std::size_t column : state.columns) {
    ArrowArray child = *from.children[column];
    if (from.offset != 0 || child.length != from.length) {  // the engine takes no offset at the top
      child.offset += from.offset;
      child.length = from.length;
      child.null_count = -1;
    }
    child = borrowed->padded.view(state.schema->column(column), child);
    child.release = release_child_array;
    borrowed->arrays.push_back(child);
  }
  for (auto& child : borrowed->arrays) borrowed->array_pointers.push_back(&child);
  out->length = from.length;
  out->n_buffers = 1;
  out->buffers = kNoBuffers;
  out->n_children = static_cast<std::int64_t>(borrowed->arrays.size());
  out->children = borrowed->array_pointers.data();
  out->release = release_borrowed_array;
  out->private_data = borrowed.release();
  return 0;
}

const char* stream_error(ArrowArrayStream*) { return nullptr; }
void stream_release(ArrowArrayStream* stream) {
  delete static_cast<SlotStream*>(stream->private_data);
  stream->release = nullptr;
}

void fill_stream(ArrowArrayStream& out, const BatchSlot& slot, std::vector<std::size_t> columns) {
  out.get_schema = stream_schema;
  out.get_next = stream_next;
  out.get_last_error = stream_error;
  out.release = stream_release;
  out.private_data = new SlotStream{slot.schema, slot.rows, std::move(columns)};
}

duckdb::unique_ptr<duckdb::ArrowArrayStreamWrapper> produce(std::uintptr_t factory,
                                                            duckdb::ArrowStreamParameters& parameters) {
  const auto& slot = *reinterpret_cast<const BatchSlot*>(factory);
  const Schema& schema = *slot.schema;
  std::vector<std::size_t> columns;
  // The engine names the columns it wants; equal names are told apart by their order of appearance.
  const auto& wanted = parameters.projected_columns.columns;
  if (wanted.empty()) {
    for (std::size_t i = 0; i < schema.size(); ++i) columns.push_back(i);
  }
  for (const auto& name : wanted) {
    for (std::size_t i = 0; i < schema.size(); ++i) {
      if (schema.name(i) == name) {
        columns.push_back(i);
        break;
      }
    }
  }
  auto stream = duckdb::make_uniq<duckdb::ArrowArrayStreamWrapper>();
  fill_stream(stream->arrow_array_stream, slot, std::move(columns));
  stream->number_of_rows = -1;
  return stream;
}

void get_schema(ArrowArrayStream* factory, ArrowSchema& out) {
  const auto& slot = *reinterpret_cast<const BatchSlot*>(factory);
  Schema copy = slot.schema->clone();
  out = *copy.raw();
  // The engine owns it from here on: forget ours without releasing.
  new (&copy) Schema();
}

bool has_variable_size(const duckdb::LogicalType& type) {
  switch (type.InternalType()) {
    case duckdb::PhysicalType::VARCHAR:
    case duckdb::PhysicalType::LIST:
    case duckdb::PhysicalType::STRUCT:
    case duckdb::PhysicalType::ARRAY:
      return true;
    default:
      return false;
  }
}

}  // namespace

void register_batch_scan(duckdb::DatabaseInstance& instance) {
  duckdb::Connection connection(instance);
  duckdb::TableFunction scan;
  connection.BeginTransaction();
  auto& entry = duckdb::Catalog::GetSystemCatalog(instance).GetEntry<duckdb::TableFunctionCatalogEntry>(
      *connection.context, DEFAULT_SCHEMA, "arrow_scan");
  scan = entry.functions.GetFunctionByOffset(0);
  connection.Commit();
  scan.name = kBatchScan;
  scan.filter_pushdown = false;
  scan.filter_prune = false;
  scan.projection_pushdown = true;
  duckdb::ExtensionLoader loader(instance, "aqueduck");
  loader.RegisterFunction(scan);
}

void create_batch_view(duckdb::Connection& connection, const std::string& name, BatchSlot& slot) {
  const auto pointer = [](auto value) { return duckdb::Value::POINTER(reinterpret_cast<std::uintptr_t>(value)); };
  connection.TableFunction(kBatchScan, {pointer(&slot), pointer(&produce), pointer(&get_schema)})
      ->CreateView(name, true, true);
}

std::shared_ptr<const Schema> to_schema(const duckdb::vector<duckdb::LogicalType>& types,
                                        const duckdb::vector<duckdb::string>& names, duckdb::ClientContext& context) {
  ArrowSchema raw;
  auto properties = context.GetClientProperties();
  duckdb::ArrowConverter::ToArrowSchema(&raw, types, names, properties);
  return std::make_shared<const Schema>(Schema::adopt(&raw));
}

ResultReader::ResultReader(std::unique_ptr<duckdb::QueryResult> result, duckdb::ClientContext& context)
    : result_(std::move(result)), properties_(context.GetClientProperties()) {
  extensions_ = duckdb::ArrowTypeExtensionData::GetExtensionTypes(context, result_->types);
  schema_ = to_schema(result_->types, result_->names, context);
  for (const auto& type : result_->types) variable_size_ = variable_size_ || has_variable_size(type);
}

std::optional<RecordBatch> ResultReader::next() {
  duckdb::unique_ptr<duckdb::ArrowAppender> appender;
  duckdb::idx_t rows = 0;
  duckdb::idx_t bytes = 0;
  while (!done_ && rows < kRowsPerBatch && bytes < kBytesPerBatch) {
    auto chunk = result_->Fetch();
    if (result_->HasError()) result_->ThrowError();
    if (!chunk || chunk->size() == 0) {
      done_ = true;  // the engine refuses another fetch
      break;
    }
    if (!appender) {
      appender = duckdb::make_uniq<duckdb::ArrowAppender>(result_->types, chunk->size(), properties_, extensions_);
    }
    appender->Append(*chunk, 0, chunk->size(), chunk->size());
    rows += chunk->size();
    if (variable_size_) bytes += chunk->GetAllocationSize();
  }
  if (!appender) return std::nullopt;
  ArrowArray raw = appender->Finalize();
  return RecordBatch{schema_, std::make_shared<const Array>(Array::adopt(&raw))};
}

}  // namespace aqueduck::sql
