// An attempt as a file, for the process that starts it elsewhere: doetune-attempt.
#pragma once

#include <filesystem>
#include <string>

#include "runner/attempts/attempt.h"

namespace doetune::runner {

/// Writes DIRECTORY/attempt.json: all of the attempt but its directory. On the disk when it
/// returns, for another host reads it. Throws study::DirectoryError.
void write_attempt(const Attempt& attempt);

/// Reads it back; the directory is the one given. Throws study::DirectoryError for a file that is
/// not there or is no attempt.
Attempt read_attempt(const std::filesystem::path& directory);

}  // namespace doetune::runner
