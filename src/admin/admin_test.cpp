#include "admin/admin.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/secret.h"

namespace aqueduck::admin {
namespace {

using namespace std::chrono_literals;
using pipeline::Phase;

struct Answer {
  int status = 0;
  std::string head;
  std::string body;
};

Answer get(const Address& address, const std::string& path) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(address.port);
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&peer), sizeof peer), 0);
  const std::string request = "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  EXPECT_TRUE(write_all(socket.get(), request, "socket"));
  std::string all;
  char part[4096];
  for (auto got = ::recv(socket.get(), part, sizeof part, 0); got > 0;
       got = ::recv(socket.get(), part, sizeof part, 0)) {
    all.append(part, static_cast<std::size_t>(got));
  }
  Answer out;
  const auto end = all.find("\r\n\r\n");
  if (end == std::string::npos) return out;
  out.status = std::stoi(all.substr(9, 3));
  out.head = all.substr(0, end);
  out.body = all.substr(end + 4);
  return out;
}

class AdminTest : public ::testing::Test {
 protected:
  void SetUp() override {
    About about;
    about.pipeline = "p";
    about.version = "1.2.3";
    about.source = "fake";
    about.sink = "memory";
    about.delivery = "exactly-once";
    about.holds_token = true;
    about.started = pipeline::Stats::seconds_now();
    auto opened = Admin::open({"127.0.0.1", 0}, about,
                              {[this] { return pipeline::snapshot(stats); },
                               [this]() -> Result<Positions> {
                                 asked += 1;
                                 if (silent) return fail(ErrorKind::unavailable, "no answer");
                                 return Positions{{"t/0", "10"}};
                               }});
    ASSERT_TRUE(opened) << opened.error().message;
    admin = std::move(*opened);
  }
  Answer ask(const std::string& path) { return get(admin->address(), path); }
  nlohmann::json json(const std::string& path) { return nlohmann::json::parse(ask(path).body); }
  /// Asks until `seen` likes the answer.
  void wait_for(const std::string& path, const std::function<bool(const Answer&)>& seen) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!seen(ask(path))) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << ask(path).body;
      std::this_thread::yield();
    }
  }

  pipeline::Stats stats;
  std::atomic<int> asked{0};
  std::atomic<bool> silent{false};
  std::unique_ptr<Admin> admin;
};

TEST_F(AdminTest, ReadyFollowsTheWorker) {
  const auto is = [&](int status, const std::string& reason) {
    const Answer answer = ask("/readyz");
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_NE(answer.body.find(reason), std::string::npos) << answer.body;
    EXPECT_EQ(nlohmann::json::parse(answer.body)["ready"], status == 200);
  };
  is(503, "starting");
  stats.condition.wait_for("source fake: nobody there");
  is(503, "trying again: source fake: nobody there");
  stats.condition.clear_waiting();
  stats.condition.advance(Phase::running);
  is(503, "assigned");
  stats.condition.set_assigned();
  is(200, "[]");
  stats.condition.wait_for("sink memory: full");
  is(503, "trying again: sink memory: full");
  EXPECT_EQ(ask("/healthz").status, 200);
  stats.condition.clear_waiting();
  is(200, "[]");
  stats.condition.advance(Phase::draining);
  is(503, "draining");
  EXPECT_EQ(ask("/healthz").status, 200);
  stats.set_error("it broke");
  stats.condition.advance(Phase::failed);
  is(503, "failed: it broke");
  const Answer dead = ask("/healthz");
  EXPECT_EQ(dead.status, 503);
  EXPECT_NE(dead.body.find("it broke"), std::string::npos);
}

TEST_F(AdminTest, StatsHasCountersPositionsAndLag) {
  stats.messages = 42;
  stats.queued_bytes = 7;
  stats.set_read({{"t/0", "6"}});
  stats.set_committed({{"t/0", "4"}});
  wait_for("/stats", [](const Answer& a) { return nlohmann::json::parse(a.body)["lag"] == 6; });
  const auto got = json("/stats");
  EXPECT_EQ(got["pipeline"], "p");
  EXPECT_EQ(got["version"], "1.2.3");
  EXPECT_EQ(got["totals"]["messages"], 42);
  EXPECT_EQ(got["queue"]["bytes"], 7);
  EXPECT_EQ(got["partitions"]["t/0"], (nlohmann::json{{"read", "6"}, {"committed", "4"}, {"end", "10"}, {"lag", 6}}));
  EXPECT_EQ(got["token"], (nlohmann::json{{"t/0", "4"}}));
  EXPECT_EQ(got["last_error"], nullptr);
  EXPECT_GT(got["process"]["resident_bytes"], 1'000'000);
}

TEST_F(AdminTest, APeerThatDoesNotAnswerMeansNoLag) {
  stats.set_read({{"t/0", "6"}});
  stats.set_committed({{"t/0", "4"}});
  wait_for("/metrics", [](const Answer& a) { return a.body.find("aqueduck_lag{") != std::string::npos; });
  silent = true;
  wait_for("/metrics", [](const Answer& a) { return a.body.find("aqueduck_lag{") == std::string::npos; });
  EXPECT_EQ(json("/stats")["lag"], nullptr);
  stats.condition.advance(Phase::running);
  stats.condition.set_assigned();
  const Answer answer = ask("/readyz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(answer.body.find("source fake doesn't answer: no answer"), std::string::npos) << answer.body;
  silent = false;
  wait_for("/readyz", [](const Answer& a) { return a.status == 200; });
  EXPECT_LT(asked, 20);  // however often it was scraped
}

TEST_F(AdminTest, SecretsAreNotShown) {
  const Secret secret("quite-a-secret");
  stats.set_error("refused: password quite-a-secret");
  stats.condition.wait_for("source: password quite-a-secret");
  for (const char* path : {"/stats", "/readyz", "/healthz", "/metrics", "/"}) {
    EXPECT_EQ(ask(path).body.find("quite-a-secret"), std::string::npos) << path;
  }
  EXPECT_EQ(json("/stats")["last_error"]["message"], "refused: password ***");
}

TEST_F(AdminTest, TheFirstPageNamesTheOthers) {
  const Answer answer = ask("/");
  EXPECT_EQ(answer.status, 200);
  for (const char* path : {"/stats", "/readyz", "/healthz", "/metrics"}) {
    EXPECT_NE(answer.body.find(path), std::string::npos) << path;
  }
  EXPECT_EQ(ask("/other").status, 404);
}

TEST_F(AdminTest, MetricsSayWhatTheyAre) {
  const Answer answer = ask("/metrics");
  EXPECT_NE(answer.head.find("Content-Type: text/plain; version=0.0.4"), std::string::npos) << answer.head;
  EXPECT_NE(answer.head.find("Cache-Control: no-store"), std::string::npos);
  EXPECT_NE(answer.body.find("aqueduck_messages_total{pipeline=\"p\"} 0\n"), std::string::npos) << answer.body;
}

TEST(Admin, SaysWhyItCannotListen) {
  const Feed feed{[] { return pipeline::StatsSnapshot{}; }, [] { return Result<Positions>{}; }};
  const auto first = Admin::open({"127.0.0.1", 0}, {}, feed);
  ASSERT_TRUE(first);
  const auto second = Admin::open((*first)->address(), {}, feed);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("in use"), std::string::npos);
}

}  // namespace
}  // namespace aqueduck::admin
