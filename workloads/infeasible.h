// The error for a configuration that cannot run on this machine.
#pragma once

#include <stdexcept>

namespace doetune::workloads {

/// The configuration cannot run on this machine; a retry is pointless. Workloads end with exit code
/// 77 for it.
struct Infeasible : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace doetune::workloads
