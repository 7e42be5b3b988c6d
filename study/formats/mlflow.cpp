// MLflow 3.17: mlflow.search_runs().to_csv(), with params.*, metrics.* and status. The CSV of its
// web page has Run ID, Status and the parameters and metrics by their names alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "study/formats/csv_runs.h"
#include "study/formats/format.h"

namespace doetune::study {
namespace {

/// The columns of the web page that describe the run.
constexpr std::array<std::string_view, 8> kPageColumns{
    "Start Time", "Duration", "Run ID", "Name", "Source Type", "Source Name", "User", "Status"};

bool is_mlflow(const ResultFile& file) {
  return (file.has_column("run_id") && file.has_column("experiment_id")) ||
         (file.has_column("Run ID") && file.has_column("Status"));
}

void set_mlflow_cell(const std::string& name, const std::string& cell, RunTable& table,
                     RunRow& run) {
  for (const auto& [prefix, role] : {std::pair{std::string("params."), ColumnRole::kParameter},
                                     std::pair{std::string("metrics."), ColumnRole::kMetric}}) {
    if (name.starts_with(prefix)) {
      table.set(run, name, role, cell, plain_name_of(name.substr(prefix.size())));
      return;
    }
  }
  const bool describes =
      std::find(kPageColumns.begin(), kPageColumns.end(), name) != kPageColumns.end() ||
      name.find('.') != name.npos;
  if (!describes) table.set(run, name, ColumnRole::kUnknown, cell);
}

/// Rows by the time at which they started: search_runs() has the last run first.
ResultFile in_order_of_start(const ResultFile& file, std::string_view column) {
  ResultFile sorted = file;
  std::stable_sort(sorted.csv.begin() + 1, sorted.csv.end(), [&](const CsvRow& a, const CsvRow& b) {
    return csv_cell(file, a, column) < csv_cell(file, b, column);
  });
  return sorted;
}

void read_mlflow(const ResultFile& file, RunTable& table) {
  const bool from_page = file.has_column("Run ID");
  const ResultFile sorted = in_order_of_start(file, from_page ? "Start Time" : "start_time");
  const std::string_view status_column = from_page ? "Status" : "status";
  const std::vector<std::string>& header = sorted.csv.front().cells;
  std::size_t unfinished = 0;
  add_csv_runs(sorted, table, [&](const CsvRow& row, RunRow& run) {
    for (std::size_t i = 0; i < header.size(); ++i) {
      set_mlflow_cell(header[i], row.cells[i], table, run);
    }
    const std::string& status = csv_cell(sorted, row, status_column);
    if (status == "FAILED" || status == "KILLED") {
      run.status = RunStatus::kFailed;
      run.reason = "MLflow: " + status;
    } else if (status == "RUNNING" || status == "SCHEDULED") {
      run.status = RunStatus::kLost;
      ++unfinished;
    }
  });
  std::erase_if(table.rows, [](const RunRow& run) { return run.status == RunStatus::kLost; });
  if (unfinished > 0) {
    table.warnings.push_back(fmt::format("{}: {} unfinished runs (RUNNING, SCHEDULED) are left out",
                                         file.path.string(), unfinished));
  }
}

}  // namespace

const ResultFormat kMlflowFormat{"mlflow", "the CSV of MLflow's search_runs() or web page",
                                 is_mlflow, read_mlflow};

}  // namespace doetune::study
