#pragma once

#include <functional>
#include <map>
#include <string>

#include "net/http_message.h"

namespace aqueduck::net {

using Handler = std::function<Response(const Request&)>;

/// Which function answers which path: exact paths, no patterns. 404 for other paths, 405 with Allow for other methods;
/// GET answers HEAD, too. Filled first, then called from any thread.
class Routes {
 public:
  Routes& add(const std::string& method, const std::string& path, Handler handler);
  Response operator()(const Request& request) const;

 private:
  std::map<std::string, std::map<std::string, Handler>> paths_;  // → method → handler
};

}  // namespace aqueduck::net
