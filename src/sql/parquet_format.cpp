#include "sql/parquet_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <duckdb/catalog/catalog.hpp>
#include <duckdb/catalog/catalog_entry/copy_function_catalog_entry.hpp>
#include <duckdb/common/hive_partitioning.hpp>
#include <duckdb/common/type_visitor.hpp>
#include <duckdb/common/vector_operations/vector_operations.hpp>
#include <duckdb/main/client_context.hpp>

#include "sql/engine_error.h"

namespace aqueduck::sql {
namespace {

using duckdb::idx_t;
using duckdb::LogicalType;
using duckdb::LogicalTypeId;

// What the engine's own COPY names such folders.
constexpr const char* kNullFolder = "__HIVE_DEFAULT_PARTITION__";

// One connection can have several formats at once.
std::string next_view() {
  static std::atomic<std::uint64_t> count{0};
  return "aqueduck_parquet_" + std::to_string(++count);
}

bool is_wide(const LogicalType& type) {
  return type.id() == LogicalTypeId::HUGEINT || type.id() == LogicalTypeId::UHUGEINT;
}

// The encoder would make DOUBLE of whole numbers of 128 bits, silently.
LogicalType written_type(const LogicalType& type) {
  if (!duckdb::TypeVisitor::Contains(type, is_wide)) return type;
  return duckdb::TypeVisitor::VisitReplace(
      type, [](const LogicalType& part) { return is_wide(part) ? LogicalType::DECIMAL(38, 0) : part; });
}

/// Appends the text of a value such that two rows' keys are equal iff all their values are.
class KeyColumn {
 public:
  KeyColumn(duckdb::Vector& values, idx_t rows) : text_(LogicalType::VARCHAR, rows) {
    if (values.GetType().id() == LogicalTypeId::VARCHAR) {
      text_.Reinterpret(values);
    } else {
      duckdb::VectorOperations::DefaultCast(values, text_, rows);
    }
    text_.ToUnifiedFormat(rows, format_);
  }
  void append_to(std::string& key, idx_t row) const {
    const idx_t at = format_.sel->get_index(row);
    if (!format_.validity.RowIsValid(at)) {
      key += '\0';
      return;
    }
    const auto& value = duckdb::UnifiedVectorFormat::GetData<duckdb::string_t>(format_)[at];
    const auto size = static_cast<std::uint32_t>(value.GetSize());
    key += '\1';
    key.append(reinterpret_cast<const char*>(&size), sizeof size);
    key.append(value.GetData(), size);
  }
  std::string folder(idx_t row) const {
    const idx_t at = format_.sel->get_index(row);
    if (!format_.validity.RowIsValid(at)) return kNullFolder;
    return duckdb::HivePartitioning::Escape(
        duckdb::UnifiedVectorFormat::GetData<duckdb::string_t>(format_)[at].GetString());
  }

 private:
  duckdb::Vector text_;
  duckdb::UnifiedVectorFormat format_;
};

}  // namespace

EngineParquetFormat::EngineParquetFormat(std::shared_ptr<duckdb::Connection> connection,
                                         std::shared_ptr<const Schema> schema)
    : encoder_(std::make_shared<ParquetEncoder>()), view_(next_view()), slot_{std::move(schema), {}} {
  encoder_->connection = std::move(connection);
}

EngineParquetFormat::~EngineParquetFormat() {
  load_.reset();
  // The view points into this.
  (void)guarded([&]() -> SqlResult<void> {
    encoder_->connection->Query("DROP VIEW IF EXISTS temp." + view_);
    return {};
  });
}

Result<std::shared_ptr<EngineParquetFormat>> EngineParquetFormat::make(std::shared_ptr<duckdb::Connection> connection,
                                                                       std::shared_ptr<const Schema> schema,
                                                                       const ParquetOptions& options) {
  std::shared_ptr<EngineParquetFormat> format(new EngineParquetFormat(std::move(connection), std::move(schema)));
  AQ_TRY(format->find_keys(options.partition_by));
  auto planned = guarded([&]() -> SqlResult<void> {
    format->plan(options);
    return {};
  });
  if (!planned) return fail(std::move(planned).error().error);
  return format;
}

Result<void> EngineParquetFormat::find_keys(const std::vector<std::string>& names) {
  const Schema& schema = *slot_.schema;
  std::vector<std::string_view> there;
  for (std::size_t i = 0; i < schema.size(); ++i) there.push_back(schema.name(i));
  for (const std::string& name : names) {
    const auto equal = [&](std::string_view other) { return duckdb::StringUtil::CIEquals(name, std::string(other)); };
    const auto found = std::find_if(there.begin(), there.end(), equal);
    if (found == there.end()) {
      return fail(ErrorKind::config, "the rows have no column '{}' to partition by: they have {}", name,
                  fmt::join(there, ", "));
    }
    const auto column = static_cast<std::size_t>(found - there.begin());
    if (std::find(keys_.begin(), keys_.end(), column) != keys_.end()) {
      return fail(ErrorKind::config, "the column '{}' to partition by is named twice", name);
    }
    keys_.push_back(column);
  }
  if (keys_.size() == schema.size()) {
    return fail(ErrorKind::config, "no column is left to write: the rows have {}, and all are partitioned by",
                schema.size() == 0 ? "none" : fmt::format("{}", fmt::join(there, ", ")));
  }
  return {};
}

void EngineParquetFormat::plan(const ParquetOptions& options) {
  duckdb::Connection& connection = *encoder_->connection;
  create_batch_view(connection, view_, slot_);
  auto described = connection.Prepare("SELECT * FROM temp." + view_);
  if (described->HasError()) described->GetErrorObject().Throw();
  const auto types = described->GetTypes();
  std::vector<std::string> columns;
  duckdb::vector<duckdb::string> names;
  // By position: the view gives columns whose names differ only in case other names.
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (std::find(keys_.begin(), keys_.end(), i) != keys_.end()) continue;
    const LogicalType type = written_type(types[i]);
    columns.push_back(type == types[i] ? fmt::format("#{}", i + 1)
                                       : fmt::format("CAST(#{} AS {})", i + 1, type.ToString()));
    names.emplace_back(slot_.schema->name(i));
    encoder_->types.push_back(type);
  }
  for (const std::size_t key : keys_) columns.push_back(fmt::format("#{}", key + 1));
  load_ = connection.Prepare(fmt::format("SELECT {} FROM temp.{}", fmt::join(columns, ", "), view_));
  if (load_->HasError()) load_->GetErrorObject().Throw();

  encoder_->row_group_rows = options.row_group_rows;
  duckdb::CopyInfo info;
  info.format = "parquet";
  info.options["compression"] = {duckdb::Value(options.compression)};
  duckdb::ClientContext& context = *connection.context;
  context.RunFunctionInTransaction([&] {
    encoder_->function = duckdb::Catalog::GetSystemCatalog(context)
                             .GetEntry<duckdb::CopyFunctionCatalogEntry>(context, DEFAULT_SCHEMA, "parquet")
                             .function;
    duckdb::CopyFunctionBindInput input(info, encoder_->function.function_info);
    encoder_->bind = encoder_->function.copy_to_bind(context, input, names, encoder_->types);
  });
}

Result<std::vector<ParquetPart>> EngineParquetFormat::split(const RecordBatch& rows) {
  auto parts = guarded([&]() -> SqlResult<std::vector<ParquetPart>> {
    const auto loaded = load(rows);
    if (!keys_.empty()) return by_folder(loaded);
    return std::vector<ParquetPart>{{"", static_cast<std::uint64_t>(rows.rows()), loaded, {}}};
  });
  if (!parts) return fail(std::move(parts).error().error);
  return std::move(*parts);
}

std::shared_ptr<EngineChunks> EngineParquetFormat::load(const RecordBatch& rows) {
  auto out = std::make_shared<EngineChunks>();
  struct Lent {
    BatchSlot& slot;
    ~Lent() { slot.rows.clear(); }
  };
  slot_.rows = {rows};
  const Lent lent{slot_};
  duckdb::vector<duckdb::Value> none;
  auto result = load_->Execute(none, true);
  if (result->HasError()) result->ThrowError();
  std::uint32_t start = 0;
  for (;;) {
    auto chunk = result->Fetch();
    if (result->HasError()) result->ThrowError();
    if (!chunk || chunk->size() == 0) return out;
    out->starts.push_back(start);
    start += static_cast<std::uint32_t>(chunk->size());
    out->chunks.push_back(std::move(chunk));
  }
}

std::vector<ParquetPart> EngineParquetFormat::by_folder(const std::shared_ptr<EngineChunks>& rows) const {
  std::vector<ParquetPart> parts;
  std::unordered_map<std::string, std::size_t> numbers;
  std::string key;
  std::string last;
  std::size_t number = 0;
  for (std::size_t i = 0; i < rows->chunks.size(); ++i) {
    duckdb::DataChunk& chunk = *rows->chunks[i];
    std::vector<KeyColumn> columns;
    columns.reserve(keys_.size());
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      columns.emplace_back(chunk.data[encoder_->types.size() + k], chunk.size());
    }
    for (idx_t row = 0; row < chunk.size(); ++row) {
      key.clear();
      for (const KeyColumn& column : columns) column.append_to(key, row);
      if (parts.empty() || key != last) {
        const auto [found, added] = numbers.try_emplace(key, parts.size());
        number = found->second;
        if (added) {
          std::vector<std::string> folders;
          for (std::size_t k = 0; k < keys_.size(); ++k) {
            const std::string name(slot_.schema->name(keys_[k]));
            folders.push_back(duckdb::HivePartitioning::Escape(name) + "=" + columns[k].folder(row));
          }
          parts.push_back({fmt::format("{}", fmt::join(folders, "/")), 0, rows, {}});
        }
        last = key;
      }
      parts[number].rows += 1;
      parts[number].picked.push_back(rows->starts[i] + static_cast<std::uint32_t>(row));
    }
  }
  return parts;
}

}  // namespace aqueduck::sql
