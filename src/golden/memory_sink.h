#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "component/sink.h"

namespace aqueduck::golden {

/// What a case's sink holds: outlives the runs, as a table would.
struct MemoryStore {
  std::vector<RecordBatch> rows;
  Token token;
};

/// Keeps rows and token in a MemoryStore, by compare-and-set: exactly-once. `store` outlives it.
class MemorySink final : public Sink {
 public:
  explicit MemorySink(MemoryStore& store) : store_(store) {}

  SinkTraits traits() const override;
  Result<Token> open() override;
  Result<void> write(const RecordBatch& batch) override;
  Result<CommitResult> commit(const Token& expected, const Token& next) override;
  Result<void> abort() override;
  Result<Token> stored_token() override { return store_.token; }
  void close() override { waiting_.clear(); }

 private:
  MemoryStore& store_;
  std::vector<RecordBatch> waiting_;
};

/// When a run is to be stopped for the restart; written by StoppingSink on the worker's thread.
struct StopPlan {
  enum class When { never, before_first_commit, after_commits };
  When when = When::never;
  std::uint64_t after = 0;      ///< so many commits
  std::function<void()> drain;  ///< asks the pipeline to stop
  std::uint64_t commits = 0;
  bool stopped = false;
};

/// Passes everything on to another sink, and stops the run as planned: before anything is durable (its first write or
/// commit fails), or by a drain after a commit. `plan` outlives it.
class StoppingSink final : public Sink {
 public:
  StoppingSink(std::unique_ptr<Sink> inner, StopPlan& plan) : inner_(std::move(inner)), plan_(plan) {}

  SinkTraits traits() const override { return inner_->traits(); }
  Result<Token> open() override { return inner_->open(); }
  Result<void> write(const RecordBatch& batch) override;
  Result<CommitResult> commit(const Token& expected, const Token& next) override;
  Result<void> abort() override { return inner_->abort(); }
  Result<Token> stored_token() override { return inner_->stored_token(); }
  void close() override { inner_->close(); }

 private:
  Result<void> stop_before_commit();

  std::unique_ptr<Sink> inner_;
  StopPlan& plan_;
};

}  // namespace aqueduck::golden
