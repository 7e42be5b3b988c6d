#include "study/directory/matching_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "study/directory/restore.h"

namespace doetune::study {
namespace {

bool is_in_sheet(const Plan& plan, const RunRecord& record) {
  return record.run >= 1 && record.run <= static_cast<int>(plan.runs.size());
}

const PlannedRun& planned(const Plan& plan, const RunRecord& record) {
  return plan.runs[static_cast<std::size_t>(record.run - 1)];
}

bool measured_its_run(const StudyDirectory& directory, const RunRecord& record) {
  if (record.settings.empty()) return true;
  const std::vector<doe::Factor>& factors = directory.study.factors;
  const PlannedRun& run = planned(directory.plan, record);
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const auto text = record.settings.find(factors[f].name);
    if (text == record.settings.end() || factors[f].parse(text->second) != run.settings[f]) {
      return false;
    }
  }
  return record.settings.size() == factors.size();
}

/// "run 9", "runs 9, 10, 11 and 40 more".
std::string runs_of(const std::vector<RunRecord>& records) {
  constexpr std::size_t kMaxNamed = 8;
  std::set<int> runs;
  for (const RunRecord& record : records) runs.insert(record.run);
  const std::size_t named = std::min(runs.size(), kMaxNamed);
  const auto end = std::next(runs.begin(), static_cast<std::ptrdiff_t>(named));
  const std::size_t more = runs.size() - named;
  return fmt::format("{} {}{}", runs.size() == 1 ? "run" : "runs",
                     fmt::join(runs.begin(), end, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string settings_text(const std::map<std::string, std::string>& settings) {
  std::vector<std::string> parts;
  for (const auto& [name, text] : settings) parts.push_back(name + "=" + text);
  return fmt::format("{}", fmt::join(parts, " "));
}

/// Whether the directory has the journal's sheet, possibly with more runs after it.
bool has_sheet_of(const JournalContent& content, const StudyDirectory& directory) {
  return !content.sheet ||
         plan_csv(directory.study, directory.plan).starts_with(content.sheet->plan_csv);
}

std::string absent_text(const StudyDirectory& directory, const std::vector<RunRecord>& records) {
  return fmt::format("{}: left out: {}, not in plan.csv, which is older than the journal",
                     directory.journal().string(), runs_of(records));
}

std::string others_text(const StudyDirectory& directory, const std::vector<RunRecord>& records) {
  const RunRecord& first = records.front();
  return fmt::format(
      "{}: left out: {}, measured at other settings than plan.csv has (run {}: {}, not {})",
      directory.journal().string(), runs_of(records), first.run, settings_text(first.settings),
      settings_text(settings_texts(directory.study, planned(directory.plan, first))));
}

}  // namespace

void leave_out_others(const StudyDirectory& directory, JournalContent& content) {
  std::vector<RunRecord> kept;
  std::vector<RunRecord> absent;
  std::vector<RunRecord> others;
  for (RunRecord& record : content.records) {
    const bool in_sheet = is_in_sheet(directory.plan, record);
    (!in_sheet                             ? absent
     : measured_its_run(directory, record) ? kept
                                           : others)
        .push_back(std::move(record));
  }
  const std::string advice = has_sheet_of(content, directory) ? "" : restore_advice(directory.path);
  if (!absent.empty()) content.warnings.push_back(absent_text(directory, absent) + advice);
  if (!others.empty()) content.warnings.push_back(others_text(directory, others) + advice);
  content.records = std::move(kept);
  content.left_out = std::move(absent);
  content.left_out.insert(content.left_out.end(), others.begin(), others.end());
}

void check_sheet(const StudyDirectory& directory, const JournalContent& content) {
  if (has_sheet_of(content, directory)) return;
  const bool is_older =
      content.sheet->plan_csv.starts_with(plan_csv(directory.study, directory.plan));
  fail_at_path(directory.path / "plan.csv",
               (is_older ? "is older than the journal, whose run sheet has more runs"
                         : "is not the run sheet of the journal") +
                   restore_advice(directory.path));
}

void check_run_numbers(const StudyDirectory& directory, const JournalContent& content) {
  check_sheet(directory, content);
  std::vector<RunRecord> absent;
  for (const RunRecord& record : content.left_out) {
    if (!is_in_sheet(directory.plan, record)) absent.push_back(record);
  }
  if (absent.empty()) return;
  fail_at_path(
      directory.path,
      fmt::format("plan.csv does not have {} of the journal, whose numbers cannot be used "
                  "again; restore study.yaml, plan.csv and plan.json from a newer copy, or "
                  "take the runs of results.csv into a new study: `doetune import`",
                  runs_of(absent)));
}

}  // namespace doetune::study
