// What a command that fails says: a message, and with --json a document of it.
#pragma once

#include <string>
#include <vector>

#include "base/json_format_fwd.h"
#include "cli/command.h"

namespace doetune::cli {

/// Prints the message to standard error and, if the arguments ask for --json, the document "error"
/// to standard output. Returns the exit code.
int fail(const std::vector<std::string>& arguments, const std::string& message, ExitCode code);

json::Schema error_schema();

}  // namespace doetune::cli
