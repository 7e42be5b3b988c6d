#include "study/directory/import.h"

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

RunRecord record_of(const Study& study, const PlannedRun& run, const TableRow& row,
                    const std::filesystem::path& data) {
  RunRecord record;
  record.run = run.run;
  record.status = row.status;
  record.settings = settings_texts(study, run);
  record.host = "imported";
  if (record.status == RunStatus::kCompleted) {
    record.exit_code = 0;
    record.responses = row.responses;
    add_derived_responses(study, run, record);
  } else {
    record.reason = "imported as " + std::string(run_status_name(record.status));
  }
  record.notes["source"] = data.filename().string() + ":" + std::to_string(row.line);
  return record;
}

}  // namespace

StudyDirectory import_runs(const Study& study, const std::filesystem::path& data,
                           const std::filesystem::path& path, bool force) {
  Study as_table = study;
  as_table.design = {"table", {}, data};
  as_table.region = doe::Region();  // measured runs are accepted whether allowed or not
  const std::vector<TableRow> rows = read_table(study, data, measured_responses(study));
  Plan plan = make_plan(as_table, true);  // what was measured has an answer, if a smaller one
  for (PlannedRun& run : plan.runs) run.block = rows[run.run - 1].block;
  std::vector<RunRecord> records;
  for (const PlannedRun& run : plan.runs) {
    const TableRow& row = rows[static_cast<std::size_t>(run.run - 1)];
    if (row.was_made) records.push_back(record_of(study, run, row, data));
  }
  StudyDirectory directory = create_directory(path, study, plan, force, records);
  write_file_atomically(directory.results_csv(), results_csv(directory, final_records(records)));
  return directory;
}

}  // namespace doetune::study
