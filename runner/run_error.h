// A study that cannot be run as things are.
#pragma once

#include <stdexcept>

namespace doetune::runner {

/// A missing program, an unknown placeholder, launcher or workload: found before anything is run.
/// The message says what was looked for, where, and what would do. Exit code 3.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace doetune::runner
