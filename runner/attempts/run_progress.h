// The progress that a workload reports while it runs, and the decision to end it early: two files
// in the attempt's directory.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/run_record.h"

namespace doetune::runner {

/// progress.jsonl, which DOETUNE_PROGRESS names: a JSON object per line, appended by the workload,
///
///   {"step": 3, "responses": {"throughput": 812.0}}
std::filesystem::path progress_file(const std::filesystem::path& attempt_directory);

/// Its points, in ascending order of their steps: a step that comes again, as after a restart from
/// a checkpoint, replaces the points from it on. Lines that are damaged or not complete are left
/// out, and so is all but the last 16 MiB. Empty if there is no regular file.
std::vector<study::ProgressPoint> read_progress(const std::filesystem::path& attempt_directory);

/// The last of its points, by the last 64 KiB.
std::optional<study::ProgressPoint> last_progress(const std::filesystem::path& attempt_directory);

/// What is recorded of a run that is ended early.
struct EarlyEnd {
  std::map<std::string, double> responses;     ///< as reported last
  std::map<std::string, study::Range> bounds;  ///< see RunRecord
  std::string reason;
};

/// Writes the file `ended_early`: from then on the run is ended early, whoever stops it and whether
/// or not this process lives to record it. Throws study::DirectoryError.
void write_early_end(const std::filesystem::path& attempt_directory, const EarlyEnd& end);

/// Empty if the file is missing or damaged.
std::optional<EarlyEnd> read_early_end(const std::filesystem::path& attempt_directory);

}  // namespace doetune::runner
