// TCP connections that carry messages, and never wait without an end.
#pragma once

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "workloads/mapping.h"

namespace doetune::workloads {

using Deadline = Clock::time_point;

struct Address {
  std::string host;
  int port = 0;
};

/// "host:port", an IPv6 address in brackets. Throws std::invalid_argument.
Address address_named(std::string_view text);
std::string to_text(const Address& address);

/// What was waited for did not come in time.
struct TimedOut : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The other end has closed the connection.
struct Closed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Listens at the address; port 0 lets the system choose one. Throws std::runtime_error, which says
/// so where the port is in use.
FileDescriptor listen_at(const Address& address);

/// The address of this end of a connection or of a listening socket.
Address local_address(int socket);

/// Lets this process have so many connections more, as far as the system's hard limit goes. What
/// opens one beyond it throws std::runtime_error, with the limit.
void allow_connections(int more);

/// The address, as numbers, where the host is this machine by its loopback interface, which other
/// machines do not reach; else empty. So is a machine's own name in Debian's /etc/hosts.
std::string loopback_of(const Address& address);

/// Tries again until somebody listens there. Throws TimedOut.
FileDescriptor connect_to(const Address& address, Deadline deadline);

/// The next connection. Throws TimedOut.
FileDescriptor accept_at(int listener, Deadline deadline);

inline constexpr std::size_t kLongestText = 1 << 16;  // from one who may be a stranger

/// A message: its length in 4 bytes, least first, then its text. Throws Closed.
void send_text(int socket, std::string_view text);

/// Throws TimedOut; Closed, also where the message is cut short; and std::runtime_error where it
/// says to be longer than `longest`.
std::string receive_text(int socket, Deadline deadline, std::size_t longest = kLongestText);

}  // namespace doetune::workloads
