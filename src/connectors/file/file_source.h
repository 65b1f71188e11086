#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "component/source.h"
#include "connectors/file/file_config.h"
#include "connectors/file/part_reader.h"

namespace aqueduck {

/// Reads files one after the other, in the order of their names; with several workers each takes its share of them. One
/// file is one partition. A file that is followed never ends.
class FileSource final : public Source {
 public:
  FileSource(FileSourceConfig config, ComponentContext context)
      : config_(std::move(config)), context_(std::move(context)) {}

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

  FileFormat format(const NamedFile& file) const;
  Result<std::unique_ptr<PartReader>> open_part(const NamedFile& file) const;
  Result<std::optional<Chunk>> next_chunk(std::size_t most);

  const FileSourceConfig config_;
  const ComponentContext context_;
  Phase phase_ = Phase::closed;
  std::vector<NamedFile> files_;
  Positions starts_;
  std::size_t current_ = 0;
  std::unique_ptr<PartReader> reader_;
  std::uint64_t finished_bytes_ = 0;
  std::optional<std::uint64_t> total_;
  std::atomic<std::uint64_t> progress_{0};
};

}  // namespace aqueduck
