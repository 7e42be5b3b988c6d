#include "study/directory/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "study/directory/results.h"
#include "study/tables/table_file.h"

namespace doetune::study {
namespace {

std::vector<std::string> measured_responses(const Study& study) {
  std::vector<std::string> names;
  for (const Response& response : study.responses) {
    if (response.formula.empty()) names.push_back(response.name);
  }
  return names;
}

RunRecord record_of(const Study& study, const PlannedRun& run, const TableRow& row) {
  RunRecord record;
  record.run = run.run;
  record.status = row.status;
  record.settings = settings_texts(study, run);
  record.host = "imported";
  if (record.status == RunStatus::kCompleted) {
    record.exit_code = 0;
    record.responses = row.responses;
    record.repeats = row.repeats;
    add_derived_responses(study, run, record);
  } else {
    record.reason = row.reason.empty()
                        ? "imported as " + std::string(run_status_name(record.status))
                        : row.reason;
  }
  record.notes["source"] = std::filesystem::path(row.place).filename().string();
  return record;
}

}  // namespace

StudyDirectory import_runs(const Study& study, const std::filesystem::path& data,
                           const std::filesystem::path& path, bool force) {
  return import_table(study, read_csv_runs(data), path, force).directory;
}

ImportedRuns import_table(const Study& study, const RunTable& table,
                          const std::filesystem::path& path, bool force) {
  Study as_table = study;
  as_table.design = {"table", {}, table.place};
  as_table.region = doe::Region();  // measured runs are accepted whether allowed or not
  TableRows read = read_measured_runs(study, table, measured_responses(study));
  const Plan plan = plan_of_rows(as_table, read.rows);
  std::vector<RunRecord> records;
  for (const PlannedRun& run : plan.runs) {
    const TableRow& row = read.rows[static_cast<std::size_t>(run.run - 1)];
    if (row.was_made) records.push_back(record_of(study, run, row));
  }
  StudyDirectory directory = create_directory(path, study, plan, force, records);
  write_file_atomically(directory.results_csv(), results_csv(directory, final_records(records)));
  return {std::move(directory), std::move(read.warnings)};
}

std::vector<std::string> range_cautions(const StudyDirectory& directory) {
  std::vector<std::string> cautions;
  const std::vector<PlannedRun>& runs = directory.plan.runs;
  for (std::size_t f = 0; f < directory.study.factors.size(); ++f) {
    const doe::Factor& factor = directory.study.factors[f];
    if (factor.is_categorical()) continue;
    const auto outside = std::count_if(runs.begin(), runs.end(), [&](const PlannedRun& run) {
      return run.settings[f] < factor.low || run.settings[f] > factor.high;
    });
    if (outside == 0) continue;
    cautions.push_back(fmt::format(
        "{} of {} runs outside the range of '{}', {} to {}: fits use them, but nothing is "
        "recommended there",
        outside, runs.size(), factor.name, factor.format(factor.low), factor.format(factor.high)));
  }
  return cautions;
}

}  // namespace doetune::study
