#pragma once

#include <vector>

#include "base/clock.h"
#include "component/source.h"
#include "golden/case.h"
#include "golden/input.h"

namespace aqueduck::golden {

/// Gives a case's input in place of the pipeline's source, in the order of the file, and moves the clock on where the
/// case says so. Positions are next offsets, of plain files numbers of messages or rows. Where `group` is given it
/// keeps acknowledged positions, as a consumer group would. Owned by a worker; `input`, `clock` and `group` outlive it.
class MemorySource final : public Source {
 public:
  MemorySource(const Input& input, std::vector<ClockStep> steps, FakeClock& clock, Positions* group = nullptr);

  SourceTraits traits() const override;
  Result<void> open() override;
  Result<SourceEvent> read(const ReadLimits& limits) override;
  Result<void> start_at(const Positions& positions) override;
  Result<void> acknowledge(const Acknowledgement& acknowledgement) override;
  Result<Positions> position() override;
  std::uint64_t progress() const override { return next_; }
  void close() override { phase_ = Phase::closed; }

 private:
  enum class Phase { closed, opened, assigned, reading };
  struct Partition {
    std::int64_t first = 0;  // offset
    std::int64_t end = 0;    // behind the last offset
    std::int64_t start = 0;  // where reading begins
  };

  Positions positions(std::int64_t Partition::* which) const;
  void skip();
  Chunk take_message();
  Chunk take_rows(std::uint64_t count);

  const Input& input_;
  std::vector<ClockStep> steps_;
  FakeClock& clock_;
  Positions* group_;
  std::uint64_t count_;
  std::uint64_t next_ = 0;             // message or row
  std::vector<Partition> partitions_;  // as Input::partitions
  std::size_t step_ = 0;               // the next of steps_
  Phase phase_ = Phase::closed;
};

}  // namespace aqueduck::golden
