// A study that cannot be run as things are.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace doetune::runner {

/// A missing program, an unknown placeholder, launcher or workload: found before anything is run.
/// The message says what was looked for, where, and what would do. Exit code 3.
struct RunError : std::runtime_error {
  explicit RunError(const std::string& message, std::string where = "")
      : std::runtime_error(message), key(std::move(where)) {}
  std::string key;  ///< of the study file: what it is about, as in Study::location; may be empty
};

}  // namespace doetune::runner
