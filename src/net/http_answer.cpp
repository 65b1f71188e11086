#include "net/http_answer.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

namespace aqueduck::net {
namespace {

struct Reason {
  int status;
  std::string_view text;
};
constexpr std::array kReasons{Reason{200, "OK"},
                              Reason{201, "Created"},
                              Reason{202, "Accepted"},
                              Reason{204, "No Content"},
                              Reason{301, "Moved Permanently"},
                              Reason{302, "Found"},
                              Reason{304, "Not Modified"},
                              Reason{307, "Temporary Redirect"},
                              Reason{308, "Permanent Redirect"},
                              Reason{400, "Bad Request"},
                              Reason{401, "Unauthorized"},
                              Reason{403, "Forbidden"},
                              Reason{404, "Not Found"},
                              Reason{405, "Method Not Allowed"},
                              Reason{408, "Request Timeout"},
                              Reason{409, "Conflict"},
                              Reason{410, "Gone"},
                              Reason{411, "Length Required"},
                              Reason{413, "Content Too Large"},
                              Reason{414, "URI Too Long"},
                              Reason{415, "Unsupported Media Type"},
                              Reason{417, "Expectation Failed"},
                              Reason{422, "Unprocessable Content"},
                              Reason{429, "Too Many Requests"},
                              Reason{431, "Request Header Fields Too Large"},
                              Reason{500, "Internal Server Error"},
                              Reason{501, "Not Implemented"},
                              Reason{502, "Bad Gateway"},
                              Reason{503, "Service Unavailable"},
                              Reason{504, "Gateway Timeout"},
                              Reason{505, "HTTP Version Not Supported"}};

std::string one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return out;
}

// Not strftime: day and month names would follow the locale.
std::string date() {
  static constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  (void)::gmtime_r(&now, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays.at(static_cast<std::size_t>(utc.tm_wday)),
                     utc.tm_mday, kMonths.at(static_cast<std::size_t>(utc.tm_mon)), utc.tm_year + 1900, utc.tm_hour,
                     utc.tm_min, utc.tm_sec);
}

}  // namespace

std::string_view reason(int status) {
  for (const Reason& known : kReasons) {
    if (known.status == status) return known.text;
  }
  return "Unknown";
}

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::string answer_head(const Response& response, bool keep_alive) {
  std::string out = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status, reason(response.status), date());
  for (const auto& [name, value] : response.headers) out += fmt::format("{}: {}\r\n", one_line(name), one_line(value));
  if (has_body(response.status)) {
    if (!response.content_type.empty()) out += fmt::format("Content-Type: {}\r\n", one_line(response.content_type));
    out += fmt::format("Content-Length: {}\r\n", response.body.size());
  }
  out += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return out;
}

}  // namespace aqueduck::net
