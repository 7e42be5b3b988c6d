#include "study/run_record.h"

#include <algorithm>
#include <array>
#include <utility>

namespace doetune::study {
namespace {

constexpr std::array<std::pair<RunStatus, std::string_view>, 7> kNames{{
    {RunStatus::kCompleted, "completed"},
    {RunStatus::kInfeasible, "infeasible"},
    {RunStatus::kFailed, "failed"},
    {RunStatus::kTimedOut, "timed_out"},
    {RunStatus::kCancelled, "cancelled"},
    {RunStatus::kLost, "lost"},
    {RunStatus::kEndedEarly, "ended_early"},
}};

}  // namespace

bool is_decided(RunStatus status) {
  return status == RunStatus::kCompleted || status == RunStatus::kInfeasible ||
         status == RunStatus::kEndedEarly;
}

std::string_view run_status_name(RunStatus status) {
  return std::find_if(kNames.begin(), kNames.end(),
                      [&](const auto& entry) { return entry.first == status; })
      ->second;
}

std::optional<RunStatus> run_status_from_name(std::string_view name) {
  for (const auto& [status, text] : kNames) {
    if (text == name) return status;
  }
  return std::nullopt;
}

std::map<int, RunRecord> final_records(const std::vector<RunRecord>& records) {
  std::map<int, RunRecord> last;
  for (const RunRecord& record : records) {
    const auto [entry, first] = last.try_emplace(record.run, record);
    if (!first && record.attempt >= entry->second.attempt) entry->second = record;
  }
  return last;
}

}  // namespace doetune::study
