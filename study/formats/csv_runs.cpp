#include "study/formats/csv_runs.h"

#include <fmt/format.h>

#include <algorithm>

namespace doetune::study {

void add_csv_runs(const ResultFile& file, RunTable& table,
                  const std::function<void(const CsvRow& row, RunRow& run)>& fill,
                  std::size_t header_rows) {
  const std::size_t columns = file.csv.front().cells.size();
  for (std::size_t i = header_rows; i < file.csv.size(); ++i) {
    const CsvRow& row = file.csv[i];
    if (row.cells.size() != columns) {
      table.warnings.push_back(
          fmt::format("{}: {} cells, but the header has {}; this row is left out",
                      file.at(row.line), row.cells.size(), columns));
      continue;
    }
    RunRow run;
    run.line = row.line;
    run.place = file.at(row.line);
    fill(row, run);
    table.rows.push_back(std::move(run));
  }
}

const std::string& csv_cell(const ResultFile& file, const CsvRow& row, std::string_view column) {
  static const std::string missing;
  const std::vector<std::string>& header = file.csv.front().cells;
  const auto found = std::find(header.begin(), header.end(), column);
  const auto at = static_cast<std::size_t>(found - header.begin());
  return at < row.cells.size() ? row.cells[at] : missing;
}

}  // namespace doetune::study
