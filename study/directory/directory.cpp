#include "study/directory/directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/hash.h"
#include "base/host.h"
#include "base/version.h"
#include "study/argument_template.h"
#include "study/directory/journal.h"
#include "study/directory/matching_records.h"
#include "study/directory/original_file.h"
#include "study/directory/plan_json.h"
#include "study/directory/restore.h"
#include "study/error.h"
#include "study/experimental_region.h"
#include "study/files.h"

namespace doetune::study {
namespace {

namespace fs = std::filesystem;

/// The part of a study that determines its runs, as text: studies with the same text have
/// interchangeable runs.
std::string run_definition(const Study& study) {
  std::string text = fmt::format("seed {}\nworkload {}\n", study.seed, study.workload);
  for (const std::string& argument : study.command) text += fmt::format("argument {}\n", argument);
  for (const Setting& setting : study.settings) {
    text += fmt::format("setting {} {}\n", setting.name, setting.text);
  }
  if (!study.search) return text;
  const doe::Factor& load = study.search->load;
  text += fmt::format("search {} from {} to {} step {} of {}\n", load.name, load.low, load.high,
                      load.step, fmt::join(load.levels, " "));
  for (const LoadLimit& limit : study.search->limits) {
    text +=
        fmt::format("limit {} {} {}\n", limit.response, limit.at_most ? "<=" : ">=", limit.value);
  }
  return text;
}

/// Whether there are recorded runs, or attempts that are not recorded yet.
bool has_runs(const fs::path& directory) {
  std::error_code error;
  const bool has_attempts =
      fs::exists(directory / "runs", error) && !fs::is_empty(directory / "runs", error);
  return has_attempts || !read_journal(directory / "runs.jsonl").records.empty();
}

bool has_study_files(const fs::path& path) {
  return is_study_directory(path) || fs::exists(path / "study.yaml");
}

constexpr std::array kPlanFiles{"study.yaml", "plan.csv", "plan.json", "runs.jsonl"};

/// Whether the directory contains only what an interrupted plan or import leaves before its first
/// complete file: `lock` and partially written files.
bool is_barely_begun(const fs::path& path) {
  std::error_code error;
  return std::all_of(fs::directory_iterator(path, error), {}, [](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return name == "lock" ||
           (name.ends_with(".partial") &&
            std::any_of(kPlanFiles.begin(), kPlanFiles.end(),
                        [&](const char* file) { return name.starts_with(file); }));
  });
}

/// "choose another -o DIR, such as fccd-2", for the first such name that does not exist.
std::string another_directory(const fs::path& path) {
  const fs::path base = path.has_filename() ? path : path.parent_path();
  int number = 2;
  std::error_code error;
  while (fs::exists(fmt::format("{}-{}", base.string(), number), error)) ++number;
  return fmt::format("choose another -o DIR, such as {}-{}", base.string(), number);
}

/// Creates the directory. An existing one must be empty or a study directory.
void make_directory(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_directory(path))
    fail_at_path(path, "exists and is not a directory; " + another_directory(path));
  // In this order: another process may write study.yaml between the two looks.
  if (fs::exists(path, error) && !is_barely_begun(path) && !has_study_files(path)) {
    fail_at_path(path, "exists and is not a study directory; " + another_directory(path));
  }
  create_directories_durably(path);
}

/// How to continue with a study that cannot be opened; empty if it can be opened.
std::string advice_if_damaged(const fs::path& path) {
  try {
    open_directory(path);
    return "";
  } catch (const std::runtime_error&) {
    return restore_advice(path);
  }
}

/// Whether the directory contains only an incomplete, interrupted plan of this study.
bool is_begun(const fs::path& path, const Study& study) {
  return !fs::exists(path / "plan.json") && read_file(path / "study.yaml") == study.text;
}

/// Whether the same import was stopped after its journal was whole, before the files beside it.
bool is_stopped_import(const fs::path& path, const Study& study, const std::string& csv) {
  if (fs::exists(path / "plan.json") || fs::exists(path / "runs")) return false;
  const auto kept = read_journal(path / "runs.jsonl").sheet;
  return kept && kept->study_yaml == study.text && kept->plan_csv == csv;
}

/// Removes an earlier plan and the files derived from it, if that is allowed.
void clear(const fs::path& path, const Study& study, bool force) {
  for (const char* file : kPlanFiles) remove_left_behind(path / file);
  if (!has_study_files(path)) return;
  if (has_runs(path)) {
    fail_at_path(path,
                 fmt::format("contains runs, which would not belong to a new plan; {}. Whatever "
                             "does not change the runs, such as a goal or the name of a response, "
                             "can be edited in its study.yaml{}",
                             another_directory(path), advice_if_damaged(path)));
  }
  if (!force && !is_begun(path, study)) {
    fail_at_path(path, "already contains a plan; --force replaces it");
  }
  std::error_code error;
  for (const char* name :
       {"plan.json", "runs.jsonl", "results.csv", "fit.json", "optimum.json", "search.json"}) {
    fs::remove(path / name, error);
  }
  fs::remove_all(path / "report", error);
}

/// "key 'hash' not found" from "[json.exception.out_of_range.403] key 'hash' not found".
std::string without_number(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

/// What to do about a lost file, to append to a message.
std::string remedy(const fs::path& path) {
  const std::string advice = restore_advice(path);
  return advice.empty() ? "; restore it, or plan again" : advice;
}

nlohmann::json load_plan_json(const fs::path& path) {
  const fs::path file = path / "plan.json";
  if (!fs::exists(file)) {
    if (const std::string advice = restore_advice(path); !advice.empty())
      fail_at_path(path, "the plan is incomplete (no plan.json)" + advice);
    if (!fs::exists(path / "study.yaml")) {
      fail_at_path(
          path, "is not a study directory (no plan.json); `doetune plan STUDY.yaml` creates one");
    }
    if (has_runs(path)) fail_at_path(path, "has runs but no plan.json; restore that file");
    fail_at_path(path, fmt::format("the plan is incomplete (no plan.json), and has no runs; "
                                   "`doetune plan STUDY.yaml -o {} --force` makes it anew",
                                   shell_quoted(path.string())));
  }
  const std::string text = read_file(file);
  try {
    nlohmann::json json = nlohmann::json::parse(text);
    if (json.at("format").get<int>() > kPlanFormat) {
      fail_at_path(file, fmt::format("was made by a newer doetune ({}); this one is {}",
                                     json.value("doetune", "?"), version()));
    }
    return json;
  } catch (const nlohmann::json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    throw DirectoryError(fmt::format("{}:{}: is damaged: expected JSON{}", file.string(),
                                     1 + std::count(text.begin(), end, '\n'), remedy(path)));
  } catch (const nlohmann::json::exception& error) {
    fail_at_path(file, "is damaged: " + without_number(error) + restore_advice(path));
  }
}

[[noreturn]] void fail_in_use(const fs::path& directory) {
  throw DirectoryInUse(fmt::format("{}: is in use by another doetune ({}); wait for it or stop it",
                                   directory.string(),
                                   lock_owner(directory).value_or("owner unknown")));
}

std::vector<fs::path> study_directories_below(const fs::path& path) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    if (entry.is_directory(error) && is_study_directory(entry.path())) {
      found.push_back(entry.path().lexically_relative(path));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Checks that ranges and constraints are those of the plan; plans of older versions do not state
/// them.
void check_region(const Study& study, const nlohmann::json& plan) {
  if (!plan.contains("region")) return;
  const auto planned = plan.at("region").get<std::map<std::string, std::string>>();
  for (const auto& [key, text] : experimental_region(study)) {
    const auto before = planned.find(key);
    if (before == planned.end() || before->second == text) continue;
    throw DirectoryError(fmt::format(
        "{}: {}: planned as '{}', now '{}'; designs and predictions depend on it: undo the "
        "change, or make it in a new study file and import the runs there: `doetune import "
        "NEW.yaml "
        "{} -o NEW`",
        study.location(key), key, before->second, text,
        shell_quoted((study.file.parent_path() / "results.csv").string())));
  }
}

/// Whether a file is empty or, as after a power failure, consists of zero bytes only.
bool is_empty_text(const std::string& text) {
  return text.find_first_not_of('\0') == std::string::npos;
}

/// The text of a file that every study has.
std::string read_study_file(const fs::path& path, const char* name) {
  if (!fs::exists(path / name)) {
    fail_at_path(path, fmt::format("{} is missing{}", name, remedy(path)));
  }
  std::string text = read_file(path / name);
  if (is_empty_text(text)) fail_at_path(path / name, "is empty" + remedy(path));
  return text;
}

/// Reads study.yaml and plan.csv. Errors mention `doetune restore`: the files may be damaged.
void read_sheet_files(const fs::path& path, StudyDirectory& directory, std::string& csv) {
  read_study_file(path, "study.yaml");
  csv = read_study_file(path, "plan.csv");
  try {
    directory.study = load_study(path / "study.yaml");
    directory.plan.runs = read_plan_csv(directory.study, csv, path / "plan.csv");
  } catch (const StudyError& error) {
    throw StudyError(error.what() + restore_advice(path));
  }
}

}  // namespace

std::string sheet_hash(const Study& study, const std::string& csv) {
  return text_hash(run_definition(study) + csv);
}

fs::path StudyDirectory::attempt(int run, int attempt_number) const {
  return path / "runs" / fmt::format("{:04}.{}", run, attempt_number);
}

StudyDirectory create_directory(const fs::path& path, const Study& study, const Plan& plan,
                                bool force, const std::vector<RunRecord>& records) {
  const std::string csv = plan_csv(study, plan);
  StudyDirectory directory{path, study, plan, sheet_hash(study, csv),
                           fs::absolute(study.file).parent_path()};
  make_directory(path);
  const DirectoryLock lock(path);
  if (records.empty() || !is_stopped_import(path, study, csv)) clear(path, study, force);
  // The journal alone defines a whole study, and its rename is atomic: all of these runs or none.
  if (!records.empty()) write_journal(directory, records);
  write_file_durably(path / "study.yaml", study.text);
  write_file_durably(path / "plan.csv", csv);
  write_file_durably(path / "plan.json", plan_json(directory, {directory.plan_hash}));
  return directory;
}

void extend_directory(StudyDirectory& directory, Plan more) {
  const DirectoryLock lock(directory.path);
  check_is_current(directory);
  check_run_numbers(directory, read_journal(directory));
  const std::string before = sheet_hash(directory.study, plan_csv(directory.study, directory.plan));
  directory.plan = std::move(more);
  const std::string csv = plan_csv(directory.study, directory.plan);
  // While plan.csv is being replaced, plan.json lists the hashes of both sheets.
  write_file_durably(directory.path / "plan.json",
                     plan_json(directory, {sheet_hash(directory.study, csv), before}));
  write_file_durably(directory.path / "plan.csv", csv);
  if (fs::exists(directory.journal())) Journal journal(directory);  // stores the new sheet
}

void check_is_current(const StudyDirectory& directory) {
  if (read_file(directory.path / "plan.csv") == plan_csv(directory.study, directory.plan)) return;
  throw DirectoryInUse(directory.path.string() +
                       ": another doetune has just added runs; try again");
}

StudyDirectory open_directory(const fs::path& path) {
  if (fs::is_regular_file(path)) {
    fail_at_path(path,
                 "is a file; expected the study directory that `doetune plan` creates from it" +
                     did_you_mean_entry(path, Entry::kStudyDirectory));
  }
  if (!fs::is_directory(path)) {
    fail_at_path(path, "there is no such study directory" +
                           did_you_mean_entry(path, Entry::kStudyDirectory));
  }
  const nlohmann::json json = load_plan_json(path);
  StudyDirectory directory;
  directory.path = path;
  std::string csv;
  read_sheet_files(path, directory, csv);
  directory.plan_hash = sheet_hash(directory.study, csv);
  try {
    const auto known =
        json.value("sheets", std::vector<std::string>{json.at("hash").get<std::string>()});
    if (std::find(known.begin(), known.end(), directory.plan_hash) == known.end()) {
      fail_at_path(path,
                   "study.yaml or plan.csv was changed after planning in a way that changes the "
                   "runs (factors, workload, settings, seed); undo that, or make a new plan in "
                   "another directory" +
                       restore_advice(path));
    }
    check_region(directory.study, json);
    directory.plan_hash = json.at("hash").get<std::string>();
    directory.study.name = json.at("study").get<std::string>();
    directory.working_directory = json.at("working_directory").get<std::string>();
    directory.plan.notes = json.at("notes").get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception& error) {
    fail_at_path(path / "plan.json", "is damaged: " + without_number(error) + restore_advice(path));
  }
  take_up_original(directory);
  directory.plan.evaluation =
      doe::evaluate(directory.study.model, directory.plan.coded(directory.study.factors));
  return directory;
}

fs::path find_directory(const std::optional<fs::path>& argument) {
  if (argument) return *argument;
  const fs::path here = fs::current_path();
  if (is_study_directory(here)) return ".";
  const std::vector<fs::path> found = study_directories_below(here);
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    throw DirectoryError(
        "no study directory in or under the current directory; `doetune plan STUDY.yaml` creates "
        "one");
  }
  std::string list;
  for (const fs::path& path : found) list += "\n  " + path.string();
  throw DirectoryError(
      fmt::format("several study directories here; name one of them, as in `doetune status {}`:{}",
                  shell_quoted(found.front().string()), list));
}

std::optional<std::string> lock_owner(const fs::path& directory) {
  const fs::path file = directory / "lock";
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return std::nullopt;
  const bool held = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  if (!held) return std::nullopt;
  std::string owner = read_file(file);
  while (!owner.empty() && owner.back() == '\n') owner.pop_back();
  return owner.empty() ? "owner unknown" : owner;
}

struct DirectoryLock::Held {
  explicit Held(const fs::path& of);
  void take_file();

  fs::path path;
  FileDescriptor directory;
  FileDescriptor file = {};
};

DirectoryLock::Held::Held(const fs::path& of)
    : path(fs::absolute(of)), directory(open(of.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  // On a file system that cannot lock directories, only the lock file protects this one.
  if (flock(directory.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    fail_in_use(path);
  }
  take_file();
}

void DirectoryLock::Held::take_file() {
  const fs::path name = path / "lock";
  file = FileDescriptor(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file) fail_at_path(name, fmt::format("cannot be opened: {}", std::strerror(errno)));
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) fail_in_use(path);
  const std::string owner = fmt::format("process {} on {}\n", getpid(), host_name());
  if (ftruncate(file.get(), 0) != 0 ||
      pwrite(file.get(), owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size())) {
    fail_at_path(name, fmt::format("cannot be written: {}", std::strerror(errno)));
  }
}

namespace {

/// The lock of a DirectoryHold.
thread_local const DirectoryLock* held_by_thread = nullptr;

}  // namespace

DirectoryLock::DirectoryLock(const fs::path& directory) {
  if (held_by_thread != nullptr && held_by_thread->held_->path == fs::absolute(directory)) {
    held_ = held_by_thread->held_;
  } else {
    held_ = std::make_shared<Held>(directory);
  }
}

void DirectoryLock::check() {
  if (!still_names(held_->path, held_->directory.get())) {
    fail_at_path(held_->path,
                 "was moved or deleted while its runs were made; `doetune run DIR` continues them, "
                 "DIR being its new path");
  }
  if (!still_names(held_->path / "lock", held_->file.get())) held_->take_file();
}

DirectoryHold::DirectoryHold(const fs::path& directory) : lock_(directory) {
  held_by_thread = &lock_;
}

DirectoryHold::~DirectoryHold() { held_by_thread = nullptr; }

}  // namespace doetune::study
