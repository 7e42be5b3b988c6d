// A fact about settings: they cannot run here.
#pragma once

#include <stdexcept>

namespace doetune::workloads {

/// The settings cannot run on this machine: a fact about them, never worth a retry. Workloads end
/// with exit code 77 for it.
struct Infeasible : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace doetune::workloads
