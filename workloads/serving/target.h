// Where the server is, and what every request to it has in common.
#pragma once

#include <string>
#include <vector>

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// The target of requests.
struct Target {
  std::string url;
  std::vector<std::string> headers =
      {};                 ///< "Name: value"; may hold a key, so they are never shown
  double timeout_s = 60;  ///< of a request, from its start to its last byte
};

/// The server's address, such as http://127.0.0.1:8000, without a slash at its end: the input
/// `url`, else `host` and `port`, else the request's server, else the environment variables
/// DOETUNE_HOST and DOETUNE_PORT. Throws UsageError.
std::string server_address(const Request& request);

/// The target below the address: Content-Type, and the key from the environment variable that the
/// input `api_key_variable` names. Throws UsageError where it is not set.
Target target_of(const Inputs& inputs, const std::string& url);

}  // namespace doetune::workloads
