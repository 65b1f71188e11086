#include "golden/attempt.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/file.h"
#include "base/log.h"
#include "golden/memory_source.h"
#include "pipeline/runner.h"
#include "sql/database.h"

namespace aqueduck::golden {
namespace {

namespace fs = std::filesystem;

// Values of the case may name the scratch folder, which is another one at every run.
std::string placed(std::string text, const Workspace& workspace) {
  const std::string folder = workspace.scratch().string();
  for (std::size_t at = text.find(kScratch); at != std::string::npos; at = text.find(kScratch, at + folder.size())) {
    text.replace(at, kScratch.size(), folder);
  }
  return text;
}

config::Environment environment_of(const Case& test, const Workspace& workspace) {
  return [&, process = config::process_environment()](const std::string& name) -> std::optional<std::string> {
    const auto found = test.config.env.find(name);
    return found == test.config.env.end() ? process(name) : placed(found->second, workspace);
  };
}

std::vector<std::string> overrides_of(const Case& test, const Workspace& workspace) {
  std::vector<std::string> out;
  out.reserve(test.config.set.size());
  for (const std::string& text : test.config.set) out.push_back(placed(text, workspace));
  return out;
}

// The pipeline's own sinks, moved into the case's folder.
struct Rehearsals {
  Rehearsal sink;
  Rehearsal dead_letter;
};

Result<Rehearsals> rehearse(const Case& test, const pipeline::Definition& definition, const Workspace& workspace) {
  Rehearsals out;
  out.sink = definition.sink->rehearse(workspace.folder());
  if (out.sink.sink == nullptr) {
    return fail(ErrorKind::config, "'sink: real': the sink '{}' leaves nothing to compare; leave that line out",
                definition.sink_name);
  }
  const bool blind = out.sink.contents == nullptr && test.config.query.empty() && test.config.files.empty();
  if (blind && !test.config.errors) {
    return fail(ErrorKind::config,
                "'sink: real': what the sink '{}' wrote can't be found by itself; say how to read it in case.yml: "
                "`query: SELECT … FROM …`",
                definition.sink_name);
  }
  if (definition.dead_letter != nullptr) out.dead_letter = definition.dead_letter->rehearse(workspace.folder());
  return out;
}

Result<SinkContents> held_by(const Rehearsal& rehearsal, const MemoryStore& store) {
  if (rehearsal.contents != nullptr) return rehearsal.contents();
  return SinkContents{SinkContents::Form::rows, store.rows, {}};
}

bool is_name(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool mentions_sink(std::string_view query) {
  constexpr std::string_view kName = "sink";
  for (std::size_t at = query.find(kName); at != std::string_view::npos; at = query.find(kName, at + 1)) {
    const bool begins = at == 0 || (!is_name(query[at - 1]) && query[at - 1] != '.');
    const std::size_t end = at + kName.size();
    if (begins && (end == query.size() || !is_name(query[end]))) return true;
  }
  return false;
}

// In the pipeline's own engine, so that what `setup:` attached is there.
Result<SinkContents> ask(const std::string& query, const SinkContents& held, sql::Database& database) {
  const auto failed = [](const sql::SqlError& error) { return fail(with_context(error.error, "query")); };
  AQ_ASSIGN(const auto session, database.connect());
  SinkContents out;
  if (!mentions_sink(query)) {
    auto rows = sql::collect(*session, query);
    if (!rows) return failed(rows.error());
    out.rows = std::move(*rows);
    return out;
  }
  if (held.form != SinkContents::Form::rows) {
    return fail(ErrorKind::config, "query: the sink writes text, which has no columns to ask for; leave `query` out");
  }
  if (held.rows.empty()) return out;
  const std::string columns = held.rows.front().schema->fingerprint();
  for (const RecordBatch& batch : held.rows) {
    if (batch.schema->fingerprint() == columns) continue;
    return fail(ErrorKind::config, "query: the rows' columns change on the way, so there is no one relation to ask");
  }
  auto script = session->script(query, "sink");
  if (!script) return failed(script.error());
  auto done = (*script)->run(held.rows, [&](const RecordBatch& batch) -> Result<void> {
    if (batch.rows() > 0) out.rows.push_back(batch);
    return {};
  });
  if (!done) return failed(done.error());
  return out;
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
    out->folder_ = out->scratch();
    fs::copy(test.folder, out->folder_, fs::copy_options::recursive, error);
    if (error) return fail(ErrorKind::io, "cannot copy {}: {}", test.folder.string(), error.message());
  } else {
    AQ_TRY(make_folders(out->scratch()));
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
  auto definition = pipeline::load_definition(workspace.folder() / "pipeline.yml", registry,
                                              {overrides_of(test, workspace), environment_of(test, workspace)});
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
    overrides.source = [&](const ComponentContext& context) {
      const bool group = definition->source->make(context)->traits().stores_positions;
      return std::make_unique<MemorySource>(*input, test.config.clock, clock, group ? &workspace.group : nullptr);
    };
  }
  Rehearsals rehearsals;
  if (test.config.sink == SinkChoice::real) {
    AQ_ASSIGN(rehearsals, rehearse(test, *definition, workspace));
  }
  const auto make_sink = [](const Rehearsal& rehearsal, MemoryStore& store, const ComponentContext& context) {
    return rehearsal.sink == nullptr ? std::make_unique<MemorySink>(store) : rehearsal.sink->make(context);
  };
  overrides.sink = [&](const ComponentContext& context) -> std::unique_ptr<Sink> {
    return std::make_unique<StoppingSink>(make_sink(rehearsals.sink, workspace.rows, context), plan);
  };
  // Where a batch has no rows, dead letters are the first thing that becomes durable.
  StopPlan letters_plan;
  if (plan.when == StopPlan::When::before_first_commit) letters_plan.when = plan.when;
  overrides.dead_letter = [&](const ComponentContext& context) -> std::unique_ptr<Sink> {
    return std::make_unique<StoppingSink>(make_sink(rehearsals.dead_letter, workspace.dead_letters, context),
                                          letters_plan);
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
  out.messages = runner.snapshot().messages;
  out.output = runner.output();
  if (plan.stopped) return out;  // what counts is what stands there in the end
  AQ_ASSIGN(out.rows, held_by(rehearsals.sink, workspace.rows));
  AQ_ASSIGN(out.dead_letters, held_by(rehearsals.dead_letter, workspace.dead_letters));
  if (!test.config.query.empty() && runner.context().database != nullptr) {
    auto found = ask(placed(test.config.query, workspace), out.rows, *runner.context().database);
    // A pipeline that failed may not have made what is asked for.
    if (!found && !out.failure) return fail(std::move(found).error());
    out.rows = found ? std::move(*found) : SinkContents();
  }
  return out;
}

}  // namespace aqueduck::golden
