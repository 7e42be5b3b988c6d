// TCP connections that carry messages, with a deadline on every wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "workloads/memory_mapping.h"

namespace doetune::workloads {

using Deadline = Clock::time_point;

struct Address {
  std::string host;
  int port = 0;
};

/// "host:port", an IPv6 address in brackets. Throws std::invalid_argument.
Address address_named(std::string_view text);
std::string to_text(const Address& address);

/// The deadline passed.
struct TimedOut : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The other end has closed the connection.
struct Closed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Listens at the address; port 0 lets the system choose one. Throws std::runtime_error, also where
/// the port is in use, which the message then says.
FileDescriptor listen_at(const Address& address);

/// The address of this end of a connection or of a listening socket.
Address local_address(int socket);

/// Raises this process's limit to allow this many more connections, up to the system's hard limit.
/// Opening one beyond it throws std::runtime_error, with the limit.
void allow_connections(int more);

/// The numeric address where the host resolves to this machine's loopback interface, which other
/// machines cannot reach; else empty. Debian's /etc/hosts maps a machine's own name to it.
std::string loopback_of(const Address& address);

/// Retries until something listens there. Throws TimedOut.
FileDescriptor connect_to(const Address& address, Deadline deadline);

/// The next connection. Throws TimedOut.
FileDescriptor accept_at(int listener, Deadline deadline);

inline constexpr std::size_t kLongestText = 1 << 16;  // also bounds what a stranger can send

/// A message: its length in 4 bytes, little-endian, then its text. Throws Closed.
void send_text(int socket, std::string_view text);

/// Throws TimedOut; Closed, also where the message is cut short; and std::runtime_error where it
/// claims to be longer than `longest`.
std::string receive_text(int socket, Deadline deadline, std::size_t longest = kLongestText);

}  // namespace doetune::workloads
