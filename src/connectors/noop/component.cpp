#include "connectors/noop/component.h"

#include "base/log.h"

namespace aqueduck {

namespace {

struct NoopConfig {};

const config::ObjectSpec<NoopConfig>& noop_spec() {
  static const config::ObjectSpec<NoopConfig> spec(
      "noop", "Drops the rows; for measuring, and for pipelines whose SQL does the writing.", {});
  return spec;
}

SinkTraits noop_traits() {
  SinkTraits traits;
  traits.many_writers = true;
  traits.guarantee = "at-least-once: rows are dropped, and no position is kept with them";
  return traits;
}

/// Counts rows and drops them. Never fails.
class NoopSink final : public Sink {
 public:
  SinkTraits traits() const override { return noop_traits(); }
  Result<Token> open() override {
    rows_ = waiting_ = 0;
    return Token{};
  }
  Result<void> write(const RecordBatch& batch) override {
    waiting_ += batch.rows();
    return {};
  }
  Result<CommitResult> commit(const Token& /*expected*/, const Token& next) override {
    rows_ += std::exchange(waiting_, 0);
    return Committed{next};
  }
  Result<void> abort() override {
    waiting_ = 0;
    return {};
  }
  Result<Token> stored_token() override { return Token{}; }
  void close() override {
    if (rows_ > 0) log::debug("noop: {} rows dropped", rows_);
    rows_ = waiting_ = 0;
  }

 private:
  std::int64_t rows_ = 0;
  std::int64_t waiting_ = 0;
};

class NoopFactory final : public SinkFactory {
 public:
  std::unique_ptr<Sink> make(const ComponentContext& /*context*/) const override {
    return std::make_unique<NoopSink>();
  }
  SinkTraits traits() const override { return noop_traits(); }
};

}  // namespace

const ComponentType<SinkFactory>& noop_sink() {
  static const ComponentType<SinkFactory> type{&noop_spec().info(),
                                               [](const config::Node& node, config::Faults& faults) {
                                                 noop_spec().read(node, faults);
                                                 return std::make_unique<NoopFactory>();
                                               },
                                               "noop: {}\n"};
  return type;
}

}  // namespace aqueduck
