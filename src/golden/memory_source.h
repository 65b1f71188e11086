#pragma once

#include <vector>

#include "base/clock.h"
#include "component/source.h"
#include "golden/case.h"
#include "golden/input.h"

namespace aqueduck::golden {

/// Gives a case's input in place of the pipeline's source, one partition "input" whose positions are numbers of
/// messages, and moves the clock on where the case says so. Owned by a worker; `input` and `clock` outlive it.
class MemorySource final : public Source {
 public:
  MemorySource(const Input& input, std::vector<ClockStep> steps, FakeClock& clock)
      : input_(input), steps_(std::move(steps)), clock_(clock), count_(input.size()) {}

  SourceTraits traits() const override;
  Result<void> open() override;
  Result<SourceEvent> read(const ReadLimits& limits) override;
  Result<void> start_at(const Positions& positions) override;
  Result<void> acknowledge(const Acknowledgement& /*acknowledgement*/) override { return {}; }
  Result<Positions> position() override;
  std::uint64_t progress() const override { return next_; }
  void close() override {}

 private:
  Chunk take_message();
  Chunk take_rows(std::uint64_t count);

  const Input& input_;
  std::vector<ClockStep> steps_;
  FakeClock& clock_;
  std::uint64_t count_;
  std::uint64_t next_ = 0;
  std::size_t step_ = 0;  // the next of steps_
  bool assigned_ = false;
};

}  // namespace aqueduck::golden
