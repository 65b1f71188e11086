#include "golden/attempt.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/file.h"
#include "base/log.h"
#include "golden/memory_source.h"
#include "pipeline/runner.h"

namespace aqueduck::golden {
namespace {

namespace fs = std::filesystem;

config::Environment environment_of(const Case& test) {
  return [&test, process = config::process_environment()](const std::string& name) -> std::optional<std::string> {
    if (const auto found = test.config.env.find(name); found != test.config.env.end()) return found->second;
    return process(name);
  };
}

// Where the file's own source needs no decoder but the input is messages, or the other way round.
Result<void> fit_decoder(pipeline::Definition& definition, const Input& input, const Registry& registry) {
  if (input.gives_rows) {
    definition.decoder.reset();
    return {};
  }
  if (definition.decoder != nullptr) return {};
  config::Node node;
  node.kind = config::Node::Kind::scalar;
  node.text = definition.decoder_name = input.decoder;
  config::Faults faults;
  definition.decoder = registry.decoder(node, faults);
  if (!faults.empty()) return fail(faults.to_error());
  return {};
}

// Asks a run that takes too long to stop. Lives as long as the run.
class Deadline {
 public:
  Deadline(pipeline::Runner& runner, Duration limit)
      : thread_([this, &runner, limit] {
          std::unique_lock lock(mutex_);
          if (changed_.wait_for(lock, limit, [this] { return ended_; })) return;
          passed_ = true;
          runner.request_drain();
        }) {}
  ~Deadline() { end(); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  /// Whether it passed.
  bool end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
    return passed_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  bool passed_ = false;
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<Workspace>> Workspace::make(const Case& test) {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "aqueduck-test-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr) {
    return fail(ErrorKind::io, "cannot make a temporary folder {}", name);
  }
  std::unique_ptr<Workspace> out(new Workspace(name));
  out->folder_ = test.folder;
  if (test.config.sink == SinkChoice::real) {
    out->folder_ = out->root_ / "case";
    fs::copy(test.folder, out->folder_, fs::copy_options::recursive, error);
    if (error) return fail(ErrorKind::io, "cannot copy {}: {}", test.folder.string(), error.message());
  }
  AQ_TRY(make_folders(out->state()));
  return out;
}

Workspace::~Workspace() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

Result<Attempt> run_once(const Case& test, const Input* input, Workspace& workspace, const Registry& registry,
                         StopPlan& plan, std::uint64_t messages_before) {
  Attempt out;
  auto definition =
      pipeline::load_definition(workspace.folder() / "pipeline.yml", registry, {test.config.set, environment_of(test)});
  if (!definition) {
    out.failure = pipeline::Failure{pipeline::ExitCode::config, std::move(definition).error()};
    return out;
  }
  definition->workers = 1;  // the order of what comes out is part of the case
  out.keeps_state = !definition->state.empty();
  if (out.keeps_state) definition->state = workspace.state();

  FakeClock clock;
  pipeline::Overrides overrides;
  if (input != nullptr) {
    AQ_TRY(fit_decoder(*definition, *input, registry));
    overrides.clock = &clock;
    overrides.source = [&](const ComponentContext&) {
      return std::make_unique<MemorySource>(*input, test.config.clock, clock);
    };
  }
  const bool real = test.config.sink == SinkChoice::real;
  overrides.sink = [&](const ComponentContext& context) -> std::unique_ptr<Sink> {
    auto inner = real ? definition->sink->make(context) : std::make_unique<MemorySink>(workspace.rows);
    return std::make_unique<StoppingSink>(std::move(inner), plan);
  };
  // Where a batch has no rows, dead letters are the first thing that becomes durable.
  StopPlan letters_plan;
  if (plan.when == StopPlan::When::before_first_commit) letters_plan.when = plan.when;
  overrides.dead_letter = [&](const ComponentContext& context) -> std::unique_ptr<Sink> {
    auto inner = real ? definition->dead_letter->make(context) : std::make_unique<MemorySink>(workspace.dead_letters);
    return std::make_unique<StoppingSink>(std::move(inner), letters_plan);
  };
  pipeline::RunLimits limits;
  if (test.config.max_messages) {
    limits.max_messages = test.config.max_messages->value - std::min(messages_before, test.config.max_messages->value);
  }

  pipeline::Runner runner(*definition, limits, std::move(overrides));
  plan.drain = [&runner] { runner.request_drain(); };
  Deadline deadline(runner, test.config.timeout);
  auto result = runner.run();
  if (deadline.end()) {
    return fail(ErrorKind::limit, "the run didn't end within {}; raise `timeout:`, or bound it with `max_messages:`",
                format_duration(test.config.timeout));
  }
  if (!result) out.failure = std::move(result).error();
  plan.stopped = plan.stopped || letters_plan.stopped;
  out.messages = runner.stats().messages.load();
  out.output = runner.output();
  return out;
}

}  // namespace aqueduck::golden
