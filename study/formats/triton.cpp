// Triton Model Analyzer 1.58: metrics-model-inference.csv, a row for each configuration and load.
// Source: its model_analyzer/result/result_table_manager.py.

#include <algorithm>
#include <map>

#include "study/formats/csv_runs.h"
#include "study/formats/format.h"

namespace doetune::study {
namespace {

/// Columns that say nothing beyond others, or judge a run.
bool is_described_elsewhere(const std::string& name) {
  return name == "Model Config Path" || name == "Instance Group" || name == "Satisfies Constraints";
}

ColumnRole role_of(const std::string& name) {
  if (is_described_elsewhere(name)) return ColumnRole::kUnknown;
  return name.ends_with(')') ? ColumnRole::kMetric : ColumnRole::kParameter;  // ends in its unit
}

bool is_triton(const ResultFile& file) {
  return file.has_column("Model") && file.has_column("Model Config Path");
}

void read_triton(const ResultFile& file, RunTable& table) {
  const std::vector<std::string>& header = file.csv.front().cells;
  add_csv_runs(file, table, [&](const CsvRow& row, RunRow& run) {
    for (std::size_t i = 0; i < header.size(); ++i) {
      table.set(run, header[i], role_of(header[i]), row.cells[i]);
    }
    // "2:GPU" is two things that a study varies.
    const std::string& group = csv_cell(file, row, "Instance Group");
    const std::size_t colon = group.find(':');
    if (colon == group.npos || group.find_first_of("+,") != group.npos) return;
    table.set(run, "instance_count", ColumnRole::kParameter, group.substr(0, colon));
    table.set(run, "instance_kind", ColumnRole::kParameter, group.substr(colon + 1));
  });
}

/// A table has no column of the batching's delay and of other parameters. Where configurations
/// differ in nothing that it lists, their name is a parameter.
void tell_configurations_apart(RunTable& table) {
  const auto column =
      std::find_if(table.columns.begin(), table.columns.end(),
                   [](const RunColumn& other) { return other.name == "Model Config Path"; });
  const auto path = static_cast<std::size_t>(column - table.columns.begin());
  std::map<std::vector<std::string>, std::string> configurations;  // by all parameters
  for (const RunRow& run : table.rows) {
    std::vector<std::string> parameters;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].role == ColumnRole::kParameter) parameters.push_back(table.cell(run, i));
    }
    const std::string& name = table.cell(run, path);
    if (configurations.emplace(std::move(parameters), name).first->second == name) continue;
    column->role = ColumnRole::kParameter;
    return;
  }
}

}  // namespace

const ResultFormat kTritonFormat{"triton",  "Triton Model Analyzer's metrics-model-inference.csv",
                                 is_triton, read_triton,
                                 nullptr,   tell_configurations_apart};

}  // namespace doetune::study
