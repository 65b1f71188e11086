#include "pipeline/runner.h"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/log.h"
#include "pipeline/attached_files.h"

namespace aqueduck::pipeline {
namespace {

// Components hand paths to the engine, too, which must not make them relative to the folder once more.
std::filesystem::path whole(const std::filesystem::path& folder) {
  if (folder.empty()) return {};
  std::error_code error;
  auto out = std::filesystem::absolute(folder, error);
  return error ? folder : out.lexically_normal();
}

Error located(const Definition& definition, const Statement& statement, const sql::SqlError& error) {
  const config::Location where = error.offset ? statement.node.at(*error.offset) : statement.node.where;
  return with_context(with_engine_keys(error.error, definition.engine), where.to_string());
}

Result<void> run_all(const Definition& definition, const std::vector<Statement>& statements, sql::Session& session) {
  for (const Statement& statement : statements) {
    if (auto done = session.execute(statement.text); !done) return fail(located(definition, statement, done.error()));
  }
  return {};
}

template <typename Work>
tl::expected<std::jthread, Failure> start_thread(const Definition& definition, Work work) {
  try {
    return std::jthread(std::move(work));
  } catch (const std::system_error& error) {  // the engine's may be all that the machine has
    return failed(ExitCode::limit,
                  make_error(ErrorKind::limit,
                             "cannot start another thread ({}): lower `engine.threads`, which is {}, or `workers`, "
                             "which is {}, or raise what the process may have",
                             error.code().message(), definition.engine.threads, definition.workers));
  }
}

/// Of the file's own source, before it is opened; nullopt where a test puts another in its place.
std::optional<SourceTraits> source_traits(const Definition& definition) {
  if (definition.source == nullptr) return std::nullopt;
  return definition.source->make({})->traits();
}

/// What of `setup:` each connection must run for itself.
Result<std::vector<Statement>> connection_setup(const Definition& definition, sql::Session& session) {
  std::vector<Statement> out;
  for (const Statement& statement : definition.setup) {
    auto local = session.connection_statements(statement.text);
    if (!local) return fail(located(definition, statement, local.error()));
    for (std::string& text : *local) out.push_back({std::move(text), statement.node});
  }
  return out;
}

}  // namespace

tl::expected<Engine, Failure> open_engine(const Definition& definition) {
  sql::DatabaseOptions options;
  options.threads = definition.engine.threads;
  if (definition.engine.memory) options.memory_limit = definition.engine.memory->value;
  options.temp_directory = definition.engine.temp_directory;
  options.extension_directory = definition.engine.extension_directory;
  if (!definition.file.empty()) options.folder = whole(definition.directory);
  auto database = sql::Database::open(options);
  if (!database) return failed(ExitCode::config, std::move(database).error());
  auto session = (*database)->connect();
  if (!session) return failed(ExitCode::stopped, std::move(session).error());
  if (auto free = check_attached_files(definition, **session); !free)
    return failed(ExitCode::config, std::move(free).error());
  if (auto done = run_all(definition, definition.setup, **session); !done) {
    const ErrorKind kind = done.error().kind;
    return failed(kind == ErrorKind::limit ? ExitCode::limit : ExitCode::config, std::move(done).error());
  }
  return Engine{std::move(*database), std::move(*session)};
}

Runner::Runner(const Definition& definition, RunLimits limits, Overrides overrides, std::function<void()> stuck)
    : definition_(definition), limits_(limits), overrides_(std::move(overrides)), stuck_(std::move(stuck)) {
  for (int i = 0; i < definition_.workers; ++i) stats_.push_back(std::make_unique<Stats>());
}

Runner::~Runner() = default;

ComponentContext Runner::context_of(int worker) const {
  ComponentContext context = context_;
  context.worker = worker;
  context.workers = definition_.workers;
  return context;
}

tl::expected<std::unique_ptr<Transform>, Failure> Runner::make_transform(int worker,
                                                                         std::unique_ptr<sql::Session> session) {
  auto decoder = definition_.decoder == nullptr ? nullptr : definition_.decoder->make(context_of(worker));
  auto transform = std::make_unique<Transform>(definition_, std::move(decoder), std::move(session), columns_);
  if (auto prepared = transform->prepare(); !prepared) {
    const bool conflict = prepared.error().kind == ErrorKind::conflict;
    return failed(conflict ? ExitCode::conflict : ExitCode::config, std::move(prepared).error());
  }
  return transform;
}

tl::expected<void, Failure> Runner::prepare() {
  auto engine = open_engine(definition_);
  if (!engine) return tl::make_unexpected(std::move(engine).error());
  database_ = std::move(engine->database);
  context_ =
      ComponentContext{definition_.name, whole(definition_.directory), whole(definition_.state), database_.get(), 0, 1};

  auto state = StateFile::open(definition_.state, definition_.name);
  if (!state) {
    return failed(state.error().kind == ErrorKind::conflict ? ExitCode::conflict : ExitCode::config,
                  std::move(state).error());
  }
  state_ = std::move(*state);
  if (const std::string saved = state_->decoder_schema(); !saved.empty()) {
    SharedColumns::Hold(columns_).publish(saved);
  }
  if (definition_.workers > 1) {
    if (auto local = connection_setup(definition_, *engine->session); !local) {
      return failed(ExitCode::config, std::move(local).error());
    }
  }
  auto transform = make_transform(0, std::move(engine->session));
  if (!transform) return tl::make_unexpected(std::move(transform).error());
  first_transform_ = std::move(*transform);
  output_ = first_transform_->output();
  writes_ = first_transform_->writes();
  return {};
}

std::shared_ptr<const Schema> Runner::output() const { return output_; }

std::vector<std::string> Runner::notes() const {
  std::vector<std::string> notes;
  if (definition_.workers > 1 && writes_) {
    notes.push_back(fmt::format(
        "the SQL has statements that write, and {} workers run it at the same time, in no order among one another",
        definition_.workers));
  }
  if (definition_.workers > 1 && definition_.source != nullptr && !definition_.source->divisible()) {
    notes.push_back(fmt::format("the source '{}' can't be divided: one of the {} workers gets all of it",
                                definition_.source_name, definition_.workers));
  }
  const auto source = source_traits(definition_);
  if (source && source->replayable && !source->finite && !source->stores_positions &&
      !definition_.sink->traits().holds_token && definition_.state.empty()) {
    notes.push_back(
        fmt::format("nothing keeps the positions of the source '{}': a restart begins where its configuration says; "
                    "set `state:` to have it go on where it stopped",
                    definition_.source_name));
  }
  return notes;
}

std::vector<std::unique_ptr<Sink>> Runner::make_sinks(const MakeSink& make, const SinkTraits& traits) {
  std::vector<std::unique_ptr<Sink>> sinks;
  if (definition_.workers > 1 && !traits.many_writers) {
    shared_sinks_.push_back(std::make_unique<SharedSink>(make(context_of(0))));
    for (int i = 0; i < definition_.workers; ++i) sinks.push_back(shared_sinks_.back()->port());
  } else {
    for (int i = 0; i < definition_.workers; ++i) sinks.push_back(make(context_of(i)));
  }
  return sinks;
}

tl::expected<void, Failure> Runner::make_workers() {
  Clock& clock = overrides_.clock == nullptr ? Clock::system() : *overrides_.clock;
  quota_.emplace(limits_, definition_.workers, clock.now());
  const auto or_else = [](const MakeSink& first, const auto& factory) -> MakeSink {
    if (first) return first;
    return [&factory](const ComponentContext& context) { return factory->make(context); };
  };
  auto sinks = make_sinks(or_else(overrides_.sink, definition_.sink), definition_.sink->traits());
  const bool topics = definition_.source != nullptr && definition_.source->names_topics();
  std::vector<std::unique_ptr<Sink>> dead_letters;
  if (definition_.dead_letter != nullptr) {
    dead_letters =
        make_sinks(or_else(overrides_.dead_letter, definition_.dead_letter), definition_.dead_letter->traits());
  }
  for (int i = 0; i < definition_.workers; ++i) {
    const auto index = static_cast<std::size_t>(i);
    Worker::Parts parts;
    parts.definition = &definition_;
    parts.source = overrides_.source ? overrides_.source(context_of(i)) : definition_.source->make(context_of(i));
    parts.sink = std::move(sinks[index]);
    if (!dead_letters.empty()) {
      parts.dead_letters = std::make_unique<DeadLetters>(definition_.name, topics, std::move(dead_letters[index]));
    }
    if (i == 0) {
      parts.transform = std::move(first_transform_);
    } else {
      auto session = database_->connect();
      if (!session) return failed(ExitCode::stopped, std::move(session).error());
      auto local = connection_setup(definition_, **session);
      if (!local) return failed(ExitCode::config, std::move(local).error());
      if (auto done = run_all(definition_, *local, **session); !done)
        return failed(ExitCode::config, std::move(done).error());
      auto transform = make_transform(i, std::move(*session));
      if (!transform) return tl::make_unexpected(std::move(transform).error());
      parts.transform = std::move(*transform);
    }
    parts.state = state_.get();
    parts.stats = stats_[index].get();
    parts.clock = &clock;
    parts.quota = &*quota_;
    workers_.push_back(std::make_unique<Worker>(std::move(parts)));
  }
  return {};
}

tl::expected<void, Failure> Runner::run_workers() {
  std::mutex mutex;
  std::optional<Failure> failure;  // the first one: what follows may come of it
  const auto work = [&](Worker& worker) {
    auto result = worker.run(drain_.get_token(), abort_.get_token());
    if (result) return;
    const std::lock_guard lock(mutex);
    if (failure) {
      log::warn("another worker: {}", result.error().error.message);
      return;
    }
    failure = std::move(result).error();
    drain_.request_stop();
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < workers_.size(); ++i) {
    auto thread = start_thread(definition_, [&, i] { work(*workers_[i]); });
    if (!thread) {
      drain_.request_stop();
      threads.clear();  // joins them
      return tl::make_unexpected(std::move(thread).error());
    }
    threads.push_back(std::move(*thread));
  }
  work(*workers_.front());
  threads.clear();
  if (failure) return tl::make_unexpected(std::move(*failure));
  return {};
}

tl::expected<void, Failure> Runner::run_prepared() {
  // Before the state is read.
  const auto state_lock = lock_state(definition_.state);
  if (!state_lock) {
    return failed(state_lock.error().kind == ErrorKind::conflict ? ExitCode::conflict : ExitCode::config,
                  state_lock.error());
  }
  if (auto prepared = prepare(); !prepared) return prepared;
  for (const std::string& note : notes()) log::warn("{}", note);
  if (auto made = make_workers(); !made) return made;
  started_ = true;
  return run_workers();
}

tl::expected<void, Failure> Runner::run() {
  // Watches over the deadline of a stop. It ends when `ended` is set; the drain request may come at any time. It never
  // logs: the line may be what blocks.
  std::mutex mutex;
  std::condition_variable_any changed;
  bool ended = false;
  const auto watch = [&] {
    std::unique_lock lock(mutex);
    std::stop_token drain = drain_.get_token();
    changed.wait(lock, drain, [&] { return ended; });
    if (ended) return;
    if (changed.wait_for(lock, definition_.drain, [&] { return ended; })) return;
    abort_.request_stop();
    if (started_) {
      for (const auto& worker : workers_) worker->interrupt();
    }
    if (changed.wait_for(lock, kAbortGrace, [&] { return ended; })) return;
    if (stuck_) stuck_();
  };
  auto deadline = start_thread(definition_, watch);
  if (!deadline) return tl::make_unexpected(std::move(deadline).error());
  auto result = run_prepared();
  {
    const std::lock_guard lock(mutex);
    ended = true;
  }
  changed.notify_all();
  if (!result && result.error().code == ExitCode::drain_incomplete) {
    result.error().error = with_context(
        std::move(result.error().error),
        fmt::format("not everything was delivered within the drain time of {}", format_duration(definition_.drain)));
  }
  return result;
}

StatsSnapshot Runner::snapshot() const {
  std::vector<StatsSnapshot> workers;
  workers.reserve(stats_.size());
  for (const auto& stats : stats_) workers.push_back(pipeline::snapshot(*stats));
  return merged(workers);
}

Result<Positions> Runner::end_positions() const {
  Positions out;
  bool asked = false;
  if (started_) {
    for (const auto& worker : workers_) {
      auto ends = worker->end_positions();
      if (!ends && ends.error().kind == ErrorKind::cancelled) continue;
      if (!ends) return ends;
      asked = true;
      out.merge(*ends);
    }
  }
  if (!asked) return fail(ErrorKind::cancelled, "the source can't be asked now");
  return out;
}

void Runner::request_drain() { drain_.request_stop(); }

std::string guarantee(const Definition& definition) {
  const SinkTraits traits = definition.sink->traits();
  if (const auto source = source_traits(definition); source && !source->replayable) {
    return fmt::format(
        "best effort: the source '{}' can't be read again, so a crash loses what was read and not yet committed",
        definition.source_name);
  }
  if (traits.holds_token) {
    return fmt::format("exactly-once: the sink '{}' stores the source's positions in the same transaction as the rows",
                       definition.sink_name);
  }
  if (!traits.guarantee.empty()) return traits.guarantee;
  return fmt::format("at-least-once: the sink '{}' can't store positions with the rows", definition.sink_name);
}

}  // namespace aqueduck::pipeline
