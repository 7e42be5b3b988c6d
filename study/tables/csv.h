// Reads and writes comma-separated values (RFC 4180).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::study {

struct CsvRow {
  int line = 0;  ///< line of the file where the row begins, from 1
  std::vector<std::string> cells;
};

/// A text that is not valid CSV, and the line of the error.
struct CsvError : std::invalid_argument {
  CsvError(int where, const std::string& message) : std::invalid_argument(message), line(where) {}
  int line;
};

/// The rows of a CSV text. Quoted cells may hold commas, quotes and line ends. Blank lines are
/// skipped; a UTF-8 byte order mark and CR before LF are accepted. Throws CsvError for an unclosed
/// quote and for binary data.
std::vector<CsvRow> parse_csv(std::string_view text);

/// Like parse_csv, for a header and at least one row, all of the same length. A header without
/// commas may separate by semicolons or tabs, as spreadsheets of many countries do; numbers may
/// then have decimal commas. Throws CsvError.
std::vector<CsvRow> parse_csv_table(std::string_view text);

/// The cells of such a table as they are: rows may differ in length, and there may be none.
std::vector<CsvRow> parse_csv_cells(std::string_view text);

/// Marks a cell so that a spreadsheet displays it instead of computing it: a cell that begins like
/// a formula (=, @, or a sign before more than a number) gets an apostrophe in front, which
/// spreadsheets take as a text mark.
std::string shown_as_text(const std::string& cell);

/// Inverse of shown_as_text.
std::string without_text_mark(const std::string& cell);

/// Without blanks around it and without the text mark.
std::string trimmed_cell(const std::string& cell);

/// One row with its line end; cells are quoted where necessary.
std::string csv_row(const std::vector<std::string>& cells);

}  // namespace doetune::study
