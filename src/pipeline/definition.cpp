#include "pipeline/definition.h"

#include <algorithm>

#include "base/file.h"
#include "sql/database.h"

namespace aqueduck::pipeline {
namespace {

using config::Faults;
using config::Node;

constexpr int kMostThreads = 1'024;

const config::ObjectSpec<BatchConfig>& batch_spec() {
  static const config::ObjectSpec<BatchConfig> spec(
      "batch", "When a batch is handed to the SQL: at whichever of the three comes first.",
      {config::field("rows", &BatchConfig::rows, "Messages (or rows, where they need no decoding)."),
       config::field("bytes", &BatchConfig::bytes, "Bytes of the messages as they arrived."),
       config::field("interval", &BatchConfig::interval,
                     "Age of the batch's first message; fires without traffic, too.")});
  return spec;
}

const config::ObjectSpec<CommitConfig>& commit_spec() {
  static const config::ObjectSpec<CommitConfig> spec(
      "commit", "When the sink commits: at whichever comes first. Without it: what the sink's page says.",
      {config::field("rows", &CommitConfig::rows, "Rows written since the last commit."),
       config::field("bytes", &CommitConfig::bytes,
                     "Bytes written since the last commit: as Arrow, of a `parquet` sink as files."),
       config::field("interval", &CommitConfig::interval, "Age of the first row written since the last commit.")});
  return spec;
}

const config::ObjectSpec<RetryConfig>& retry_spec() {
  static const config::ObjectSpec<RetryConfig> spec(
      "retry", "How long to wait before a source or sink that can't be reached is tried again; doubles, with jitter.",
      {config::field("initial", &RetryConfig::initial, "The first wait."),
       config::field("max", &RetryConfig::max, "The longest wait."),
       config::field("give_up_after", &RetryConfig::give_up_after,
                     "Ends the pipeline (exit code 11 or 12) when trying has failed for so long. Without it: never.")});
  return spec;
}

const config::ObjectSpec<ErrorsConfig>& errors_spec() {
  const auto policy = [](const std::string& subject) {
    return std::vector<config::Choice<OnError>>{
        {"fail", OnError::fail, "The pipeline stops with exit code 1; " + subject + " is not acknowledged."},
        {"skip", OnError::skip, "It is counted, logged and left out."},
        {"dead_letter", OnError::dead_letter,
         "It goes to the `dead_letter` sink; the acknowledgement waits for that."}};
  };
  static const config::ObjectSpec<ErrorsConfig> spec(
      "errors", "What happens to what can't be processed.",
      {config::choice("decode", &ErrorsConfig::decode, policy("the message"), "A message that can't be decoded."),
       config::choice("sql", &ErrorsConfig::sql, policy("the batch"), "A batch on which the SQL fails."),
       config::field("dead_letter", &ErrorsConfig::dead_letter,
                     "A sink for failed messages: their payload byte for byte, where they came from, and why.")
           .example("{file: {path: dead.jsonl}}")});
  return spec;
}

const config::ObjectSpec<EngineConfig>& engine_spec() {
  static const config::ObjectSpec<EngineConfig> spec(
      "engine", "Limits of the SQL engine.",
      {config::field("threads", &EngineConfig::threads, "Threads that one statement may use; 1 to 1024."),
       config::field("memory", &EngineConfig::memory, "Memory limit of the engine. Default: 80 % of the machine's.")
           .example("1GiB"),
       config::field("temp_directory", &EngineConfig::temp_directory,
                     "Where large sorts and joins may spill. Without it they fail at the memory limit."),
       config::field("extension_directory", &EngineConfig::extension_directory,
                     "Where the engine's extensions are looked for.")});
  return spec;
}

struct AdminConfig {
  std::string listen;
};

const config::ObjectSpec<AdminConfig>& admin_spec() {
  static const config::ObjectSpec<AdminConfig> spec(
      "admin", "How the running pipeline can be watched over HTTP: /metrics, /healthz, /readyz, /stats.",
      {config::field("listen", &AdminConfig::listen,
                     "Address and port; a bare port is one of 127.0.0.1, port 0 any free one. There is no "
                     "authentication: only open it to those who may see everything here.")
           .required()
           .example("127.0.0.1:8080")});
  return spec;
}

// The file's own keys as written, before components are looked up.
struct Raw {
  std::string name;
  std::vector<Node> setup;
  Node source;
  Node decode;
  Node sql;
  Node sink;
  BatchConfig batch;
  RetryConfig retry;
  ErrorsConfig errors;
  EngineConfig engine;
  int workers = 1;
  std::optional<AdminConfig> admin;
  std::filesystem::path state;
  Duration drain = std::chrono::seconds(30);
};

const config::ObjectSpec<Raw>& raw_spec() {
  static const config::ObjectSpec<Raw> spec(
      "pipeline", "A pipeline file: a source, SQL over its batches, a sink.",
      {config::field("pipeline", &Raw::name,
                     "The pipeline's name: letters, digits, '-', '_' and '.'. Tokens and state carry it.")
           .required()
           .example("page-views"),
       config::field("setup", &Raw::setup, "SQL statements, run once before anything starts.")
           .example("[\"ATTACH 'cities.duckdb' AS dim (READ_ONLY)\"]"),
       config::field("source", &Raw::source, "Where data comes from: one source.")
           .required()
           .example("{file: {path: events.jsonl}}"),
       config::field("decode", &Raw::decode,
                     "How messages become rows: one decoder. Default: what the source's page says.")
           .example("{json: {}}"),
       config::object("batch", &Raw::batch, batch_spec(), "When a batch is handed on."),
       config::field("sql", &Raw::sql,
                     "SQL over the relation `batch`; several statements are allowed, the last one's rows go on.")
           .example("SELECT * FROM batch"),
       config::field("sink", &Raw::sink,
                     "Where rows go: one sink, and beside it `commit:` if its own rule doesn't fit.")
           .required()
           .example("{console: {}}"),
       config::object("errors", &Raw::errors, errors_spec(), "What happens to what can't be processed."),
       config::object("retry", &Raw::retry, retry_spec(), "Waits between attempts to reach a peer."),
       config::object("engine", &Raw::engine, engine_spec(), "Limits of the SQL engine."),
       config::field("workers", &Raw::workers,
                     "How many workers run beside one another, each with its share of the source's partitions and its "
                     "own batches: as many as there are cores to use. Order holds within a partition."),
       config::object("admin", &Raw::admin, admin_spec(), "Metrics, health and state over HTTP. Without it: none."),
       config::field(
           "state", &Raw::state,
           "Folder for what must outlive a restart: inferred schemas, start positions. Without it nothing is kept.")
           .example("./state"),
       config::field("drain", &Raw::drain, "How long a stop may take to deliver what was read.")});
  return spec;
}

std::optional<Address> read_admin(const AdminConfig& admin, const Node& root, Faults& faults) {
  if (admin.listen.empty()) return std::nullopt;  // a fault already
  auto address = parse_address(admin.listen);
  if (address) return std::move(*address);
  const Node* node = root.find("admin");
  const Node* field = node == nullptr ? nullptr : node->find("listen");
  faults.add(field == nullptr ? root.where : field->where, "{}", address.error().message);
  return std::nullopt;
}

bool valid_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

std::string component_name(const Node& node) {
  if (node.kind == Node::Kind::scalar) return node.text;
  return node.kind == Node::Kind::map && !node.entries.empty() ? node.entries.front().key : "";
}

// `commit:` stands beside the sink's own key.
Node without_commit(const Node& sink, std::optional<CommitConfig>& commit, Faults& faults) {
  Node rest = sink;
  std::erase_if(rest.entries, [&](const Node::Entry& entry) {
    if (entry.key != "commit") return false;
    commit = commit_spec().read(entry.value, faults);
    return true;
  });
  return rest;
}

void check_limits(const Raw& raw, const Node& root, Faults& faults) {
  const auto at = [&](const char* section, const char* key) {
    const Node* node = root.find(section);
    const Node* field = node == nullptr ? nullptr : node->find(key);
    return field == nullptr ? root.where : field->where;
  };
  if (raw.batch.rows.value == 0)
    faults.add(at("batch", "rows"), "a batch of 0 rows would never be handed on; use 1 or more");
  if (raw.batch.bytes.value == 0)
    faults.add(at("batch", "bytes"), "a batch of 0 bytes would never be handed on; use 1KiB or more");
  if (raw.engine.threads < 1 || raw.engine.threads > kMostThreads) {
    faults.add(at("engine", "threads"), "{} threads can't be had; use 1 to {}", raw.engine.threads, kMostThreads);
  }
  if (raw.workers < 1 || raw.workers > kMostWorkers)
    faults.add(root.find("workers")->where, "{} workers: use 1 to {}", raw.workers, kMostWorkers);
  if (raw.retry.initial.count() <= 0)
    faults.add(at("retry", "initial"), "a wait of 0 would try without a pause; use 10ms or more");
}

void check_files(const Definition& definition, const Node& dead_letter, Faults& faults) {
  if (definition.sink == nullptr || definition.dead_letter == nullptr) return;
  const auto rows = definition.sink->file(definition.directory);
  const auto letters = definition.dead_letter->file(definition.directory);
  if (rows.empty() || letters.empty() || resolved_path(rows) != resolved_path(letters)) return;
  std::error_code error;
  if (std::filesystem::exists(rows, error) && !std::filesystem::is_regular_file(rows, error)) return;  // a device
  const Node* settings = dead_letter.entries.empty() ? &dead_letter : &dead_letter.entries.front().value;
  const Node* path = settings->find("path");
  faults.add(path == nullptr ? settings->where : path->where,
             "the sink writes to {}, too, and one would write over the other's rows: use another file for dead letters",
             rows.string());
}

}  // namespace

Error with_engine_keys(Error error, const EngineConfig& engine) {
  if (error.kind != ErrorKind::limit || error.message.find(sql::kOutOfMemory) == std::string::npos) return error;
  error.message += "; raise `engine.memory`";
  if (engine.memory) error.message += fmt::format(" ({} now)", format_bytes(engine.memory->value));
  if (engine.temp_directory.empty()) error.message += ", or set `engine.temp_directory` so that it can spill to disk";
  if (engine.threads > 1) error.message += ", or lower `engine.threads`";
  return error;
}

const config::ObjectInfo& definition_info() { return raw_spec().info(); }
const config::ObjectInfo& commit_info() { return commit_spec().info(); }

std::optional<Definition> read_definition(const Node& root, const std::filesystem::path& file, const Registry& registry,
                                          Faults& faults) {
  const Raw raw = raw_spec().read(root, faults);
  Definition out;
  out.file = file;
  out.directory = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  out.name = raw.name;
  if (!raw.name.empty() && !valid_name(raw.name)) {
    faults.add(root.find("pipeline")->where,
               "'{}' is not a pipeline name: use letters, digits, '-', '_' and '.', at most 100", raw.name);
  }
  check_limits(raw, root, faults);
  for (const Node& node : raw.setup) {
    if (node.kind != Node::Kind::scalar)
      faults.add(node.where, "a setup statement is SQL text, not {}", config::describe(node.kind));
    out.setup.push_back({node.text, node});
  }
  if (root.find("sql") != nullptr) {
    if (raw.sql.kind != Node::Kind::scalar)
      faults.add(raw.sql.where, "sql is text, not {}", config::describe(raw.sql.kind));
    out.sql = Statement{raw.sql.text, raw.sql};
  }
  if (root.find("source") != nullptr) out.source = registry.source(raw.source, faults);
  out.source_name = component_name(raw.source);
  if (const Node* decode = root.find("decode"); decode != nullptr) {
    out.decoder = registry.decoder(raw.decode, faults);
    out.decoder_name = component_name(raw.decode);
    if (out.source != nullptr && out.source->gives_rows()) {
      faults.add(decode->where, "the source '{}' gives rows here, there is nothing to decode; remove `decode:`",
                 out.source_name);
    }
  } else if (out.source != nullptr && !out.source->gives_rows()) {
    Node standard;
    standard.kind = Node::Kind::scalar;
    standard.where = root.where;
    standard.text = out.source->default_decoder();
    out.decoder = registry.decoder(standard, faults);
    out.decoder_name = standard.text;
  }
  if (root.find("sink") != nullptr) {
    if (raw.sink.kind == Node::Kind::list) {
      faults.add(raw.sink.where, "a list of sinks needs a journal, which isn't there yet; name one sink");
    } else {
      const Node sink = without_commit(raw.sink, out.commit, faults);
      out.sink = registry.sink(sink, faults);
      out.sink_name = component_name(sink);
    }
  }
  const bool wants_dead_letter = raw.errors.decode == OnError::dead_letter || raw.errors.sql == OnError::dead_letter;
  if (raw.errors.dead_letter.kind != Node::Kind::null) {
    out.dead_letter = registry.sink(raw.errors.dead_letter, faults);
    if (!wants_dead_letter) out.dead_letter.reset();
  } else if (wants_dead_letter) {
    const Node* errors = root.find("errors");
    faults.add(errors->where,
               "errors: {{…: dead_letter}} needs a sink, like dead_letter: {{file: {{path: dead.jsonl}}}}");
  }
  check_files(out, raw.errors.dead_letter, faults);
  out.batch = raw.batch;
  out.retry = raw.retry;
  out.errors = raw.errors;
  out.engine = raw.engine;
  out.workers = raw.workers;
  out.drain = raw.drain;
  if (raw.admin) out.admin = read_admin(*raw.admin, root, faults);
  if (!raw.state.empty()) out.state = raw.state.is_absolute() ? raw.state : out.directory / raw.state;
  if (!faults.empty()) return std::nullopt;
  return out;
}

Result<Definition> load_definition(const std::filesystem::path& file, const Registry& registry,
                                   const LoadOptions& options) {
  Faults faults;
  auto root = config::load_file(file, options.environment, faults);
  if (!root) return fail(faults.to_error());
  for (const std::string& assignment : options.overrides) config::set_path(*root, assignment, faults);
  auto definition = read_definition(*root, file, registry, faults);
  if (!definition) return fail(faults.to_error());
  return std::move(*definition);
}

}  // namespace aqueduck::pipeline
