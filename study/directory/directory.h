// The study directory: the complete state of a study, in plain files.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "study/files.h"
#include "study/plan.h"
#include "study/run_record.h"
#include "study/study.h"

namespace doetune::study {

/// Another process writes in the directory, or has just added runs to its plan.
struct DirectoryInUse : DirectoryError {
  using DirectoryError::DirectoryError;
};

/// A study and its plan on disk.
struct StudyDirectory {
  std::filesystem::path path;
  Study study;
  Plan plan;
  std::string plan_hash;  ///< hash of the first run sheet and of what a run executes; ties the
                          ///< journal to them. Added runs do not change it
  std::filesystem::path
      working_directory;  ///< where commands run: the directory of the original study file
  /// What was taken from the original study file, in a sentence: see take_up_original.
  std::optional<std::string> taken_up = {};

  std::filesystem::path journal() const { return path / "runs.jsonl"; }
  std::filesystem::path results_csv() const { return path / "results.csv"; }
  std::filesystem::path attempt(int run, int attempt_number) const;  ///< runs/0007.1
  std::filesystem::path report() const { return path / "report"; }
  std::filesystem::path stop_file() const { return path / "stop"; }  ///< ends `doetune run`
};

/// The hash of a run sheet and of what a run executes.
std::string sheet_hash(const Study& study, const std::string& csv);

/// Writes study.yaml, plan.csv and plan.json, and a journal if there are `records`: all of them or
/// none; durable when it returns. Never replaces a directory that holds runs, recorded or not, or
/// that is in use; replaces one that holds only a plan if `force`. Throws DirectoryError.
StudyDirectory create_directory(const std::filesystem::path& path, const Study& study,
                                const Plan& plan, bool force,
                                const std::vector<RunRecord>& records = {});

/// Appends the new runs of `more` to a study directory, those after its own. A crash leaves either
/// the old plan or the new one; the files are durable when it returns. Throws DirectoryInUse, and
/// DirectoryError if its run sheet is older than its journal.
void extend_directory(StudyDirectory& directory, Plan more);

/// Throws DirectoryInUse if another process has added runs since the directory was opened: for
/// holders of the lock.
void check_is_current(const StudyDirectory& directory);

/// Opens a study directory, and takes up what was edited last in the original study file, where
/// that can be changed after planning (directory/original_file.h). Throws DirectoryError, also if
/// ranges or constraints were edited after planning, or StudyError for a damaged study.yaml.
StudyDirectory open_directory(const std::filesystem::path& path);

/// The study directory that an optional argument names; without one, the only study directory in or
/// under the current directory. Throws DirectoryError, listing them if there are several.
std::filesystem::path find_directory(const std::optional<std::filesystem::path>& argument);

/// The holder of the lock of a study directory, "process 17 on host"; empty if there is none.
std::optional<std::string> lock_owner(const std::filesystem::path& directory);

/// Locks the study directory for one writer; released when the process ends, however it ends. The
/// file `lock` in it works across machines and names the holder. The directory itself is locked
/// too, on this machine only, in case somebody deletes the file.
class DirectoryLock {
 public:
  /// Shares the lock of the thread's DirectoryHold. Throws DirectoryInUse naming the process and
  /// host that hold the lock.
  explicit DirectoryLock(const std::filesystem::path& directory);

  /// Throws DirectoryError if the directory was moved or deleted meanwhile, or if another doetune
  /// locked it after `lock` was removed. Recreates a removed lock file.
  void check();

 private:
  friend class DirectoryHold;
  struct Held;
  std::shared_ptr<Held> held_;
};

/// Holds the lock for several steps of the calling thread that lock the directory themselves: what
/// one of them plans, the next one executes, and nobody else. One at a time.
class DirectoryHold {
 public:
  /// Throws like DirectoryLock.
  explicit DirectoryHold(const std::filesystem::path& directory);
  ~DirectoryHold();
  DirectoryHold(const DirectoryHold&) = delete;
  DirectoryHold& operator=(const DirectoryHold&) = delete;

 private:
  DirectoryLock lock_;
};

}  // namespace doetune::study
