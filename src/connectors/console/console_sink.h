#pragma once

#include <string>
#include <vector>

#include "component/sink.h"

namespace aqueduck {

enum class ConsoleFormat { automatic, table, jsonl, csv };

struct ConsoleConfig {
  ConsoleFormat format = ConsoleFormat::automatic;
  int descriptor = 1;  ///< where it prints; not a setting of the user's
};

SinkTraits console_traits();

/// Prints committed rows to stdout and flushes at every commit. Keeps the uncommitted rows as Arrow; a commit that
/// fails midway (a closed pipe) may have printed some of them.
class ConsoleSink final : public Sink {
 public:
  explicit ConsoleSink(ConsoleConfig config) : config_(config) {}

  SinkTraits traits() const override { return console_traits(); }
  Result<Token> open() override;
  Result<void> write(const RecordBatch& batch) override;
  Result<CommitResult> commit(const Token& expected, const Token& next) override;
  Result<void> abort() override;
  Result<Token> stored_token() override { return Token{}; }
  void close() override { batches_.clear(); }

 private:
  Result<std::string> render() const;

  ConsoleConfig config_;
  ConsoleFormat format_ = ConsoleFormat::jsonl;
  std::string header_;  ///< fingerprint of the schema whose CSV header was printed last
  std::vector<RecordBatch> batches_;
  std::string unprinted_;
};

}  // namespace aqueduck
