#include "study/tables/table_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/nearest_name.h"
#include "study/error.h"
#include "study/file/yaml.h"
#include "study/files.h"
#include "study/tables/csv.h"

namespace doetune::study {
namespace {

constexpr double kMaxGroup = 1e6;

class TableReader {
 public:
  TableReader(const Study& study, const std::filesystem::path& file, RowsAre measured)
      : study_(study), file_(file), measured_(measured == RowsAre::kMeasured) {
    try {
      rows_ = parse_csv_table(read_file(file));
    } catch (const CsvError& error) {
      fail(error.line, error.what());
    } catch (const DirectoryError& error) {
      throw StudyError(error.what());
    }
    for (CsvRow& row : rows_) {
      for (std::string& cell : row.cells) cell = without_text_mark(trimmed(cell));
    }
  }

  std::vector<TableRow> read(const std::vector<std::string>& responses) {
    std::vector<std::size_t> factor_columns;
    for (const doe::Factor& factor : study_.factors) factor_columns.push_back(column(factor.name));
    std::vector<std::size_t> response_columns;
    for (const std::string& name : responses) response_columns.push_back(column(name));
    const auto whole_plots = named_groups("whole_plot"), blocks = named_groups("block");
    std::vector<TableRow> table;
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      TableRow row;
      row.line = rows_[i].line;
      for (std::size_t f = 0; f < factor_columns.size(); ++f) {
        row.settings.push_back(
            setting(study_.factors[f], rows_[i].cells[factor_columns[f]], row.line));
      }
      row.whole_plot = group(i, "whole_plot", whole_plots).value_or(0);
      row.block = group(i, "block", blocks).value_or(1);
      row.validates = validates(i);
      row.status = status(i);
      for (std::size_t r = 0; r < response_columns.size(); ++r) {
        const std::string& text = rows_[i].cells[response_columns[r]];
        if (!text.empty()) row.responses[responses[r]] = number(responses[r], text, row.line);
      }
      row.was_made =
          !column_if_any("status") || !cell(i, "status").empty() || !row.responses.empty();
      table.push_back(std::move(row));
    }
    return table;
  }

 private:
  [[noreturn]] void fail(int line, const std::string& message) const {
    throw StudyError(fmt::format("{}:{}: {}", file_.string(), line, message));
  }

  /// Removes blanks around a cell.
  static std::string trimmed(const std::string& cell) {
    const std::size_t begin = cell.find_first_not_of(" \t");
    if (begin == std::string::npos) return "";
    return cell.substr(begin, cell.find_last_not_of(" \t") + 1 - begin);
  }

  std::optional<std::size_t> column_if_any(const std::string& name) const {
    const CsvRow& header = rows_.front();
    const auto found = std::find(header.cells.begin(), header.cells.end(), name);
    if (found == header.cells.end()) return std::nullopt;
    if (std::find(found + 1, header.cells.end(), name) != header.cells.end()) {
      fail(header.line, fmt::format("two columns are named '{}'", name));
    }
    return found - header.cells.begin();
  }

  std::size_t column(const std::string& name) const {
    if (const auto found = column_if_any(name)) return *found;
    const CsvRow& header = rows_.front();
    const std::string& first = header.cells.front();
    const bool joined = header.cells.size() == 1 && first.find('|') != std::string::npos;
    fail(header.line,
         joined ? fmt::format("expected columns separated by commas, found '{:.60}'", first)
                : fmt::format("there is no column '{}'{}", name,
                              did_you_mean_or_list(name, header.cells)));
  }

  double setting(const doe::Factor& factor, const std::string& text, int line) const {
    const auto value = factor.parse(text);
    if (!value || !(factor.allows(*value) || (measured_ && is_beyond(factor, *value)))) {
      fail(line, setting_error(factor, text));
    }
    return *value;
  }

  /// Whether a setting would be the factor's if its range were wider.
  static bool is_beyond(const doe::Factor& factor, double value) {
    if (factor.is_categorical() || (value >= factor.low && value <= factor.high)) return false;
    const bool whole = factor.kind != doe::FactorKind::kInteger || value == std::round(value);
    return whole && std::isfinite(factor.to_coded(value));
  }

  std::optional<doe::PointType> validates(std::size_t row) const {
    const std::string text = cell(row, "point_type");
    for (const doe::PointType type : {doe::PointType::kConfirmation, doe::PointType::kBaseline}) {
      if (text == doe::point_type_name(type)) return type;
    }
    return std::nullopt;
  }

  /// The cell of an optional column in a row; empty if the column is missing.
  std::string cell(std::size_t row, const char* name) const {
    const auto column = column_if_any(name);
    return column ? rows_[row].cells[*column] : "";
  }

  /// Numbers of the groups in a column that has names only, in order of appearance.
  std::map<std::string, int> named_groups(const char* name) const {
    std::map<std::string, int> groups;
    for (std::size_t row = 1; row < rows_.size(); ++row) {
      const std::string text = cell(row, name);
      if (parse_number(text)) return {};
      if (!text.empty()) groups.emplace(text, static_cast<int>(groups.size()) + 1);
    }
    return groups;
  }

  /// The number of a group of runs (block or whole plot).
  std::optional<int> group(std::size_t row, const char* name,
                           const std::map<std::string, int>& named) const {
    const std::string text = cell(row, name);
    if (text.empty()) return std::nullopt;
    if (!named.empty()) return named.at(text);
    const auto value = parse_number(text);
    if (!value || *value != std::floor(*value) || *value < 1 || *value > kMaxGroup) {
      fail(
          rows_[row].line,
          fmt::format("{}: expected an integer of at least 1, or names in all rows, found '{:.60}'",
                      name, text));
    }
    return static_cast<int>(*value);
  }

  RunStatus status(std::size_t row) const {
    const std::string text = cell(row, "status");
    if (text.empty()) return RunStatus::kCompleted;
    if (const auto known = run_status_from_name(text)) return *known;
    fail(rows_[row].line,
         fmt::format("status: '{:.60}' is not a status of a run{}", text,
                     did_you_mean_or_list(text, {"completed", "infeasible", "failed"})));
  }

  double number(const std::string& name, const std::string& text, int line) const {
    const auto value = parse_number(text);
    if (!value) {
      fail(
          line,
          fmt::format(
              "response '{}': expected a number, or an empty cell if it is missing, found '{:.60}'",
              name, text));
    }
    return *value;
  }

  const Study& study_;
  const std::filesystem::path& file_;
  bool measured_;
  std::vector<CsvRow> rows_;
};

}  // namespace

std::vector<TableRow> read_table(const Study& study, const std::filesystem::path& file,
                                 const std::vector<std::string>& responses, RowsAre rows) {
  return TableReader(study, file, rows).read(responses);
}

}  // namespace doetune::study
