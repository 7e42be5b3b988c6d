// The rows of a tool's CSV file as runs.
#pragma once

#include <functional>

#include "study/formats/result_file.h"
#include "study/tables/run_table.h"

namespace doetune::study {

/// Adds a run for each row below the header, which `fill` fills. A row of another length than the
/// header is left out, with a warning.
void add_csv_runs(const ResultFile& file, RunTable& table,
                  const std::function<void(const CsvRow& row, RunRow& run)>& fill,
                  std::size_t header_rows = 1);

/// The cell of a row in the column with that name; empty if there is none.
const std::string& csv_cell(const ResultFile& file, const CsvRow& row, std::string_view column);

}  // namespace doetune::study
