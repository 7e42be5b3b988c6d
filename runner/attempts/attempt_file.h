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

/// The attempt as described by its attempt.json, if there is one: with its host and GPUs.
Attempt as_started(Attempt attempt);

}  // namespace doetune::runner
