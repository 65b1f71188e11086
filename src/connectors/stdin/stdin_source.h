#pragma once

#include <atomic>

#include "component/line_blocks.h"
#include "component/source.h"

namespace aqueduck {

enum class StdinFormat { jsonl, csv, lines };

struct StdinConfig {
  StdinFormat format = StdinFormat::jsonl;
  std::uint64_t max_line = std::uint64_t{64} << 20;
  int descriptor = 0;  ///< what is read; not a setting of the user's
};

/// Lines from standard input until it ends. It can't go back: what was read and not committed is lost with the process.
class StdinSource final : public Source {
 public:
  StdinSource(StdinConfig config, bool mine);

  SourceTraits traits() const override;
  Result<void> open() override {
    closed_ = false;
    return {};
  }
  Result<SourceEvent> read(const ReadLimits& limits) override;
  Result<void> start_at(const Positions& /*positions*/) override { return {}; }
  Result<void> acknowledge(const Acknowledgement& /*acknowledgement*/) override { return {}; }
  Result<Positions> position() override { return Positions{}; }
  std::uint64_t progress() const override { return progress_.load(std::memory_order_relaxed); }
  void close() override { closed_ = true; }

 private:
  StdinConfig config_;
  LineBlocks lines_;
  bool ended_ = false;
  bool closed_ = true;
  std::atomic<std::uint64_t> progress_{0};
};

}  // namespace aqueduck
