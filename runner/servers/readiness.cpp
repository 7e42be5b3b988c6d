#include "runner/servers/readiness.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "runner/processes/output_text.h"

namespace doetune::runner {
namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kTcp = "tcp://";
constexpr std::size_t kStatusBytes = 256;  ///< more than a status line needs

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

/// Waits for a socket. False after the deadline.
bool wait_for(const FileDescriptor& socket, short events, double deadline_s) {
  pollfd waiting{socket.get(), events, 0};
  const double left_s = std::max(0.0, deadline_s - monotonic_s());
  return ::poll(&waiting, 1, to_milliseconds(left_s)) == 1;
}

std::string no_answer() { return "no answer"; }

/// Connects to one address of a host; on failure `problem` says why.
FileDescriptor connect_to(const addrinfo& entry, double deadline_s, std::string& problem) {
  FileDescriptor made(::socket(entry.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (made && ::connect(made.get(), entry.ai_addr, entry.ai_addrlen) == 0) return made;
  int error = errno;
  if (made && error == EINPROGRESS) {
    if (!wait_for(made, POLLOUT, deadline_s)) {
      problem = no_answer();
      return {};
    }
    socklen_t size = sizeof error;
    ::getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) return made;
  }
  problem = std::strerror(error);
  return {};
}

/// Why a request for the path is not answered by a status from 200 to 299.
std::string problem_of_request(const FileDescriptor& socket, const Address& address,
                               double deadline_s) {
  const std::string request = fmt::format(
      "GET {} HTTP/1.0\r\nHost: {}:{}\r\nUser-Agent: doetune\r\nConnection: close\r\n\r\n",
      address.path, address.host, address.port);
  const auto sent = ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(request.size())) return std::strerror(errno);
  std::string answer;
  while (answer.find('\n') == std::string::npos && answer.size() < kStatusBytes) {
    if (!wait_for(socket, POLLIN, deadline_s)) return no_answer();
    std::array<char, kStatusBytes> buffer;
    const ssize_t got = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return "the connection was closed without an answer";
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  }
  const std::string line = answer.substr(0, answer.find_first_of("\r\n"));
  const auto space = line.find(' ');
  if (line.rfind("HTTP/", 0) != 0 || space == std::string::npos) {
    return fmt::format("not an answer in HTTP: {}", printable(line));
  }
  return line.compare(space + 1, 1, "2") == 0 ? "" : printable(line);
}

}  // namespace

std::optional<Address> parse_address(const std::string& text) {
  Address address;
  address.http = text.rfind(kHttp, 0) == 0;
  if (!address.http && text.rfind(kTcp, 0) != 0) return std::nullopt;
  std::string rest = text.substr((address.http ? kHttp : kTcp).size());
  if (const auto slash = rest.find('/'); slash != std::string::npos) {
    address.path = rest.substr(slash);
    rest.resize(slash);
  }
  if (address.path.find_first_of(" \r\n") != std::string::npos) return std::nullopt;
  const auto bracket = rest.rfind(']');
  const auto colon = rest.find(':', bracket == std::string::npos ? 0 : bracket);
  address.port = colon == std::string::npos ? (address.http ? "80" : "") : rest.substr(colon + 1);
  address.host = rest.substr(0, colon);
  if (bracket != std::string::npos && address.host.front() == '[') {
    address.host = address.host.substr(1, bracket - 1);
  }
  const bool digits = address.port.find_first_not_of("0123456789") == std::string::npos;
  if (address.host.empty() || address.port.empty() || !digits) return std::nullopt;
  return address;
}

std::string problem_of_address(const Address& address, double limit_s) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found)) {
    return fmt::format("{}: {}", address.host, ::gai_strerror(error));
  }
  const AddressList list(found, &::freeaddrinfo);
  const double deadline_s = monotonic_s() + limit_s;
  std::string problem;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    const FileDescriptor socket = connect_to(*entry, deadline_s, problem);
    if (!socket) continue;
    return address.http ? problem_of_request(socket, address, deadline_s) : "";
  }
  return problem;
}

bool ReadinessProbe::is_ready() {
  if (!answer_.valid()) {
    if (monotonic_s() < due_s_) return false;
    answer_ = std::async(std::launch::async, problem_of_);
    return false;
  }
  if (answer_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
  problem_ = answer_.get();
  due_s_ = monotonic_s() + kPause_s;
  return problem_.empty();
}

}  // namespace doetune::runner
