// Comma-separated values as RFC 4180 has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace doetune::study {

struct CsvRow {
  int line = 0;  ///< where the row begins in the file, from 1
  std::vector<std::string> cells;
};

/// Rows of a CSV text; quoted cells may hold commas, quotes and line ends. Blank lines are skipped,
/// a UTF-8 byte order mark and CR before LF are accepted.
/// Throws std::invalid_argument naming the line for a quote that is never closed.
std::vector<CsvRow> parse_csv(std::string_view text);

/// One row with its line end; cells are quoted where they must be.
std::string csv_row(const std::vector<std::string>& cells);

}  // namespace doetune::study
