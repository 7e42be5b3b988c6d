// Asking a program something that it answers at once.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace doetune::runner {

struct Answer {
  std::string text;       ///< standard output
  bool complete = false;  ///< it ended its output in time and within the limit
  std::string problem;    ///< why it could not be started
};

/// Runs a program (absolute path; no shell) until it closes its output, `timeout_s` at most, and
/// kills whatever it leaves running. Its standard input is empty.
Answer ask_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                   const std::filesystem::path& working_directory, double timeout_s,
                   std::size_t most_bytes = 1 << 20);

}  // namespace doetune::runner
