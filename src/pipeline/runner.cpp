#include "pipeline/runner.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/log.h"

namespace aqueduck::pipeline {
namespace {

tl::unexpected<Failure> failed(ExitCode code, Error error) {
  return tl::make_unexpected(Failure{code, std::move(error)});
}

Result<void> run_setup(const Definition& definition, sql::Session& session) {
  for (const Statement& statement : definition.setup) {
    if (auto done = session.execute(statement.text); !done) {
      const auto& error = done.error();
      const config::Location where = error.offset ? statement.node.at(*error.offset) : statement.node.where;
      return fail(with_context(error.error, where.to_string()));
    }
  }
  return {};
}

}  // namespace

tl::expected<Engine, Failure> open_engine(const Definition& definition) {
  sql::DatabaseOptions options;
  options.threads = definition.engine.threads;
  if (definition.engine.memory) options.memory_limit = definition.engine.memory->value;
  options.temp_directory = definition.engine.temp_directory;
  options.extension_directory = definition.engine.extension_directory;
  auto database = sql::Database::open(options);
  if (!database) return failed(ExitCode::config, std::move(database).error());
  auto session = (*database)->connect();
  if (!session) return failed(ExitCode::stopped, std::move(session).error());
  if (auto done = run_setup(definition, **session); !done) {
    const ErrorKind kind = done.error().kind;
    return failed(kind == ErrorKind::limit ? ExitCode::limit : ExitCode::config, std::move(done).error());
  }
  return Engine{std::move(*database), std::move(*session)};
}

Runner::Runner(const Definition& definition, RunLimits limits, Overrides overrides)
    : definition_(definition), limits_(limits), overrides_(std::move(overrides)) {}

Runner::~Runner() = default;

tl::expected<void, Failure> Runner::prepare() {
  auto engine = open_engine(definition_);
  if (!engine) return tl::make_unexpected(std::move(engine).error());
  database_ = std::move(engine->database);
  context_ = ComponentContext{definition_.name, definition_.directory, definition_.state, database_.get(), 0, 1};

  auto state = StateFile::open(definition_.state, definition_.name);
  if (!state) {
    return failed(state.error().kind == ErrorKind::conflict ? ExitCode::conflict : ExitCode::config,
                  std::move(state).error());
  }
  state_ = std::move(*state);
  auto decoder = definition_.decoder == nullptr ? nullptr : definition_.decoder->make(context_);
  transform_ = std::make_unique<Transform>(definition_, std::move(decoder), std::move(engine->session));
  if (auto prepared = transform_->prepare(state_.decoder_schema); !prepared) {
    const bool conflict = prepared.error().kind == ErrorKind::conflict;
    return failed(conflict ? ExitCode::conflict : ExitCode::config, std::move(prepared).error());
  }
  output_ = transform_->output();
  return {};
}

std::shared_ptr<const Schema> Runner::output() const { return output_; }

tl::expected<void, Failure> Runner::run() {
  if (auto prepared = prepare(); !prepared) return prepared;
  Worker::Parts parts;
  parts.definition = &definition_;
  parts.source = overrides_.source ? overrides_.source(context_) : definition_.source->make(context_);
  parts.sink = overrides_.sink ? overrides_.sink(context_) : definition_.sink->make(context_);
  if (definition_.dead_letter != nullptr) {
    parts.dead_letters = std::make_unique<DeadLetters>(definition_.name, overrides_.dead_letter
                                                                             ? overrides_.dead_letter(context_)
                                                                             : definition_.dead_letter->make(context_));
  }
  parts.transform = std::move(transform_);
  parts.state = &state_;
  parts.stats = &stats_;
  parts.clock = overrides_.clock == nullptr ? &Clock::system() : overrides_.clock;
  parts.limits = limits_;
  worker_ = std::make_unique<Worker>(std::move(parts));
  started_ = worker_.get();

  // Watches over the deadline of a stop. It ends when `ended` is set; the drain request may come at any time.
  std::mutex mutex;
  std::condition_variable_any changed;
  bool ended = false;
  std::jthread deadline([&](const std::stop_token&) {
    std::unique_lock lock(mutex);
    std::stop_token drain = drain_.get_token();
    changed.wait(lock, drain, [&] { return ended; });
    if (ended) return;
    if (changed.wait_for(lock, definition_.drain, [&] { return ended; })) return;
    log::warn("not everything was delivered within the drain time of {}", format_duration(definition_.drain));
    abort_.request_stop();
    worker_->interrupt();
  });
  auto result = worker_->run(drain_.get_token(), abort_.get_token());
  {
    const std::lock_guard lock(mutex);
    ended = true;
  }
  changed.notify_all();
  return result;
}

Result<Positions> Runner::end_positions() const {
  const Worker* worker = started_;
  if (worker == nullptr) return fail(ErrorKind::cancelled, "the source can't be asked now");
  return worker->end_positions();
}

void Runner::request_drain() { drain_.request_stop(); }

std::string guarantee(const Definition& definition) {
  const SinkTraits traits = definition.sink->traits();
  if (traits.holds_token) {
    return fmt::format("exactly-once: the sink '{}' stores the source's positions in the same transaction as the rows",
                       definition.sink_name);
  }
  if (!traits.guarantee.empty()) return traits.guarantee;
  return fmt::format("at-least-once: the sink '{}' can't store positions with the rows", definition.sink_name);
}

}  // namespace aqueduck::pipeline
