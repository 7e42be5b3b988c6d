// Comma-separated values as RFC 4180 has them.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::study {

struct CsvRow {
  int line = 0;  ///< where the row begins in the file, from 1
  std::vector<std::string> cells;
};

/// A text that is no such table, and where that shows.
struct CsvError : std::invalid_argument {
  CsvError(int where, const std::string& message) : std::invalid_argument(message), line(where) {}
  int line;
};

/// Rows of a CSV text; quoted cells may hold commas, quotes and line ends. Blank lines are skipped,
/// a UTF-8 byte order mark and CR before LF are accepted. Throws CsvError for a quote that is never
/// closed, and for what is no text.
std::vector<CsvRow> parse_csv(std::string_view text);

/// The same of a header and one row at least, all as long as the header. Throws CsvError.
std::vector<CsvRow> parse_csv_table(std::string_view text);

/// A cell that spreadsheets show and do not compute: one that begins as a formula does (=, @, or a
/// sign before more than a number) gets an apostrophe in front, which they take for a mark of text.
std::string shown_as_text(const std::string& cell);

/// The cell that shown_as_text was given.
std::string without_text_mark(const std::string& cell);

/// One row with its line end; cells are quoted where they must be.
std::string csv_row(const std::vector<std::string>& cells);

}  // namespace doetune::study
