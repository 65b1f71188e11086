#include "pipeline/shared_sink.h"

#include <vector>

namespace aqueduck::pipeline {

class SharedSink::Port final : public Sink {
 public:
  explicit Port(SharedSink& shared) : shared_(shared) {}
  ~Port() override { close(); }

  SinkTraits traits() const override { return shared_.sink_->traits(); }

  Result<Token> open() override {
    AQ_TRY(take_turn());
    const Release release(*this);
    auto token = shared_.opened() ? shared_.sink_->stored_token() : shared_.sink_->open();
    if (token && !open_) {
      open_ = true;
      const std::lock_guard lock(shared_.mutex_);
      shared_.open_ += 1;
    }
    return token;
  }

  Result<void> write(const RecordBatch& batch) override {
    waiting_.push_back(batch);
    return {};
  }

  Result<CommitResult> commit(const Token& expected, const Token& next) override {
    AQ_TRY(take_turn());
    dirty_ = true;
    while (written_ < waiting_.size()) {
      AQ_TRY(shared_.sink_->write(waiting_[written_]));
      ++written_;
    }
    auto answer = shared_.sink_->commit(expected, next);
    if (!answer) return answer;
    if (std::holds_alternative<Unknown>(*answer)) {
      doubt_ = next;
      return answer;
    }
    settled();
    return answer;
  }

  Result<void> abort() override {
    if (has_turn()) AQ_TRY(shared_.sink_->abort());
    settled();
    return {};
  }

  Result<Token> stored_token() override {
    AQ_TRY(take_turn());
    auto token = shared_.sink_->stored_token();
    // A failed write or commit of ours may have left rows in the sink: the turn stays until they are settled.
    if (!doubt_) {
      if (!dirty_) give_turn();
      return token;
    }
    if (!token) return token;
    bool done = true;
    for (const auto& [partition, position] : doubt_->entries) {
      const auto found = token->entries.find(partition);
      done = done && found != token->entries.end() && found->second == position;
    }
    if (done) settled();
    return token;
  }

  void close() override {
    if (!open_) return;
    open_ = false;
    const bool ours = take_turn().has_value();  // else somebody's commit hangs, and its port closes the sink
    if (ours && dirty_) (void)shared_.sink_->abort();
    int left = 0;
    {
      const std::lock_guard lock(shared_.mutex_);
      left = --shared_.open_;
    }
    if (ours && left == 0) shared_.sink_->close();
    settled();
  }

 private:
  class Release {
   public:
    explicit Release(Port& port) : port_(port) {}
    Release(const Release&) = delete;
    Release& operator=(const Release&) = delete;
    ~Release() { port_.give_turn(); }

   private:
    Port& port_;
  };

  bool has_turn() const {
    const std::lock_guard lock(shared_.mutex_);
    return shared_.turn_ == this;
  }
  Result<void> take_turn() {
    std::unique_lock lock(shared_.mutex_);
    const bool got =
        shared_.changed_.wait_for(lock, kPatience, [&] { return shared_.turn_ == nullptr || shared_.turn_ == this; });
    if (!got) return fail(ErrorKind::unavailable, "another worker's commit is not settled yet");
    shared_.turn_ = this;
    return {};
  }
  void give_turn() {
    {
      const std::lock_guard lock(shared_.mutex_);
      if (shared_.turn_ != this) return;
      shared_.turn_ = nullptr;
    }
    shared_.changed_.notify_all();
  }
  void settled() {
    waiting_.clear();
    written_ = 0;
    dirty_ = false;
    doubt_.reset();
    give_turn();
  }

  SharedSink& shared_;
  bool open_ = false;
  std::vector<RecordBatch> waiting_;
  std::size_t written_ = 0;     // of waiting_, that the sink has
  bool dirty_ = false;          // the sink may have rows of ours: the turn stays ours
  std::optional<Token> doubt_;  // what a commit of unknown outcome would have stored
};

std::unique_ptr<Sink> SharedSink::port() { return std::make_unique<Port>(*this); }

}  // namespace aqueduck::pipeline
