// The machine that this process runs on, and the processors it may use.
#pragma once

#include <string>
#include <vector>

namespace doetune {

/// The host name reported by the kernel, or "unknown".
std::string host_name();

/// IDs of the processors this process may use, ascending.
std::vector<int> usable_cpus();

/// "0-3,6" for {0, 1, 2, 3, 6}.
std::string cpu_list(const std::vector<int>& cpus);

}  // namespace doetune
