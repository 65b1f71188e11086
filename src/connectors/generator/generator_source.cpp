#include "connectors/generator/generator_source.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <mutex>

#include "connectors/generator/seeded_random.h"
#include "sql/database.h"

namespace aqueduck {

namespace {

void wait_until(std::chrono::steady_clock::time_point time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_until(lock, stop, time, [] { return false; });
}

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::optional<std::uint64_t> share_of(const std::optional<std::uint64_t>& rows, const ComponentContext& context) {
  if (!rows) return std::nullopt;
  const auto workers = static_cast<std::uint64_t>(std::max(1, context.workers));
  return *rows / workers + (static_cast<std::uint64_t>(context.worker) < *rows % workers ? 1 : 0);
}

}  // namespace

GeneratorSource::GeneratorSource(GeneratorConfig config, ComponentContext context)
    : config_(std::move(config)),
      context_(std::move(context)),
      partition_(context_.workers > 1 ? fmt::format("rows/{}of{}", context_.worker, context_.workers) : "rows"),
      end_(share_of(config_.rows, context_)) {}

GeneratorSource::~GeneratorSource() = default;

SourceTraits GeneratorSource::traits() const {
  SourceTraits traits;
  traits.finite = end_.has_value();
  traits.replayable = true;
  traits.total = end_;
  return traits;
}

Result<void> GeneratorSource::open() {
  close();
  if (context_.database == nullptr) return fail(ErrorKind::internal, "the generator needs an engine");
  AQ_ASSIGN(session_, context_.database->connect());
  phase_ = Phase::opened;
  return {};
}

/// A worker's n-th row is row n * workers + worker of the whole, so that workers together make the same rows as one.
std::string GeneratorSource::statement(std::uint64_t from, std::uint64_t count) const {
  std::string columns;
  std::uint64_t salt = 0;
  for (const auto& [name, expression] : config_.columns) {
    if (!columns.empty()) columns += ", ";
    columns += fmt::format("({}\n) AS {}", with_seeded_random(expression, config_.seed, salt), quoted_name(name));
  }
  return fmt::format("SELECT {} FROM (SELECT range * {} + {} AS i FROM range({}, {}))", columns,
                     std::max(1, context_.workers), context_.worker, from, from + count);
}

Result<void> GeneratorSource::start_at(const Positions& positions) {
  next_ = 0;
  if (const auto stored = positions.find(partition_); stored != positions.end()) {
    const std::string& text = stored->second;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), next_);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size()) {
      return fail(ErrorKind::conflict, "'{}' is not a row number of the generator", text);
    }
  }
  if (end_ && next_ > *end_) {
    return fail(ErrorKind::conflict, "the stored position is row {}, but 'rows' is {}", next_, *config_.rows);
  }
  phase_ = Phase::reading;
  paced_from_ = next_;
  progress_ = next_;
  began_ = std::chrono::steady_clock::now();
  return {};
}

Result<SourceEvent> GeneratorSource::make_rows(std::uint64_t count) {
  auto rows = session_->query(statement(next_, count));
  if (!rows) return fail(with_context(std::move(rows).error().error, "generator"));
  Chunk chunk;
  auto batch = (*rows)->next();
  if (!batch) return fail(with_context(std::move(batch).error().error, "generator"));
  // What the engine gave is what counts: the rest comes with the next statement.
  if (batch->rows() == 0) return fail(ErrorKind::internal, "the generator's query gave no rows");
  next_ += static_cast<std::uint64_t>(batch->rows());
  progress_ = next_;
  chunk.next[partition_] = std::to_string(next_);
  chunk.data = std::move(*batch);
  return chunk;
}

Result<SourceEvent> GeneratorSource::read(const ReadLimits& limits) {
  if (phase_ == Phase::opened) {
    phase_ = Phase::assigned;
    Assigned assigned;
    assigned.start[partition_] = "0";
    return assigned;
  }
  if (phase_ != Phase::reading) {
    wait_until(limits.deadline, limits.stop);
    return Idle{};
  }
  if (end_ && next_ >= *end_) return End{};
  std::uint64_t count =
      std::min<std::uint64_t>({config_.batch, limits.max_messages, end_ ? *end_ - next_ : UINT64_MAX});
  if (config_.rate <= 0) {
    if (limits.stop.stop_requested()) return Idle{};
    return make_rows(count);
  }
  const double rate = config_.rate / std::max(1, context_.workers);
  for (;;) {
    if (limits.stop.stop_requested()) return Idle{};
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - began_).count();
    const double due = seconds * rate - static_cast<double>(next_ - paced_from_);
    if (due >= 1) return make_rows(std::min(count, static_cast<std::uint64_t>(std::min(due, 1e18))));
    if (now >= limits.deadline) return Idle{};
    const auto pause = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(std::min(3600.0, std::max(0.001, (1 - due) / rate))));
    wait_until(std::min(limits.deadline, now + pause), limits.stop);
  }
}

Result<Positions> GeneratorSource::position() {
  Positions ends;
  if (end_) ends[partition_] = std::to_string(*end_);
  return ends;
}

void GeneratorSource::close() {
  session_.reset();
  phase_ = Phase::closed;
  next_ = 0;
  progress_ = 0;
}

}  // namespace aqueduck
