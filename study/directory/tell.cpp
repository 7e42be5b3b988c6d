#include "study/directory/tell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/nearest_name.h"
#include "study/directory/journal.h"
#include "study/directory/results.h"
#include "study/error.h"
#include "study/files.h"

namespace doetune::study {
namespace {

std::vector<std::string> measured_names(const Study& study) {
  std::vector<std::string> names;
  for (const Response& response : study.responses) {
    if (response.formula.empty()) names.push_back(response.name);
  }
  return names;
}

void check_told(const StudyDirectory& directory, const ToldRun& told) {
  const auto runs = static_cast<int>(directory.plan.runs.size());
  if (told.run < 1 || told.run > runs) {
    throw StudyError(fmt::format("run {}: expected a planned run, 1 to {}", told.run, runs));
  }
  const std::vector<std::string> names = measured_names(directory.study);
  for (const auto& [name, value] : told.responses) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw StudyError(fmt::format("run {}: the study measures no response '{}'{}", told.run, name,
                                   did_you_mean_or_list(name, names)));
    }
    if (!std::isfinite(value)) {
      throw StudyError(fmt::format("run {}: {}: expected a finite number", told.run, name));
    }
    const doe::TransformType transform = directory.study.find_response(name)->transform;
    const bool is_final = told.status == RunStatus::kCompleted;  // others may begin at 0
    if (!is_final || doe::has_value(transform, value)) continue;
    throw StudyError(fmt::format("run {}: {}: `transform: {}` needs {}; found {:g}", told.run, name,
                                 doe::word_of(transform), doe::domain_of(transform), value));
  }
  if (told.status != RunStatus::kCompleted) return;
  for (const std::string& name : names) {
    if (!told.responses.contains(name)) {
      throw StudyError(fmt::format("run {}: the response '{}' is missing", told.run, name));
    }
  }
}

constexpr const char* kTold = "told";  // the host of such runs

[[noreturn]] void fail_recorded(const RunRecord& before) {
  throw StudyError(fmt::format("run {} already has a different result, {}; {}", before.run,
                               run_status_name(before.status),
                               before.host == kTold ? "give --correct if that was told by mistake"
                                                    : "a measured result is not replaced"));
}

/// Whether the journal has this run's end already. Throws StudyError if it has another, which is
/// not corrected.
bool is_recorded(const RunRecord& before, const RunRecord& now, bool corrects) {
  if (!is_decided(before.status)) {
    return before.host == kTold && before.status == now.status && before.reason == now.reason;
  }
  if (before.status == now.status && before.responses == now.responses) return true;
  if (corrects && before.host == kTold) return false;
  fail_recorded(before);
}

}  // namespace

bool tell_run(const StudyDirectory& directory, const ToldRun& told) {
  check_told(directory, told);
  const PlannedRun& run = directory.plan.runs[static_cast<std::size_t>(told.run - 1)];
  RunRecord record;
  record.run = told.run;
  record.status = told.status;
  record.reason = told.reason;
  record.settings = settings_texts(directory.study, run);
  record.host = kTold;
  record.responses = told.responses;
  record.bounds = told.bounds;
  add_derived_responses(directory.study, run, record);
  const DirectoryLock lock(directory.path);
  check_is_current(directory);
  Journal journal(directory);
  std::map<int, RunRecord> records = final_records(journal.content().records);
  if (const auto before = records.find(told.run); before != records.end()) {
    if (is_recorded(before->second, record, told.corrects)) return false;
    record.attempt = before->second.attempt + 1;
  }
  journal.append(record);
  records[told.run] = record;
  write_file_atomically(directory.results_csv(), results_csv(directory, records));
  return true;
}

std::optional<EarlyEnd> tell_step(const StudyDirectory& directory, int run,
                                  const ProgressPoint& latest) {
  check_told(directory, {run, RunStatus::kEndedEarly, "", latest.responses});
  if (!std::isfinite(latest.step))
    throw StudyError(fmt::format("run {}: expected a finite step", run));
  const auto records = final_records(read_journal(directory).records);
  int attempt = 1;
  if (const auto before = records.find(run); before != records.end()) {
    const RunRecord& record = before->second;
    if (record.status == RunStatus::kEndedEarly)
      return EarlyEnd{record.responses, record.bounds, record.reason};
    if (is_decided(record.status)) {
      throw StudyError(fmt::format("run {} has ended: {}", run, run_status_name(record.status)));
    }
    attempt = record.attempt + 1;
  }
  if (!latest.responses.empty()) append_progress(directory.attempt(run, attempt), latest);
  return std::nullopt;
}

}  // namespace doetune::study
