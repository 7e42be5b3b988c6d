#include "study/directory/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "study/directory/results.h"
#include "study/directory/tell.h"
#include "study/file/yaml.h"
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
    if (record.status == RunStatus::kEndedEarly) record.responses = row.responses;
  }
  record.notes["source"] = std::filesystem::path(row.place).filename().string();
  return record;
}

/// The number at a position of a text, which is moved behind it; empty if there is none.
std::optional<int> number_at(const std::string& text, std::size_t& at) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  if (error != std::errc() || number < 1) return std::nullopt;
  at = static_cast<std::size_t>(end - text.data());
  return number;
}

/// The number after the last "run-" of a path.
std::optional<int> run_named_by(const std::string& path) {
  std::size_t at = path.rfind("run-");
  if (at == std::string::npos) return std::nullopt;
  return number_at(path, at += 4);
}

/// The runs that a path names: its own, or those of a server, "runs-3-4".
struct NamedRuns {
  int first = 0, last = 0;
  bool of_server = false;
};

std::optional<NamedRuns> server_named_by(const std::string& path) {
  std::size_t at = path.rfind("runs-");
  if (at == std::string::npos) return std::nullopt;
  const auto first = number_at(path, at += 5);
  if (!first || at >= path.size() || path[at] != '-') return std::nullopt;
  const auto last = number_at(path, ++at);
  return last ? std::optional(NamedRuns{*first, *last, true}) : std::nullopt;
}

/// The runs whose results a row is: only a failure can be that of a server.
std::optional<NamedRuns> runs_named_by(const RunRow& row) {
  if (const auto run = run_named_by(row.place)) return NamedRuns{*run, *run};
  const bool failed = row.status && *row.status != RunStatus::kCompleted;
  return failed ? server_named_by(row.place) : std::nullopt;
}

ToldRun told_by(const Study& study, const RunTable& table, const RunRow& row, int run) {
  ToldRun told{run, row.status.value_or(RunStatus::kCompleted), row.reason, {}};
  if (told.status != RunStatus::kCompleted) return told;
  for (const std::string& name : measured_responses(study)) {
    const auto column = table.find(name, ColumnRole::kMetric);
    const auto value = column ? parse_number(table.cell(row, *column)) : std::nullopt;
    if (value) told.responses[name] = *value;
  }
  return told;
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

ImportedResults import_planned(const StudyDirectory& directory, const RunTable& table) {
  ImportedResults imported;
  const auto planned = static_cast<int>(directory.plan.runs.size());
  std::set<int> reported;
  for (const RunRow& row : table.rows) {
    if (const auto run = run_named_by(row.place)) reported.insert(*run);
  }
  bool any = false;
  for (const RunRow& row : table.rows) {
    const auto named = runs_named_by(row);
    if (!named) {
      imported.warnings.push_back(fmt::format(
          "{}: no folder or file of its path is named run-N; it is left out", row.place));
      continue;
    }
    any = true;
    const int last = named->of_server ? std::min(named->last, planned) : named->last;
    for (int run = named->first; run <= last; ++run) {
      if (named->of_server && !reported.insert(run).second) continue;
      try {
        if (tell_run(directory, told_by(directory.study, table, row, run))) ++imported.recorded;
      } catch (const StudyError& error) {
        imported.warnings.push_back(fmt::format("{}: {}; it is left out", row.place, error.what()));
      }
    }
  }
  if (!any) {
    throw StudyError(
        fmt::format("{}: no result has a path with run-N in it, the number of its run; "
                    "import them with the study file instead of the study directory",
                    table.place));
  }
  return imported;
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
