#include "study/directory/restore.h"

#include <fmt/format.h>

#include "study/argument_template.h"
#include "study/directory/directory.h"
#include "study/directory/journal.h"
#include "study/directory/plan_json.h"
#include "study/error.h"
#include "study/experimental_region.h"

namespace doetune::study {
namespace {

namespace fs = std::filesystem;

/// The study directory; empty if it cannot be opened.
std::optional<StudyDirectory> openable(const fs::path& path) {
  try {
    return open_directory(path);
  } catch (const DirectoryError&) {
    return std::nullopt;
  } catch (const StudyError&) {
    return std::nullopt;
  }
}

/// The study if it has the journal's sheet, possibly with more runs after it; otherwise, or if it
/// cannot be opened, empty.
std::optional<StudyDirectory> whole_study(const fs::path& path, const KeptSheet& kept) {
  auto directory = openable(path);
  const bool whole = directory && directory->plan_hash == kept.plan &&
                     plan_csv(directory->study, directory->plan).starts_with(kept.plan_csv);
  return whole ? std::move(directory) : std::nullopt;
}

/// The study in study.yaml; empty if it cannot be read.
std::optional<Study> readable_study(const fs::path& file) {
  try {
    return load_study(file);
  } catch (const DirectoryError&) {
    return std::nullopt;
  } catch (const StudyError&) {
    return std::nullopt;
  }
}

/// The study from which the sheet was made, with later edits if they are readable and consistent
/// with the sheet.
Study study_of(const KeptSheet& kept, const fs::path& file) {
  Study study = parse_study(kept.study_yaml, file);
  const auto edited = readable_study(file);
  const bool fits = edited && sheet_hash(*edited, kept.plan_csv) == kept.hash &&
                    experimental_region(*edited) == experimental_region(study);
  return fits ? *edited : study;
}

StudyDirectory directory_of(const KeptSheet& kept, const fs::path& path) {
  StudyDirectory directory;
  directory.path = path;
  directory.study = study_of(kept, path / "study.yaml");
  directory.study.name = kept.study;
  directory.plan.runs = read_plan_csv(directory.study, kept.plan_csv, path / "plan.csv");
  directory.plan.notes = kept.notes;
  directory.plan.evaluation =
      doe::evaluate(directory.study.model, directory.plan.coded(directory.study.factors));
  directory.plan_hash = kept.plan;
  directory.working_directory = kept.working_directory;
  return directory;
}

/// The content of a file; empty if it is missing or not a regular file.
std::string text_or_nothing(const fs::path& file) {
  try {
    return read_file(file);
  } catch (const DirectoryError&) {
    return "";
  }
}

/// A name beside the file's that nothing has: what is there is never written over.
fs::path free_name(const fs::path& file) {
  fs::path name = file.string() + ".replaced";
  for (int number = 2; fs::exists(name); ++number) {
    name = fmt::format("{}.replaced-{}", file.string(), number);
  }
  return name;
}

/// Writes a file if its content differs; existing content is saved under another name.
void restore_file(const fs::path& file, const std::string& text, Restored& restored) {
  const std::string before = text_or_nothing(file);
  if (before == text) return;
  if (before.find_first_not_of('\0') != std::string::npos) {
    const fs::path aside = free_name(file);
    write_file_durably(aside, before);
    restored.moved.push_back(aside.filename().string());
  }
  write_file_durably(file, text);
  restored.files.push_back(file.filename().string());
}

}  // namespace

Restored restore_directory(const fs::path& path) {
  if (!fs::is_directory(path)) {
    fail_at_path(path, "there is no such study directory" +
                           did_you_mean_entry(path, Entry::kStudyDirectory));
  }
  const auto kept = read_journal(path / "runs.jsonl").sheet;
  if (!kept) {
    fail_at_path(path,
                 "there is no run sheet in its journal, runs.jsonl (doetune 0.1.0 kept none); "
                 "restore study.yaml, plan.csv and plan.json from a backup");
  }
  const DirectoryLock lock(path);
  if (const auto whole = whole_study(path, *kept)) {
    return {{}, {}, static_cast<int>(whole->plan.runs.size())};
  }
  const StudyDirectory directory = directory_of(*kept, path);
  if (sheet_hash(directory.study, kept->plan_csv) != kept->hash) {
    fail_at_path(path / "runs.jsonl", "its run sheet and its study file do not fit together");
  }
  Restored restored;
  restored.runs = static_cast<int>(directory.plan.runs.size());
  restore_file(path / "study.yaml", directory.study.text, restored);
  restore_file(path / "plan.csv", kept->plan_csv, restored);
  if (!whole_study(path, *kept)) {
    restore_file(path / "plan.json", plan_json(directory, {kept->hash}), restored);
  }
  return restored;
}

std::string restore_advice(const fs::path& path) {
  try {
    if (!read_journal(path / "runs.jsonl").sheet) return "";
  } catch (const DirectoryError&) {
    return "";
  }
  return fmt::format(
      "; `doetune restore {}` writes study.yaml, plan.csv and plan.json again from "
      "the journal",
      shell_quoted(path.string()));
}

}  // namespace doetune::study
