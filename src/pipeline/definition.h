#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "component/registry.h"
#include "config/loader.h"
#include "config/object_spec.h"

namespace aqueduck::pipeline {

/// What happens to a message, or a batch, that fails.
enum class OnError { fail, skip, dead_letter };

struct BatchConfig {
  config::Count rows{122'880};
  config::Bytes bytes{64ULL << 20U};
  Duration interval = std::chrono::seconds(1);
};

/// More would only add memory: each has its batch, its connection and its part of the source.
inline constexpr int kMostWorkers = 256;

struct CommitConfig {
  std::optional<config::Count> rows;
  std::optional<config::Bytes> bytes;
  std::optional<Duration> interval;
};

struct RetryConfig {
  Duration initial = std::chrono::milliseconds(200);
  Duration max = std::chrono::seconds(30);
  std::optional<Duration> give_up_after;
};

struct ErrorsConfig {
  OnError decode = OnError::fail;
  OnError sql = OnError::fail;
  config::Node dead_letter;
};

struct EngineConfig {
  int threads = 1;
  std::optional<config::Bytes> memory;
  std::filesystem::path temp_directory;
  std::filesystem::path extension_directory;
};

/// Names the keys that a user can change where the engine ran out of memory; other errors stay as they are.
Error with_engine_keys(Error error, const EngineConfig& engine);

/// A text of the file with the place where it stands, for errors in it.
struct Statement {
  std::string text;
  config::Node node;
};

/// A pipeline file, parsed and checked as far as that goes without any I/O but reading it.
struct Definition {
  std::string name;
  std::filesystem::path file;
  std::filesystem::path directory;  ///< relative paths start here
  std::vector<Statement> setup;
  std::unique_ptr<SourceFactory> source;
  std::unique_ptr<DecoderFactory> decoder;  ///< null where the source gives rows
  std::optional<Statement> sql;
  std::unique_ptr<SinkFactory> sink;
  std::unique_ptr<SinkFactory> dead_letter;  ///< null where no policy needs it
  std::string source_name;
  std::string decoder_name;
  std::string sink_name;
  BatchConfig batch;
  std::optional<CommitConfig> commit;
  RetryConfig retry;
  ErrorsConfig errors;
  EngineConfig engine;
  int workers = 1;
  std::optional<Address> admin;  ///< where the pipeline's state is served over HTTP
  std::filesystem::path state;   ///< empty: none
  Duration drain = std::chrono::seconds(30);
};

/// The table of the file's own keys, for schema and docs. `source`, `decode` and `sink` are components.
const config::ObjectInfo& definition_info();
/// The table of `commit:`, which stands beside the sink's key.
const config::ObjectInfo& commit_info();

/// Reads a tree. Everything wrong with it becomes a fault; nullopt if there is any. `file` is what relative paths and
/// the default name come from.
std::optional<Definition> read_definition(const config::Node& root, const std::filesystem::path& file,
                                          const Registry& registry, config::Faults& faults);

struct LoadOptions {
  std::vector<std::string> overrides;  ///< key.path=value
  config::Environment environment = config::process_environment();
};
/// Loads, overrides and reads a file; the error holds all faults.
Result<Definition> load_definition(const std::filesystem::path& file, const Registry& registry,
                                   const LoadOptions& options);

}  // namespace aqueduck::pipeline
