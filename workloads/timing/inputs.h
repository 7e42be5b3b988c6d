// Inputs that the workloads of single operations and networks share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// A categorical input; the first level is the default.
Input categories(std::string name, std::vector<std::string> levels, std::string description);

Input precision_input();

/// The workload's own inputs, and then `device`, `threads`, `warmup`, `duration` and `roofline`.
std::vector<Input> with_timing_inputs(std::vector<Input> own);

/// The input `threads`, or one for each CPU of the request.
int threads_of(const Request& request);

}  // namespace doetune::workloads
