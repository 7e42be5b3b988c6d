#include "workloads/communication/socket.h"
#include "base/clock.h"
#include "base/file_descriptor.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <span>
#include <thread>

namespace doetune::workloads {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList resolve(const Address& address, int flags) {
  addrinfo hints{};
  hints.ai_flags = flags | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &list);
  if (error != 0)
    throw std::runtime_error(
        fmt::format("the host {} is not known: {}", address.host, gai_strerror(error)));
  return {list, freeaddrinfo};
}

Address in_numbers(const sockaddr* name, socklen_t length) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(name, length, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    throw std::runtime_error("a socket has no address");
  return {host.data(), std::stoi(port.data())};
}

/// A lack of file descriptors is an error: waiting does not help.
FileDescriptor opened(int socket) {
  const int error = errno;
  if (socket < 0 && (error == EMFILE || error == ENFILE)) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    throw std::runtime_error(
        fmt::format("no connection can be opened: {} (this process may have {}: ulimit -n)",
                    std::strerror(error), limit.rlim_cur));
  }
  return FileDescriptor(socket);
}

void set_option(int socket, int level, int name, int value) {
  setsockopt(socket, level, name, &value, sizeof value);
}

/// Detects a host that disappears silently, after about ten seconds.
void watch_over(int socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 4);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 10'000);
}

void wait_for(int socket, Deadline deadline, const char* what) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left < 0) throw TimedOut(fmt::format("{} did not connect in time", what));
    pollfd waiting{socket, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left + 1, 60'000))) > 0) return;
  }
}

void receive_all(int socket, std::span<char> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    wait_for(socket, deadline, "a message");
    const ssize_t got = recv(socket, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Closed("the connection was closed");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace

Address address_named(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  Address address;
  const char* end = text.data() + text.size();
  if (colon != std::string_view::npos && colon > 0) {
    address.host = text.substr(0, colon);
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, address.port);
    if (error == std::errc() && stop == end && address.port > 0 && address.port < 65536) {
      if (address.host.starts_with('[') && address.host.ends_with(']'))
        address.host = address.host.substr(1, address.host.size() - 2);
      return address;
    }
  }
  throw std::invalid_argument(fmt::format("expected host:port, not '{}'", text));
}

std::string to_text(const Address& address) {
  if (address.host.find(':') != std::string::npos)
    return fmt::format("[{}]:{}", address.host, address.port);
  return fmt::format("{}:{}", address.host, address.port);
}

FileDescriptor listen_at(const Address& address) {
  const AddressList list = resolve(address, AI_PASSIVE);
  FileDescriptor socket = opened(::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (bind(socket.get(), list->ai_addr, list->ai_addrlen) == 0 &&
      listen(socket.get(), SOMAXCONN) == 0)
    return socket;
  if (errno == EADDRINUSE)
    throw std::runtime_error(
        fmt::format("the port {} of {} is in use: another program listens there, so choose "
                    "another one",
                    address.port, address.host));
  throw std::runtime_error(
      fmt::format("cannot listen at {}: {}", to_text(address), std::strerror(errno)));
}

Address local_address(int socket) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  auto* name = reinterpret_cast<sockaddr*>(&storage);
  if (getsockname(socket, name, &length) != 0) throw std::runtime_error("a socket has no address");
  return in_numbers(name, length);
}

void allow_connections(int more) {
  constexpr rlim_t kOthers = 64;  // files that the process has open besides
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min(limit.rlim_max, kOthers + static_cast<rlim_t>(more));
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::string loopback_of(const Address& address) {
  const AddressList list = resolve(address, 0);
  const Address found = in_numbers(list->ai_addr, list->ai_addrlen);
  const bool loopback = found.host == "::1" || found.host.rfind("127.", 0) == 0;
  return loopback ? found.host : "";
}

FileDescriptor connect_to(const Address& address, Deadline deadline) {
  const AddressList list = resolve(address, 0);
  for (;;) {
    for (const addrinfo* at = list.get(); at != nullptr; at = at->ai_next) {
      FileDescriptor socket = opened(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
      set_option(socket.get(), IPPROTO_TCP, TCP_SYNCNT, 2);
      if (connect(socket.get(), at->ai_addr, at->ai_addrlen) != 0) continue;
      watch_over(socket.get());
      return socket;
    }
    if (Clock::now() > deadline)
      throw TimedOut(fmt::format("no answer from {}: {}", to_text(address), std::strerror(errno)));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

FileDescriptor accept_at(int listener, Deadline deadline) {
  for (;;) {
    wait_for(listener, deadline, "a connection");
    FileDescriptor socket = opened(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) continue;
    watch_over(socket.get());
    return socket;
  }
}

void send_text(int socket, std::string_view text) {
  std::string message(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) message[i] = static_cast<char>(text.size() >> (8 * i));
  message += text;
  for (std::string_view left = message; !left.empty();) {
    const ssize_t sent = send(socket, left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) throw Closed("the connection was closed");
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string receive_text(int socket, Deadline deadline, std::size_t longest) {
  std::array<char, 4> head{};
  receive_all(socket, head, deadline);
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i)
    length |= std::size_t{static_cast<unsigned char>(head[i])} << (8 * i);
  if (length > longest)
    throw std::runtime_error(fmt::format("a message of {} bytes is not from doetune", length));
  std::string text(length, '\0');
  receive_all(socket, text, deadline);
  return text;
}

}  // namespace doetune::workloads
