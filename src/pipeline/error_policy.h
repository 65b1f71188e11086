#pragma once

#include <vector>

#include "component/decoder.h"
#include "pipeline/batch.h"
#include "pipeline/dead_letters.h"
#include "pipeline/definition.h"
#include "pipeline/failure.h"
#include "pipeline/groups.h"
#include "pipeline/stats.h"

namespace aqueduck::pipeline {

/// What becomes of messages that can't be decoded and of batches whose SQL fails, as the pipeline's `errors:` says:
/// skipped, dead-lettered, or the end of the run. Made by a worker for each batch; what it is given outlives it.
class ErrorPolicy {
 public:
  /// `letters` may be null where no policy needs them.
  ErrorPolicy(const Definition& definition, Stats& stats, DeadLetters* letters, Groups& groups)
      : definition_(definition), stats_(stats), letters_(letters), groups_(groups) {}

  tl::expected<void, Failure> messages_failed(const Batch& batch, const std::vector<DecodeFailure>& failures) const;
  tl::expected<void, Failure> batch_failed(const Batch& batch, const Error& error) const;

 private:
  const Definition& definition_;
  Stats& stats_;
  DeadLetters* letters_;
  Groups& groups_;
};

}  // namespace aqueduck::pipeline
