// Which processes accept connections at a port of this machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace doetune::runner {

/// Inodes of the sockets that listen at a TCP port, from the text of /proc/net/tcp or tcp6.
std::vector<std::uint64_t> listening_sockets(std::string_view table, int port);

/// The processes that listen at a TCP port, as far as this user can see them.
std::vector<pid_t> listeners(int port);

}  // namespace doetune::runner
