// The file attempt.json, which describes an attempt to doetune-attempt on another machine.
#pragma once

#include <filesystem>
#include <string>

#include "runner/attempts/attempt.h"

namespace doetune::runner {

/// Writes DIRECTORY/attempt.json, with all fields except the directory and
/// end_in_event. Durable when it returns, as
/// another host reads it. Throws study::DirectoryError.
void write_attempt(const Attempt& attempt);

/// Reads attempt.json and sets the directory to the given one. Throws study::DirectoryError if the
/// file is missing or invalid.
Attempt read_attempt(const std::filesystem::path& directory);

/// The attempt with the program and the working directory of this host, where another one could not
/// know them: a relative program is searched, a bundled one that is missing is that of the doetune
/// installed here, and no working directory is the current one. Throws RunError, naming where a
/// program was searched.
Attempt as_found_here(Attempt attempt);

/// The attempt as described by its attempt.json, if there is one: with its host and GPUs.
Attempt as_started(Attempt attempt);

}  // namespace doetune::runner
