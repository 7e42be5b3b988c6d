#include "study/tables/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "study/file/yaml.h"

namespace doetune::study {
namespace {

bool must_quote(const std::string& cell) {
  return cell.find_first_of(",\"\r\n") != std::string::npos;
}

/// Whether a spreadsheet would compute the cell, ignoring existing text marks. A leading sign alone
/// does not count: options such as -O3 begin with one.
bool is_formula(std::string_view cell) {
  cell.remove_prefix(std::min(cell.find_first_not_of('\''), cell.size()));
  if (cell.starts_with('=') || cell.starts_with('@')) return true;
  return (cell.starts_with('+') || cell.starts_with('-')) &&
         cell.find_first_of("(|!") != std::string_view::npos;
}

std::string quoted(const std::string& cell) {
  std::string text = "\"";
  for (const char c : cell) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

/// The separator of a header: the semicolon or tab of a header without commas.
char separator_of(std::string_view text) {
  const std::string_view header = text.substr(0, text.find('\n'));
  for (const char separator : {',', ';', '\t'}) {
    if (header.find(separator) != std::string_view::npos) return separator;
  }
  return ',';
}

/// "1,5" as "1.5": where commas do not separate cells, they are decimal.
std::string with_point(std::string cell) {
  const std::size_t comma = cell.find(',');
  if (comma == std::string::npos) return cell;
  std::string number = cell;
  number[comma] = '.';
  return parse_number(number) ? number : cell;
}

std::vector<CsvRow> parse_separated(std::string_view text, char separator) {
  if (const auto line = first_line_not_text(text))
    throw CsvError(*line, "this is not text (UTF-8 without control characters)");
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<CsvRow> rows;
  CsvRow row{1, {""}};
  int line = 1;
  bool in_quotes = false;
  const auto end_row = [&] {
    if (row.cells.size() > 1 || !row.cells[0].empty()) rows.push_back(row);
    row = {line, {""}};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (in_quotes) {
      const bool doubled = c == '"' && i + 1 < text.size() && text[i + 1] == '"';
      if (doubled) ++i;
      if (c == '"' && !doubled) {
        in_quotes = false;
      } else {
        row.cells.back() += c;
      }
    } else if (c == '"' && row.cells.back().empty()) {
      in_quotes = true;
    } else if (c == separator) {
      row.cells.emplace_back();
    } else if (c == '\n') {
      end_row();
    } else if (c != '\r') {
      row.cells.back() += c;
    }
  }
  if (in_quotes) throw CsvError(row.line, "a quote is opened but never closed");
  end_row();
  return rows;
}

}  // namespace

std::vector<CsvRow> parse_csv(std::string_view text) { return parse_separated(text, ','); }

std::vector<CsvRow> parse_csv_cells(std::string_view text) {
  const char separator = separator_of(text);
  std::vector<CsvRow> rows = parse_separated(text, separator);
  for (CsvRow& row : rows) {
    if (separator == ',') break;
    std::transform(row.cells.begin(), row.cells.end(), row.cells.begin(), with_point);
  }
  return rows;
}

std::vector<CsvRow> parse_csv_table(std::string_view text) {
  std::vector<CsvRow> rows = parse_csv_cells(text);
  if (rows.empty()) throw CsvError(1, "the table is empty; expected a row of column names");
  if (rows.size() == 1) throw CsvError(rows[0].line, "the table has no rows below its header");
  const std::size_t columns = rows[0].cells.size();
  for (const CsvRow& row : rows) {
    if (row.cells.size() == columns) continue;
    throw CsvError(
        row.line,
        fmt::format("{} cells, but the header has {}{}", row.cells.size(), columns,
                    row.cells.size() > columns
                        ? "; write decimals with a point, and quote texts that contain commas"
                        : ""));
  }
  return rows;
}

std::string shown_as_text(const std::string& cell) { return is_formula(cell) ? "'" + cell : cell; }

std::string without_text_mark(const std::string& cell) {
  return cell.starts_with('\'') && is_formula(cell) ? cell.substr(1) : cell;
}

std::string trimmed_cell(const std::string& cell) {
  const std::size_t begin = cell.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return without_text_mark(cell.substr(begin, cell.find_last_not_of(" \t") + 1 - begin));
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text += ',';
    text += must_quote(cells[i]) ? quoted(cells[i]) : cells[i];
  }
  return text + '\n';
}

}  // namespace doetune::study
