#include "admin/admin.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "admin/health.h"
#include "admin/metrics.h"
#include "admin/pages.h"
#include "admin/process.h"
#include "admin/rates.h"
#include "base/secret.h"
#include "net/http_server.h"

namespace aqueduck::admin {
namespace {

constexpr std::chrono::seconds kTick{1};
// Asking for the ends takes at most this share of the time, however slow the peer.
constexpr int kAskedShare = 10;
constexpr std::chrono::milliseconds kStop{500};

net::ServerLimits limits() {
  net::ServerLimits out;
  out.connections = 64;
  out.body_bytes = 4096;
  return out;
}

net::Response answer(int status, std::string type, std::string body) {
  return {status, std::move(type), {{"Cache-Control", "no-store"}}, std::move(body)};
}

// False if a stop was asked for.
bool rest(Clock::Point until, const std::stop_token& stop) { return Clock::system().sleep_until(until, stop); }

}  // namespace

/// The pages and what they are made from. The server's thread answers, the other two fill in.
class Admin::Pages {
 public:
  Pages(About about, Feed feed) : about_(std::move(about)), feed_(std::move(feed)) {}

  Result<void> open(const Address& listen) {
    net::Routes routes;
    routes.add("GET", "/", [this](const auto&) {
      return answer(200, "text/html; charset=utf-8", index_html(about_, judge(look())));
    });
    routes.add("GET", "/metrics", [this](const auto&) { return metrics(); });
    routes.add("GET", "/stats", [this](const auto&) { return stats(); });
    routes.add("GET", "/healthz", [this](const auto&) {
      const Health health = judge(look());
      return answer(health.alive ? 200 : 503, "application/json", healthz_json(health));
    });
    routes.add("GET", "/readyz", [this](const auto&) {
      const Health health = judge(look());
      return answer(health.ready ? 200 : 503, "application/json", readyz_json(health));
    });
    AQ_ASSIGN(server_, net::Server::open({listen, limits()}, net::answer_at_once(std::move(routes))));
    sampling_ = std::jthread([this](const std::stop_token& stop) { sample(stop); });
    asking_ = std::jthread([this](const std::stop_token& stop) { ask(stop); });
    return {};
  }

  ~Pages() {
    if (server_ != nullptr) server_->stop(kStop);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  const Address& address() const { return server_->address(); }

 private:
  pipeline::StatsSnapshot look() const {
    auto out = feed_.snapshot();
    out.last_error = redact(out.last_error);
    for (auto& worker : out.workers) worker.waiting_for = redact(worker.waiting_for);
    const std::lock_guard lock(mutex_);
    if (ends_) pipeline::set_ends(out, *ends_);
    return out;
  }

  // A source may wait for its peer in silence: that its ends can't be asked for tells, too.
  Health judge(const pipeline::StatsSnapshot& snapshot) const {
    Health out = health_of(snapshot);
    const std::lock_guard lock(mutex_);
    if (out.ready && !no_answer_.empty()) {
      out.ready = false;
      out.reasons.push_back(fmt::format("source {} doesn't answer: {}", about_.source, redact(no_answer_)));
    }
    return out;
  }

  net::Response metrics() const {
    const auto snapshot = look();
    const Health health = judge(snapshot);
    const Process process = this_process();
    return answer(200, kMetricsType, metrics_text({about_, snapshot, health, process}));
  }

  net::Response stats() const {
    const auto snapshot = look();
    const Health health = judge(snapshot);
    const Process process = this_process();
    const auto now = Clock::system().now();
    Recent recent;
    {
      const std::lock_guard lock(mutex_);
      recent = {rates_.over(std::chrono::seconds(1), now, snapshot),
                rates_.over(std::chrono::seconds(10), now, snapshot),
                rates_.over(std::chrono::seconds(60), now, snapshot)};
    }
    return answer(200, "application/json", stats_json({about_, snapshot, health, process}, recent));
  }

  void sample(const std::stop_token& stop) {
    auto next = Clock::system().now();
    do {
      const auto snapshot = feed_.snapshot();
      const auto now = Clock::system().now();
      {
        const std::lock_guard lock(mutex_);
        rates_.add(now, snapshot);
      }
      next = std::max(next + kTick, now);
    } while (rest(next, stop));
  }

  void ask(const std::stop_token& stop) {
    Clock::Point next;
    do {
      const auto asked = Clock::system().now();
      auto ends = feed_.end_positions();
      const auto took = Clock::system().now() - asked;
      {
        const std::lock_guard lock(mutex_);
        ends_.reset();
        no_answer_.clear();
        if (ends) {
          ends_ = std::move(*ends);
        } else if (ends.error().kind == ErrorKind::unavailable) {
          no_answer_ = ends.error().message;
        }
      }
      // To wait in vain is no work for anybody.
      next = asked + took + (ends_ ? std::max<Clock::Point::duration>(kTick, took * kAskedShare) : kTick);
    } while (rest(next, stop));
  }

  const About about_;
  const Feed feed_;
  mutable std::mutex mutex_;  // guards what follows
  Rates rates_;
  std::optional<Positions> ends_;
  std::string no_answer_;  // why there are no ends, where that is the peer's fault
  std::unique_ptr<net::Server> server_;
  std::jthread sampling_;
  std::jthread asking_;
};

Admin::Admin() = default;
Admin::~Admin() = default;

Result<std::unique_ptr<Admin>> Admin::open(const Address& listen, About about, Feed feed) try {
  std::unique_ptr<Admin> admin(new Admin);
  admin->pages_ = std::make_unique<Pages>(std::move(about), std::move(feed));
  AQ_TRY(admin->pages_->open(listen));
  return admin;
} catch (const std::exception& error) {
  return fail(ErrorKind::limit, "admin: cannot be started: {}", error.what());
}

const Address& Admin::address() const { return pages_->address(); }

}  // namespace aqueduck::admin
