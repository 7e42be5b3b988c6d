// The decision to end a run early, as a file in the attempt's directory.
#pragma once

#include <filesystem>
#include <optional>

#include "study/directory/progress.h"

namespace doetune::runner {

/// Writes the file `ended_early`: from then on the run is ended early, whoever stops it and whether
/// or not this process lives to record it. Throws study::DirectoryError.
void write_early_end(const std::filesystem::path& attempt_directory, const study::EarlyEnd& end);

/// Empty if the file is missing or damaged.
std::optional<study::EarlyEnd> read_early_end(const std::filesystem::path& attempt_directory);

}  // namespace doetune::runner
