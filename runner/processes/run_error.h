// Error for a study that cannot be run in its environment.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace doetune::runner {

/// A missing program, an unknown placeholder, launcher or workload, detected before any run. The
/// message says what was looked for, where, and a remedy. Exit code 3.
struct RunError : std::runtime_error {
  explicit RunError(const std::string& message, std::string where = "")
      : std::runtime_error(message), key(std::move(where)) {}
  std::string key;  ///< key in the study file, as in Study::location; may be empty
};

/// Throws RunError unless `holds`.
inline void require(bool holds, const std::string& message, const char* key) {
  if (!holds) throw RunError(message, key);
}

}  // namespace doetune::runner
