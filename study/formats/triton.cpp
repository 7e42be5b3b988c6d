// Triton Model Analyzer 1.58: metrics-model-inference.csv, a row for each configuration and load.
// Source: its model_analyzer/result/result_table_manager.py.

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

}  // namespace

const ResultFormat kTritonFormat{"triton", "Triton Model Analyzer's metrics-model-inference.csv",
                                 is_triton, read_triton};

}  // namespace doetune::study
