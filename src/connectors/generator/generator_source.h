#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "component/source.h"

namespace aqueduck {

namespace sql {
class Session;
class BatchScript;
}  // namespace sql

struct GeneratorConfig {
  std::vector<std::pair<std::string, std::string>> columns;  ///< name and expression
  std::optional<std::uint64_t> rows;
  double rate = 0;  ///< rows a second; 0: as fast as possible
  std::uint64_t batch = 8192;
  std::uint64_t seed = 42;
};

/// Rows made by the engine: each column is an SQL expression over the row's number `i`. A row depends on its number and
/// the seed alone, so a restart at a position gives exactly the rest. With several workers each makes its own stretch
/// of rows, as a partition of its own.
class GeneratorSource final : public Source {
 public:
  GeneratorSource(GeneratorConfig config, ComponentContext context);
  ~GeneratorSource() override;

  SourceTraits traits() const override;
  Result<void> open() override;
  Result<SourceEvent> read(const ReadLimits& limits) override;
  Result<void> start_at(const Positions& positions) override;
  Result<void> acknowledge(const Acknowledgement& /*acknowledgement*/) override { return {}; }
  Result<Positions> position() override;
  std::uint64_t progress() const override { return progress_.load(std::memory_order_relaxed); }
  void close() override;

 private:
  enum class Phase { closed, opened, assigned, reading };

  Result<SourceEvent> make_rows(std::uint64_t count);
  std::string statement(std::uint64_t from, std::uint64_t count) const;

  const GeneratorConfig config_;
  const ComponentContext context_;
  const std::string partition_;
  std::optional<std::uint64_t> end_;  ///< of this worker's rows
  Phase phase_ = Phase::closed;
  std::unique_ptr<sql::Session> session_;
  std::uint64_t next_ = 0;
  std::uint64_t paced_from_ = 0;
  std::chrono::steady_clock::time_point began_;
  std::atomic<std::uint64_t> progress_{0};
};

}  // namespace aqueduck
