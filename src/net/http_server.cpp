#include "net/http_server.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <future>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/log.h"
#include "net/http_answer.h"
#include "net/http_target.h"

namespace aqueduck::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::size_t kReadStep = 4096;
// How much of a request that was refused is read and dropped, so that its sender sees the answer and not a reset.
constexpr std::size_t kMostDropped = 8UL << 20U;
constexpr std::chrono::seconds kLinger{2};
constexpr std::chrono::milliseconds kAcceptPause{100};

std::string text_of(const tcp::endpoint& endpoint) {
  return Address{endpoint.address().to_string(), endpoint.port()}.to_string();
}

Response plain(int status, std::string_view text) {
  Response response;
  response.status = status;
  response.body = fmt::format("{}\n", text);
  return response;
}

// What the peer is told about a request that could not be read; no status where there is nobody to tell.
std::optional<Response> refusal(const error_code& error, bool in_request_line) {
  static const auto& parsing = http::make_error_code(http::error::need_more).category();
  if (error.category() != parsing || error == http::error::end_of_stream) return std::nullopt;
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return in_request_line ? plain(414, "The request's target is too long.")
                           : plain(431, "The request's headers are too long.");
  }
  if (error == http::error::body_limit) return plain(413, "The request's body is too long.");
  if (error == http::error::bad_version) return plain(505, "Only HTTP/1.0 and HTTP/1.1 are spoken here.");
  return plain(400, "This is no valid HTTP request: " + error.message() + ".");
}

}  // namespace

/// What the server's thread works on. All of it is that thread's, but for what Server's calls post to it.
struct Server::Core : std::enable_shared_from_this<Core> {
  Core(const ServerLimits& own_limits, AsyncHandler own_handler)
      : limits(own_limits), handler(std::move(own_handler)) {}

  void accept();
  void take(tcp::socket socket);
  void finished(const std::shared_ptr<Connection>& connection);
  void begin_stop();
  void cut_off();

  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  tcp::acceptor acceptor{io};
  asio::steady_timer pause{io};
  ServerLimits limits;
  AsyncHandler handler;
  Address address;
  std::set<std::shared_ptr<Connection>> connections;
  bool stopping = false;
  std::promise<void> drained;
  std::thread thread;
};

/// One peer: reads a request, hands it to the handler, writes the answer, and again. Kept alive by the core's set, and
/// by its own pending operations; the server's thread makes every call.
class Server::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Core& core, tcp::socket socket, std::string peer)
      : core_(core), socket_(std::move(socket)), timer_(core.io), peer_(std::move(peer)) {}

  void await_request();
  void answer(Response response);
  bool idle() const { return idle_; }
  void close();

 private:
  void read_header();
  void on_header(const error_code& error);
  void continue_with_body();
  void read_body();
  void dispatch();
  void refuse(Response response);
  bool refused(const error_code& error);
  void linger();
  void drop_input();
  void arm(Duration after, void (Connection::*action)());
  void disarm();
  void give_up_reading();

  Core& core_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  std::uint64_t armed_ = 0;  // what the timer was set for: an expiry that was queued already is told apart
  std::string peer_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::string head_;
  std::string body_;
  std::size_t dropped_ = 0;
  bool idle_ = false;
  bool late_ = false;
  bool without_body_ = false;
  bool keep_alive_ = false;
};

/// The way back from a handler: it outlives the connection and the server, so it holds neither.
struct Responder::State {
  std::weak_ptr<Server::Core> core;
  std::weak_ptr<Server::Connection> connection;

  void send(Response response) const {
    const auto alive = core.lock();
    if (alive == nullptr) return;
    asio::post(alive->io, [weak = connection, response = std::move(response)]() mutable {
      if (const auto found = weak.lock()) found->answer(std::move(response));
    });
  }
};

Responder::Responder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Responder::Responder(Responder&&) noexcept = default;
Responder& Responder::operator=(Responder&&) noexcept = default;
Responder::~Responder() {
  if (state_ != nullptr) state_->send(plain(503, "This request was not answered; try again later."));
}
void Responder::operator()(Response response) {
  if (state_ == nullptr) return;
  state_->send(std::move(response));
  state_.reset();
}

AsyncHandler answer_at_once(Handler handler) {
  return [handler = std::move(handler)](const Request& request, Responder respond) {
    try {
      respond(handler(request));
    } catch (const std::exception& error) {
      log::error("http: {} {}: {}", request.method, request.path, error.what());
      respond(plain(500, "The answer could not be made."));
    }
  };
}

// --- a connection ---

void Server::Connection::arm(Duration after, void (Connection::*action)()) {
  timer_.expires_after(after);
  timer_.async_wait([self = shared_from_this(), action, mine = ++armed_](const error_code& error) {
    if (!error && mine == self->armed_) (self.get()->*action)();
  });
}

void Server::Connection::disarm() {
  ++armed_;
  timer_.cancel();
}

void Server::Connection::close() {
  disarm();
  error_code ignored;
  ignored = socket_.close(ignored);
  core_.finished(shared_from_this());
}

// Reads that are pending or to come end; the answer can still be written.
void Server::Connection::give_up_reading() {
  late_ = true;
  error_code ignored;
  ignored = socket_.shutdown(tcp::socket::shutdown_receive, ignored);
}

void Server::Connection::await_request() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(core_.limits.header_bytes));
  parser_->body_limit(core_.limits.body_bytes);
  if (buffer_.size() > 0) return read_header();
  if (core_.stopping) return close();
  idle_ = true;
  arm(core_.limits.idle, &Connection::close);
  socket_.async_read_some(buffer_.prepare(kReadStep),
                          [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                            self->idle_ = false;
                            if (error) return self->close();
                            self->buffer_.commit(bytes);
                            self->read_header();
                          });
}

void Server::Connection::read_header() {
  arm(core_.limits.request, &Connection::give_up_reading);
  http::async_read_header(
      socket_, buffer_, *parser_,
      [self = shared_from_this()](const error_code& error, std::size_t /*bytes*/) { self->on_header(error); });
}

// True if the request can't be read on, and what is to be said about it was said.
bool Server::Connection::refused(const error_code& error) {
  if (!error) return false;
  if (late_) {
    refuse(plain(408, "The request took too long to arrive."));
  } else if (auto response = refusal(error, parser_->get().target().empty())) {
    refuse(std::move(*response));
  } else {
    close();
  }
  return true;
}

void Server::Connection::refuse(Response response) {
  keep_alive_ = false;
  without_body_ = parser_->get().method() == http::verb::head;
  answer(std::move(response));
}

void Server::Connection::on_header(const error_code& error) {
  if (refused(error)) return;
  const auto& head = parser_->get();
  if (head.target().size() > core_.limits.target_bytes) return refuse(plain(414, "The request's target is too long."));
  const std::size_t hosts = head.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && head.version() >= 11)) return refuse(plain(400, "One Host header is needed."));
  // Anything else can be read in two ways: one of them smuggles a request.
  if (head.count(http::field::transfer_encoding) > 0 &&
      !boost::beast::iequals(head[http::field::transfer_encoding], "chunked")) {
    return refuse(plain(501, "The only transfer encoding here is chunked."));
  }
  const auto expect = head.find(http::field::expect);
  if (expect == head.end() || head.version() < 11 || parser_->is_done()) return read_body();
  if (!boost::beast::iequals(expect->value(), "100-continue")) return refuse(plain(417, "Only 100-continue is met."));
  continue_with_body();
}

void Server::Connection::continue_with_body() {
  head_ = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(head_),
                    [self = shared_from_this()](const error_code& error, std::size_t /*bytes*/) {
                      if (error) return self->close();
                      self->read_body();
                    });
}

void Server::Connection::read_body() {
  if (parser_->is_done()) return dispatch();
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](const error_code& error, std::size_t /*bytes*/) {
                     if (!self->refused(error)) self->dispatch();
                   });
}

void Server::Connection::dispatch() {
  disarm();
  keep_alive_ = parser_->keep_alive() && !late_;
  auto message = parser_->release();
  without_body_ = message.method() == http::verb::head;
  Request request;
  request.target = std::string(message.target());
  auto target = parse_target(request.target);
  if (!target) {
    keep_alive_ = false;
    return answer(plain(400, "This is no valid HTTP request: " + target.error().message + "."));
  }
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  request.method = std::string(message.method_string());
  for (const auto& field : message) request.headers.emplace_back(field.name_string(), field.value());
  request.body = std::move(message.body());
  request.peer = peer_;
  auto state = std::make_unique<Responder::State>();
  state->core = core_.weak_from_this();
  state->connection = weak_from_this();
  try {
    core_.handler(std::move(request), Responder(std::move(state)));
  } catch (const std::exception& error) {
    log::error("http: {}", error.what());  // its Responder is gone with it, and has answered
  }
}

void Server::Connection::answer(Response response) {
  if (!socket_.is_open()) return;
  keep_alive_ = keep_alive_ && !core_.stopping;
  head_ = answer_head(response, keep_alive_);
  body_ = without_body_ || !has_body(response.status) ? std::string() : std::move(response.body);
  arm(core_.limits.answer, &Connection::close);
  const std::array<asio::const_buffer, 2> parts{asio::buffer(head_), asio::buffer(body_)};
  asio::async_write(socket_, parts, [self = shared_from_this()](const error_code& error, std::size_t /*bytes*/) {
    self->body_.clear();
    if (error) return self->close();
    if (self->keep_alive_) return self->await_request();
    self->linger();
  });
}

void Server::Connection::linger() {
  error_code ignored;
  ignored = socket_.shutdown(tcp::socket::shutdown_send, ignored);
  arm(kLinger, &Connection::close);
  drop_input();
}

void Server::Connection::drop_input() {
  buffer_.clear();
  socket_.async_read_some(buffer_.prepare(kReadStep),
                          [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                            self->dropped_ += bytes;
                            if (error || self->dropped_ > kMostDropped) return self->close();
                            self->drop_input();
                          });
}

// --- the server ---

void Server::Core::accept() {
  acceptor.async_accept([this](const error_code& error, tcp::socket socket) {
    if (stopping) return;
    if (!error) {
      take(std::move(socket));
      return accept();
    }
    // Out of descriptors, most likely: some come back as connections end.
    log::warn("http: {} takes no connection: {}; trying again", address.to_string(), error.message());
    pause.expires_after(kAcceptPause);
    pause.async_wait([this](const error_code& ended) {
      if (!ended && !stopping) accept();
    });
  });
}

void Server::Core::take(tcp::socket socket) {
  error_code error;
  const auto peer = socket.remote_endpoint(error);
  if (error) return;
  if (connections.size() >= limits.connections) {
    Response busy = plain(503, "There are too many connections; try again later.");
    busy.headers.emplace_back("Retry-After", "1");
    const std::string text = answer_head(busy, false) + busy.body;
    error = socket.non_blocking(true, error);
    socket.write_some(asio::buffer(text), error);
    error = socket.shutdown(tcp::socket::shutdown_send, error);
    return;
  }
  error = socket.set_option(tcp::no_delay(true), error);
  const auto connection = std::make_shared<Connection>(*this, std::move(socket), text_of(peer));
  connections.insert(connection);
  connection->await_request();
}

void Server::Core::finished(const std::shared_ptr<Connection>& connection) {
  if (connections.erase(connection) > 0 && stopping && connections.empty()) drained.set_value();
}

void Server::Core::begin_stop() {
  error_code ignored;
  ignored = acceptor.close(ignored);
  pause.cancel();
  stopping = true;
  if (connections.empty()) return drained.set_value();
  const auto all = connections;
  for (const auto& connection : all) {
    if (connection->idle()) connection->close();
  }
}

void Server::Core::cut_off() {
  const auto all = connections;
  for (const auto& connection : all) connection->close();
  work.reset();
}

namespace {

Error listen_error(const error_code& error, const Address& address) {
  if (error == asio::error::address_in_use) {
    return make_error(ErrorKind::config,
                      "cannot listen on {}: the address is in use by another process; choose another "
                      "port, or 0 for a free one",
                      address.to_string());
  }
  if (error == asio::error::access_denied || error == asio::error::no_permission) {
    return make_error(ErrorKind::denied, "cannot listen on {}: no permission; ports below 1024 need a privilege",
                      address.to_string());
  }
  return make_error(ErrorKind::config, "cannot listen on {}: {}", address.to_string(), error.message());
}

error_code bind_to(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) {
  error_code error;
  error_code ignored;
  ignored = acceptor.close(ignored);
  error = acceptor.open(endpoint.protocol(), error);
  if (!error) error = acceptor.set_option(asio::socket_base::reuse_address(true), error);
  // [::] takes IPv4, too.
  if (!error && endpoint.address().is_v6()) error = acceptor.set_option(asio::ip::v6_only(false), error);
  if (!error) error = acceptor.bind(endpoint, error);
  if (!error) error = acceptor.listen(asio::socket_base::max_listen_connections, error);
  return error;
}

// The first of the host's addresses that can be listened on; IPv4 before IPv6.
Result<void> listen_on(tcp::acceptor& acceptor, asio::io_context& io, const Address& address) {
  tcp::resolver resolver(io);
  error_code error;
  const auto found = resolver.resolve(address.host, std::to_string(address.port), tcp::resolver::passive, error);
  if (error) {
    return fail(ErrorKind::config, "cannot listen on {}: the host is not known: {}", address.to_string(),
                error.message());
  }
  std::vector<tcp::endpoint> endpoints;
  for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  std::stable_sort(endpoints.begin(), endpoints.end(),
                   [](const auto& a, const auto& b) { return a.address().is_v4() && b.address().is_v6(); });
  for (const auto& endpoint : endpoints) {
    error = bind_to(acceptor, endpoint);
    if (!error) return {};
  }
  return fail(listen_error(error, address));
}

}  // namespace

Server::Server(std::shared_ptr<Core> core) : core_(std::move(core)) {}

Result<std::unique_ptr<Server>> Server::open(const ServerOptions& options, AsyncHandler handler) try {
  auto core = std::make_shared<Core>(options.limits, std::move(handler));
  AQ_TRY(listen_on(core->acceptor, core->io, options.listen));
  const auto bound = core->acceptor.local_endpoint();
  core->address = {bound.address().to_string(), bound.port()};
  core->accept();
  std::unique_ptr<Server> server(new Server(core));
  core->thread = std::thread([&io = core->io] {
    (void)pthread_setname_np(pthread_self(), "http");
    while (true) {
      try {
        io.run();
        return;
      } catch (const std::exception& error) {
        log::error("http: {}", error.what());
      }
    }
  });
  return server;
} catch (const std::exception& error) {
  return fail(ErrorKind::io, "cannot start a server on {}: {}", options.listen.to_string(), error.what());
}

Server::~Server() { stop(Duration(0)); }

const Address& Server::address() const { return core_->address; }

void Server::stop(Duration deadline) {
  if (!core_->thread.joinable()) return;
  const auto drained = core_->drained.get_future();
  asio::post(core_->io, [core = core_.get()] { core->begin_stop(); });
  drained.wait_for(deadline);
  asio::post(core_->io, [core = core_.get()] { core->cut_off(); });
  core_->thread.join();
}

}  // namespace aqueduck::net
