#pragma once

#include <string>
#include <string_view>

#include "net/http_message.h"

namespace aqueduck::net {

/// "Not Found" of 404; "Unknown" where the number has no name.
std::string_view reason(int status);

/// False for the answers that HTTP leaves without one, whatever the handler says.
bool has_body(int status);

/// The status line and the headers of an answer, with the empty line behind them: those of `response`, and Date,
/// Content-Type, Content-Length, Connection. Line breaks and other control characters become spaces.
std::string answer_head(const Response& response, bool keep_alive);

}  // namespace aqueduck::net
