#include "cli/runs/expected_time.h"

namespace doetune::cli {

std::optional<double> seconds_per_run(const study::Study& study,
                                      const std::map<int, study::RunRecord>& records) {
  double total_s = 0;
  int completed = 0;
  for (const auto& [run, record] : records) {
    if (record.status != study::RunStatus::kCompleted) continue;
    total_s += record.duration_s;
    ++completed;
  }
  return completed > 0 ? std::optional(total_s / completed) : study.run.expected_s;
}

std::optional<double> seconds_for(const study::Study& study,
                                  const std::map<int, study::RunRecord>& records, int runs) {
  const auto one_s = seconds_per_run(study, records);
  if (runs == 0) return 0;
  if (!one_s) return std::nullopt;
  const int jobs = study.run.jobs.value_or(1);
  const int waves = (runs + jobs - 1) / jobs;
  return waves * *one_s;
}

}  // namespace doetune::cli
