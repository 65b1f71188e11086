#include "net/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "base/file.h"

namespace aqueduck::net {
namespace {

using namespace std::chrono_literals;

/// A peer that says exactly what a test wants.
class Client {
 public:
  explicit Client(const Address& address) {
    const bool v6 = address.host.find(':') != std::string::npos;
    socket_ = Descriptor(::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval limit{20, 0};
    (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in v4_peer{};
    v4_peer.sin_family = AF_INET;
    v4_peer.sin_port = htons(address.port);
    (void)::inet_pton(AF_INET, address.host.c_str(), &v4_peer.sin_addr);
    sockaddr_in6 v6_peer{};
    v6_peer.sin6_family = AF_INET6;
    v6_peer.sin6_port = htons(address.port);
    (void)::inet_pton(AF_INET6, address.host.c_str(), &v6_peer.sin6_addr);
    const int done = v6 ? ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&v6_peer), sizeof v6_peer)
                        : ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&v4_peer), sizeof v4_peer);
    EXPECT_EQ(done, 0);
  }

  void send(std::string_view text) const {
    while (!text.empty()) {
      const auto sent = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // refused in the middle: what was answered is still to be read
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// Up to and with `end`, or all there is until the server closes.
  std::string read_to(std::string_view end) {
    while (buffer_.find(end) == std::string::npos) {
      if (!more()) break;
    }
    const auto found = buffer_.find(end);
    const std::size_t size = found == std::string::npos ? buffer_.size() : found + end.size();
    std::string out = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return out;
  }
  std::string read_all() {
    while (more()) {
    }
    return std::exchange(buffer_, {});
  }
  void close() { socket_.close(); }

 private:
  bool more() {
    char part[4096];
    const auto got = ::recv(socket_.get(), part, sizeof part, 0);
    if (got > 0) buffer_.append(part, static_cast<std::size_t>(got));
    return got > 0;
  }
  Descriptor socket_;
  std::string buffer_;
};

std::string get(std::string_view path, std::string_view more = "") {
  return fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n{}\r\n", path, more);
}

Response text(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

Response echo(const Request& request) {
  std::string out = request.method + " " + request.path;
  for (const auto& [key, value] : request.query) out += fmt::format(" {}={}", key, value);
  return text(out + " [" + request.body + "]");
}

class HttpServer : public ::testing::Test {
 protected:
  void open(AsyncHandler handler, std::string_view listen = "127.0.0.1:0") {
    auto opened = Server::open({parse_address(listen).value(), limits}, std::move(handler));
    ASSERT_TRUE(opened) << opened.error().message;
    server = std::move(*opened);
  }
  void open() { open(answer_at_once(echo)); }
  /// One request on a connection of its own: all of the answer.
  std::string ask(std::string_view request) {
    Client client(server->address());
    client.send(request);
    return client.read_all();
  }
  static bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

  ServerLimits limits;
  std::unique_ptr<Server> server;
};

TEST_F(HttpServer, AnswersAndKeepsTheConnection) {
  open();
  EXPECT_NE(server->address().port, 0);
  Client client(server->address());
  for (int i = 0; i < 3; ++i) {
    client.send(get("/a%20b?n=" + std::to_string(i)));
    const std::string head = client.read_to("\r\n\r\n");
    EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n")) << head;
    EXPECT_TRUE(has(head, "Connection: keep-alive")) << head;
    EXPECT_TRUE(has(head, "Date: ")) << head;
    EXPECT_TRUE(has(client.read_to("[]"), "GET /a b n=" + std::to_string(i)));
  }
}

TEST_F(HttpServer, PipelinedRequestsAreAnsweredInOrder) {
  open();
  std::string all;
  for (int i = 0; i < 200; ++i) all += get("/" + std::to_string(i));
  Client client(server->address());
  client.send(all);
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(has(client.read_to("[]"), fmt::format("GET /{} ", i))) << i;
}

TEST_F(HttpServer, PipelinedBodies) {
  open();
  Client client(server->address());
  client.send(
      "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
      "POST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n");
  EXPECT_TRUE(has(client.read_to("]"), "POST /1 [abc]"));
  EXPECT_TRUE(has(client.read_to("]"), "POST /2 [def]"));
}

TEST_F(HttpServer, RoutesSayWhatIsThere) {
  Routes routes;
  routes.add("GET", "/here", [](const Request&) { return text("twelve bytes"); });
  routes.add("POST", "/in", echo);
  open(answer_at_once(routes));
  EXPECT_TRUE(has(ask(get("/here", "Connection: close\r\n")), "\r\n\r\ntwelve bytes"));
  EXPECT_TRUE(ask(get("/there", "Connection: close\r\n")).starts_with("HTTP/1.1 404 Not Found\r\n"));
  const std::string wrong = ask("DELETE /here HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(wrong.starts_with("HTTP/1.1 405 ")) << wrong;
  EXPECT_TRUE(has(wrong, "\r\nAllow: GET, HEAD\r\n")) << wrong;
  const std::string head = ask("HEAD /here HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(has(head, "Content-Length: 12\r\n")) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST_F(HttpServer, OldPeersGetOneAnswerAConnection) {
  open();
  const std::string answer = ask("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(has(answer, "200 OK")) << answer;
  EXPECT_TRUE(has(answer, "Connection: close")) << answer;
}

TEST_F(HttpServer, GarbageIsRefused) {
  open();
  const auto starts = [&](std::string_view request, std::string_view status) {
    const std::string answer = ask(request);
    EXPECT_TRUE(answer.starts_with(fmt::format("HTTP/1.1 {} ", status))) << request << "\n" << answer;
  };
  starts("\x16\x03\x01\x02\r\n\r\n", "400");  // a TLS peer
  starts("GET\r\n\r\n", "400");
  starts("GET / HTTP/2.0\r\nHost: x\r\n\r\n", "505");
  starts("GET / HTTP/1.1\r\n\r\n", "400");  // no Host
  starts("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "400");
  starts("GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "400");
  starts("GET * HTTP/1.1\r\nHost: x\r\n\r\n", "400");
  starts("GET / HTTP/1.1\r\nHost x\r\n\r\n", "400");
  // What two parsers would read differently
  starts("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400");
  starts("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400");
  starts("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "400");
  starts("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "501");
  starts("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400");
  starts("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: tea\r\n\r\n", "417");
  EXPECT_TRUE(has(ask(get("/still", "Connection: close\r\n")), "GET /still"));
}

TEST_F(HttpServer, TooLargeIsRefused) {
  limits.header_bytes = 4000;
  limits.target_bytes = 1000;
  limits.body_bytes = 1000;
  open();
  const std::string big(100'000, 'a');
  const auto status = [&](const std::string& request) { return ask(request).substr(9, 3); };
  EXPECT_EQ(status(get("/" + std::string(2000, 'a'))), "414");
  EXPECT_EQ(status(get("/" + big)), "414");
  EXPECT_EQ(status(get("/", "X: " + big + "\r\n")), "431");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + big), "413");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n" + big), "413");
  const std::string fits(1000, 'a');
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n" + fits), "200");
}

TEST_F(HttpServer, TheBodyIsAskedFor) {
  limits.body_bytes = 10;
  open();
  Client client(server->address());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_to("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  EXPECT_TRUE(has(client.read_to("]"), "[abc]"));
  EXPECT_TRUE(ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n")
                  .starts_with("HTTP/1.1 413"));
}

TEST_F(HttpServer, ASlowRequestEnds) {
  limits.request = 100ms;
  open();
  EXPECT_TRUE(ask("GET / HTTP/1.1\r\nHost").starts_with("HTTP/1.1 408 "));
  EXPECT_TRUE(ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabc").starts_with("HTTP/1.1 408 "));
}

TEST_F(HttpServer, AByteNowAndThenDoesNotHelp) {
  limits.request = 200ms;
  open();
  Client client(server->address());
  std::string answer;
  std::jthread drip([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      client.send("X");
      std::this_thread::yield();
    }
  });
  client.send("GET / HTTP/1.1\r\nHost: x\r\nX: ");
  answer = client.read_to("\r\n\r\n");
  drip.request_stop();
  EXPECT_TRUE(has(answer, " 408 ") || has(answer, " 431 ") || has(answer, " 400 ")) << answer;
}

TEST_F(HttpServer, AnIdleConnectionEnds) {
  limits.idle = 50ms;
  open();
  Client client(server->address());
  EXPECT_EQ(client.read_all(), "");
  Client other(server->address());
  other.send(get("/"));
  EXPECT_TRUE(has(other.read_to("[]"), "200 OK"));
  EXPECT_EQ(other.read_all(), "");
}

TEST_F(HttpServer, APeerThatTakesNoAnswerIsLeft) {
  limits.answer = 100ms;
  std::mutex mutex;
  std::condition_variable changed;
  int asked = 0;
  open(answer_at_once([&](const Request&) {
    const std::lock_guard lock(mutex);
    asked += 1;
    changed.notify_all();
    return text(std::string(64UL << 20U, 'x'));
  }));
  Client client(server->address());
  client.send(get("/"));
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, 20s, [&] { return asked == 1; }));
  }
  server->stop(20s);  // returns once the connection is gone, long before
  EXPECT_LT(client.read_all().size(), 64UL << 20U);
}

TEST_F(HttpServer, ManyConnectionsAtOnce) {
  limits.connections = 300;
  open();
  std::deque<Client> clients;
  for (int i = 0; i < 300; ++i) clients.emplace_back(server->address());
  for (int i = 0; i < 300; ++i) clients[static_cast<std::size_t>(i)].send(get("/" + std::to_string(i)));
  for (int i = 0; i < 300; ++i) {
    EXPECT_TRUE(has(clients[static_cast<std::size_t>(i)].read_to("[]"), fmt::format("GET /{} ", i)));
  }
}

TEST_F(HttpServer, TooManyConnectionsAreToldSo) {
  limits.connections = 2;
  open();
  std::deque<Client> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back(server->address());
    clients.back().send(get("/"));
    clients.back().read_to("[]");
  }
  const std::string refused = ask(get("/"));
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 503 ")) << refused;
  EXPECT_TRUE(has(refused, "Retry-After: 1"));
  clients.pop_back();
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!has(ask(get("/", "Connection: close\r\n")), "200 OK")) ASSERT_LT(std::chrono::steady_clock::now(), end);
}

TEST_F(HttpServer, AnAnswerMayComeLaterFromAnyThread) {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::pair<Request, Responder>> waiting;
  open([&](Request request, Responder respond) {
    const std::lock_guard lock(mutex);
    waiting.emplace_back(std::move(request), std::move(respond));
    changed.notify_all();
  });
  std::deque<Client> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back(server->address());
    clients.back().send(get("/" + std::to_string(i)));
  }
  std::unique_lock lock(mutex);
  ASSERT_TRUE(changed.wait_for(lock, 20s, [&] { return waiting.size() == 4; }));
  std::jthread other([&] {
    for (auto& [request, respond] : waiting) {
      respond(text("late " + request.path + "\n"));
      respond(text("and again"));  // does nothing
    }
  });
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(has(clients[i].read_to(fmt::format("late /{}\n", i)), "200 OK"));
}

TEST_F(HttpServer, ADroppedResponderAnswers503) {
  open([](const Request&, Responder) {});
  EXPECT_TRUE(ask(get("/", "Connection: close\r\n")).starts_with("HTTP/1.1 503 "));
}

TEST_F(HttpServer, AResponderOutlivesItsPeerAndTheServer) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Responder> kept;
  open([&](const Request&, Responder respond) {
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(respond));
    changed.notify_all();
  });
  Client client(server->address());
  client.send(get("/"));
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, 20s, [&] { return kept.size() == 1; }));
  }
  client.close();
  server.reset();
  kept.front()(text("too late"));
  kept.clear();
}

TEST_F(HttpServer, AHandlerThatThrowsIsAnswered500) {
  open(answer_at_once([](const Request&) -> Response { throw std::runtime_error("no"); }));
  EXPECT_TRUE(ask(get("/", "Connection: close\r\n")).starts_with("HTTP/1.1 500 "));
}

TEST_F(HttpServer, AnswersCannotBeSplit) {
  open(answer_at_once([](const Request&) {
    Response response = text("");
    response.headers.emplace_back("X", "a\r\nSet-Cookie: b");
    return response;
  }));
  EXPECT_TRUE(has(ask(get("/", "Connection: close\r\n")), "X: a  Set-Cookie: b\r\n"));
}

TEST_F(HttpServer, AStopWaitsForWhatWasBegunAndCutsTheRest) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Responder> kept;
  open([&](const Request&, Responder respond) {
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(respond));
    changed.notify_all();
  });
  Client served(server->address());
  Client idle(server->address());
  served.send(get("/"));
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, 20s, [&] { return kept.size() == 1; }));
  }
  std::jthread answering([&] {
    EXPECT_EQ(idle.read_all(), "");  // closed by the stop, which therefore has begun
    kept.front()(text("done"));
    const std::string answer = served.read_all();
    EXPECT_TRUE(has(answer, "Connection: close")) << answer;
    EXPECT_TRUE(answer.ends_with("done")) << answer;
    served.close();
  });
  server->stop(20s);
  answering.join();

  open([&](const Request&, Responder respond) {
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(respond));
    changed.notify_all();
  });
  Client left(server->address());
  left.send(get("/"));
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, 20s, [&] { return kept.size() == 2; }));
  }
  server->stop(10ms);
  EXPECT_EQ(left.read_all(), "");
}

TEST_F(HttpServer, IPv6AndNames) {
  open(answer_at_once(echo), "localhost:0");
  EXPECT_EQ(server->address().host, "127.0.0.1");
  EXPECT_TRUE(has(ask(get("/", "Connection: close\r\n")), "200 OK"));
  const Descriptor probe(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  if (::bind(probe.get(), reinterpret_cast<sockaddr*>(&loopback), sizeof loopback) != 0) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  open(answer_at_once(echo), "[::1]:0");
  EXPECT_TRUE(server->address().to_string().starts_with("[::1]:"));
  EXPECT_TRUE(has(ask(get("/", "Connection: close\r\n")), "200 OK"));
}

TEST_F(HttpServer, SaysWhyItCannotListen) {
  open();
  const auto taken = Server::open({server->address(), {}}, answer_at_once(echo));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, ErrorKind::config);
  EXPECT_TRUE(has(taken.error().message, server->address().to_string() + ": the address is in use"))
      << taken.error().message;
  const auto unknown = Server::open({{"no-such-host.invalid", 0}, {}}, answer_at_once(echo));
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(has(unknown.error().message, "no-such-host.invalid")) << unknown.error().message;
  const auto foreign = Server::open({{"192.0.2.1", 0}, {}}, answer_at_once(echo));
  ASSERT_FALSE(foreign);
  EXPECT_TRUE(has(foreign.error().message, "192.0.2.1:0")) << foreign.error().message;
}

}  // namespace
}  // namespace aqueduck::net
