#include "net/http_routes.h"

namespace aqueduck::net {

Routes& Routes::add(const std::string& method, const std::string& path, Handler handler) {
  paths_[path].insert_or_assign(method, std::move(handler));
  return *this;
}

Response Routes::operator()(const Request& request) const {
  Response response;
  const auto found = paths_.find(request.path);
  if (found == paths_.end()) {
    response.status = 404;
    response.body = "There is nothing at this path.\n";
    return response;
  }
  const auto& methods = found->second;
  const auto handler = methods.find(request.method == "HEAD" ? "GET" : request.method);
  if (handler != methods.end()) return handler->second(request);
  std::string allow;
  for (const auto& [method, ignored] : methods) {
    allow += (allow.empty() ? "" : ", ") + method + (method == "GET" ? ", HEAD" : "");
  }
  response.status = 405;
  response.body = "This path takes " + allow + " only.\n";
  response.headers.emplace_back("Allow", std::move(allow));
  return response;
}

}  // namespace aqueduck::net
