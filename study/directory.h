// The study directory: all of a study's state, as plain files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "study/files.h"
#include "study/plan.h"
#include "study/run_record.h"
#include "study/study.h"

namespace doetune::study {

/// A study and its plan on disk.
struct StudyDirectory {
  std::filesystem::path path;
  Study study;
  Plan plan;
  std::string plan_hash;  ///< of the first run sheet and what a run executes; ties the journal to
                          ///< them. More runs do not change it
  std::filesystem::path working_directory;  ///< of commands: where the study file was

  std::filesystem::path journal() const { return path / "runs.jsonl"; }
  std::filesystem::path results_csv() const { return path / "results.csv"; }
  std::filesystem::path attempt(int run, int attempt_number) const;  ///< runs/0007.1
  std::filesystem::path report() const { return path / "report"; }
  std::filesystem::path stop_file() const { return path / "stop"; }  ///< ends `doetune run`
};

/// The hash of a run sheet and what a run executes.
std::string sheet_hash(const Study& study, const std::string& csv);

/// Writes study.yaml, plan.csv and plan.json, and a journal with `records` where there are any, all
/// of them or none; on the disk when it returns. A directory that holds runs, recorded or not, or
/// that is in use is never replaced; one that holds a plan only if `force`. Throws DirectoryError.
StudyDirectory create_directory(const std::filesystem::path& path, const Study& study,
                                const Plan& plan, bool force,
                                const std::vector<RunRecord>& records = {});

/// Adds the runs of `more` that are new to a study directory: those after its own. The files change
/// so that a crash leaves the old plan or the new; they are on the disk when it returns. The
/// directory must not be in use, its sheet not older than its journal: throws DirectoryError.
void extend_directory(StudyDirectory& directory, Plan more);

/// Opens a study directory. Ranges and constraints must be those it was planned with. Throws
/// DirectoryError, or StudyError for a damaged study.yaml.
StudyDirectory open_directory(const std::filesystem::path& path);

/// The study directory meant by an optional argument: that one, or the only one in or under the
/// current directory. Throws DirectoryError, listing them where there are several.
std::filesystem::path find_directory(const std::optional<std::filesystem::path>& argument);

/// Who holds a study directory, "process 17 on host"; empty where nobody does.
std::optional<std::string> lock_owner(const std::filesystem::path& directory);

/// Holds the study directory for one writer; released with the process, however it ends. The file
/// `lock` in it holds it for all machines, and says who does; the directory itself is held as well,
/// on this machine, because the file looks as if it could be removed.
class DirectoryLock {
 public:
  /// Throws DirectoryError naming the process and host that hold it.
  explicit DirectoryLock(const std::filesystem::path& directory);

  /// Throws DirectoryError where the directory was moved or deleted meanwhile, or where another
  /// doetune holds it because `lock` was removed. A file that was removed is made again.
  void check();

 private:
  void take_file();

  std::filesystem::path path_;
  FileDescriptor directory_;
  FileDescriptor file_;
};

}  // namespace doetune::study
