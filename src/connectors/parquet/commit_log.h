#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "connectors/parquet/manifest.h"

namespace aqueduck {

/// The numbered manifests of one pipeline in one output folder, and the renames that they stand for. The newest is the
/// truth; linking the next number is the compare-and-set between writers of any process. One thread; holds nothing
/// open.
class CommitLog {
 public:
  /// `output`: where readers look; `own`: the pipeline's folder below it.
  CommitLog(std::filesystem::path output, std::filesystem::path own)
      : output_(std::move(output)), own_(std::move(own)) {}

  /// The newest manifest, all of whose files are in place; nullopt before the first commit.
  Result<std::optional<Manifest>> settle();

  enum class Added {
    done,        ///< ours, files in place
    taken,       ///< another writer's has this number: settle() and try again
    overtaken,   ///< a newer one was there already: ours is void, or long since finished by others
    unfinished,  ///< it may count or not: settle() will tell
  };
  struct Outcome {
    Added added = Added::done;
    Error error;  ///< of `unfinished`
  };
  /// Puts the manifest under its number, then its files in place. Errors: nothing happened.
  Result<Outcome> add(const Manifest& manifest);

 private:
  Result<std::optional<std::uint64_t>> newest() const;
  Result<void> place(const Manifest& manifest) const;
  Result<void> place_one(const Manifest::Move& move) const;
  void prune(std::uint64_t newest) const;
  std::filesystem::path path_of(std::uint64_t number) const;

  std::filesystem::path output_;
  std::filesystem::path own_;
  std::optional<Manifest> settled_;
};

}  // namespace aqueduck
