// The tools whose results can be imported.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/formats/result_file.h"
#include "study/tables/run_table.h"

namespace doetune::study {

/// To add a format, write a source file, its place in kOrder and its line in CMakeLists.txt.
struct ResultFormat {
  std::string_view name;     ///< as on the command line: "vllm"
  std::string_view summary;  ///< the tool and its files
  bool (*recognises)(const ResultFile& file);
  /// Adds the runs of a file. Throws StudyError for a file that cannot be understood; a run that
  /// cannot is left out, with a warning.
  void (*read)(const ResultFile& file, RunTable& table);
  /// Whether a file of a folder only repeats what others of it report; may be null.
  bool (*repeats_others)(const std::filesystem::path& file) = nullptr;
  /// What only all runs together tell, once they are read; may be null.
  void (*complete)(RunTable& table) = nullptr;
};

std::span<const ResultFormat> result_formats();

/// What was read, and by which format.
struct Results {
  RunTable table;
  const ResultFormat* format = nullptr;  ///< null: a table with columns of the user's own
};

/// What to read, and how.
struct ResultSources {
  std::vector<std::filesystem::path> paths;  ///< files, and folders that are searched for files
  std::string format;                        ///< a name of result_formats(); empty: by content
  std::string study;  ///< of a database with several studies: the one to read
};

/// Whether the content of a file is that of a format: a study file is not.
bool is_result_file(const std::filesystem::path& path);

/// Reads the runs of all files, which must be of one format, in order of their names within
/// folders. A damaged file among several is left out, with a warning. Throws StudyError if nothing
/// can be read.
Results read_results(const ResultSources& sources);

// The formats, in the order in which they are tried.
extern const ResultFormat kTritonFormat, kVllmFormat, kAiperfFormat, kGuidellmFormat, kOptunaFormat,
    kHyperfineFormat, kMlflowFormat;

}  // namespace doetune::study
