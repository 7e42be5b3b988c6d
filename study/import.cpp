#include "study/import.h"

#include "study/journal.h"
#include "study/results.h"
#include "study/table_file.h"

namespace doetune::study {
namespace {

std::vector<std::string> measured_responses(const Study& study) {
  std::vector<std::string> names;
  for (const Response& response : study.responses) {
    if (response.formula.empty()) names.push_back(response.name);
  }
  return names;
}

}  // namespace

StudyDirectory import_runs(const Study& study, const std::filesystem::path& data,
                           const std::filesystem::path& path, bool force) {
  Study as_table = study;
  as_table.design = {"table", {}, data};
  as_table.region = doe::Region();  // what was measured is a fact, allowed or not
  const std::vector<TableRow> rows = read_table(study, data, measured_responses(study));
  Plan plan = make_plan(as_table);
  for (PlannedRun& run : plan.runs) run.block = rows[run.run - 1].block;
  StudyDirectory directory = create_directory(path, study, plan, force);
  const DirectoryLock lock(directory.path);
  Journal journal(directory.journal(), study.name, directory.plan_hash);
  for (const PlannedRun& run : directory.plan.runs) {
    RunRecord record;
    record.run = run.run;
    record.status = rows[run.run - 1].status;
    record.host = "imported";
    if (record.status == RunStatus::kCompleted) {
      record.exit_code = 0;
      record.responses = rows[run.run - 1].responses;
      add_derived_responses(study, run, record);
    } else {
      record.reason = "imported as " + std::string(run_status_name(record.status));
    }
    record.notes["source"] =
        data.filename().string() + ":" + std::to_string(rows[run.run - 1].line);
    journal.append(record);
  }
  write_file_atomically(
      directory.results_csv(),
      results_csv(directory, final_records(read_journal(directory.journal()).records)));
  return directory;
}

}  // namespace doetune::study
