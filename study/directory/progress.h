// The progress that a run reports while it is made: a file in the attempt's directory.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/run_record.h"

namespace doetune::study {

/// What is recorded of a run that is ended early.
struct EarlyEnd {
  std::map<std::string, double> responses;  ///< as reported last
  std::map<std::string, Range> bounds;      ///< see RunRecord
  std::string reason;
};

/// progress.jsonl, which DOETUNE_PROGRESS names: a JSON object per line, appended by the workload,
///
///   {"step": 3, "responses": {"throughput": 812.0}}
std::filesystem::path progress_file(const std::filesystem::path& attempt_directory);

/// Its points, in ascending order of their steps: a step that comes again, as after a restart from
/// a checkpoint, replaces the points from it on. Lines that are damaged or not complete are left
/// out, and so is all but the last 16 MiB. Empty if there is no regular file.
std::vector<ProgressPoint> read_progress(const std::filesystem::path& attempt_directory);

/// The last of its points, by the last 64 KiB.
std::optional<ProgressPoint> last_progress(const std::filesystem::path& attempt_directory);

/// Appends a point; the directory is made if it is missing. Throws DirectoryError.
void append_progress(const std::filesystem::path& attempt_directory, const ProgressPoint& point);

}  // namespace doetune::study
