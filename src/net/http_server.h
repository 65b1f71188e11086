#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/address.h"
#include "base/quantity.h"
#include "base/result.h"
#include "net/http_message.h"
#include "net/http_routes.h"

namespace aqueduck::net {

/// What one server holds at most. Memory: connections × (header_bytes + body_bytes), and the answers under way.
struct ServerLimits {
  std::size_t connections = 256;                ///< past it: 503, and the connection is closed
  std::size_t target_bytes = 8UL << 10U;        ///< past it: 414
  std::size_t header_bytes = 16UL << 10U;       ///< past it: 431
  std::uint64_t body_bytes = 1ULL << 20U;       ///< past it: 413
  Duration idle = std::chrono::seconds(60);     ///< without a request; then the connection is closed
  Duration request = std::chrono::seconds(10);  ///< from its first byte to its last; past it: 408
  Duration answer = std::chrono::seconds(10);   ///< for the peer to take the answer; then the connection is closed
};

/// Answers one request: once, from any thread, at any time; later calls and those after the server's end do nothing.
/// Dropped without an answer, it answers 503. Movable only; the handler owns it.
class Responder {
 public:
  struct State;
  explicit Responder(std::unique_ptr<State> state);
  Responder(Responder&&) noexcept;
  Responder& operator=(Responder&&) noexcept;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  ~Responder();

  void operator()(Response response);

 private:
  std::unique_ptr<State> state_;
};

/// Called on the server's thread, which serves nobody else meanwhile: it must not wait. Its Responder may be kept.
using AsyncHandler = std::function<void(Request, Responder)>;
/// The form that waits for a later answer, of a handler that answers at once. 500 where it throws.
AsyncHandler answer_at_once(Handler handler);

struct ServerOptions {
  Address listen;  ///< port 0: any free one
  ServerLimits limits;
};

/// An HTTP/1.1 server: one thread for all connections, keep-alive, pipelined requests answered in order. Every wait has
/// a limit. Owned by whoever opened it; the destructor stops it at once.
class Server {
 public:
  /// Listens when it returns. Kind config: the address can't be listened on (unknown host, in use); denied: no
  /// permission.
  static Result<std::unique_ptr<Server>> open(const ServerOptions& options, AsyncHandler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Where it listens: numeric, with the port that it got.
  const Address& address() const;
  /// Takes no more connections, answers what was begun, and ends; what isn't done within `deadline` is cut off. Not
  /// from a handler.
  void stop(Duration deadline);

 private:
  struct Core;
  class Connection;
  friend struct Responder::State;
  explicit Server(std::shared_ptr<Core> core);

  std::shared_ptr<Core> core_;
};

}  // namespace aqueduck::net
