#include "study/table_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "doe/nearest_name.h"
#include "study/csv.h"
#include "study/directory.h"
#include "study/yaml.h"

namespace doetune::study {
namespace {

constexpr double kMostPlot = 1e6;

class TableReader {
 public:
  TableReader(const Study& study, const std::filesystem::path& file) : study_(study), file_(file) {
    try {
      rows_ = parse_csv(read_file(file));
    } catch (const std::invalid_argument& error) {
      throw StudyError(fmt::format("{}: {}", file.string(), error.what()));
    } catch (const DirectoryError& error) {
      throw StudyError(error.what());
    }
    if (rows_.size() < 2) throw StudyError(fmt::format("{}: the table has no rows", file.string()));
  }

  std::vector<TableRow> read(const std::vector<std::string>& responses) {
    std::vector<std::size_t> factor_columns;
    for (const doe::Factor& factor : study_.factors) factor_columns.push_back(column(factor.name));
    std::vector<std::size_t> response_columns;
    for (const std::string& name : responses) response_columns.push_back(column(name));
    const auto whole_plot = std::find(rows_[0].cells.begin(), rows_[0].cells.end(), "whole_plot");
    std::vector<TableRow> table;
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      TableRow row{rows_[i].line, {}, 0, {}};
      if (rows_[i].cells.size() != rows_[0].cells.size()) {
        fail(row.line, fmt::format("{} cells, the header has {}", rows_[i].cells.size(),
                                   rows_[0].cells.size()));
      }
      for (std::size_t f = 0; f < factor_columns.size(); ++f) {
        row.settings.push_back(
            setting(study_.factors[f], rows_[i].cells[factor_columns[f]], row.line));
      }
      if (whole_plot != rows_[0].cells.end()) {
        row.whole_plot = plot(rows_[i].cells[whole_plot - rows_[0].cells.begin()], row.line);
      }
      for (std::size_t r = 0; r < response_columns.size(); ++r) {
        const std::string& text = rows_[i].cells[response_columns[r]];
        if (!text.empty()) row.responses[responses[r]] = number(responses[r], text, row.line);
      }
      table.push_back(std::move(row));
    }
    return table;
  }

 private:
  [[noreturn]] void fail(int line, const std::string& message) const {
    throw StudyError(fmt::format("{}:{}: {}", file_.string(), line, message));
  }

  std::size_t column(const std::string& name) const {
    const std::vector<std::string>& header = rows_.front().cells;
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end()) {
      fail(1, fmt::format("there is no column '{}'{}", name, doe::did_you_mean(name, header)));
    }
    return found - header.begin();
  }

  double setting(const doe::Factor& factor, const std::string& text, int line) const {
    const auto value = factor.parse(text);
    if (!value) fail(line, fmt::format("'{}' is no setting of factor '{}'", text, factor.name));
    if (!factor.allows(*value)) {
      fail(line, fmt::format("{} = {} lies outside what the study file allows", factor.name, text));
    }
    return *value;
  }

  int plot(const std::string& text, int line) const {
    if (text.empty()) return 0;
    const auto value = parse_number(text);
    if (!value || *value != std::floor(*value) || *value < 1 || *value > kMostPlot) {
      fail(line, fmt::format("whole_plot: '{}' is no whole number from 1", text));
    }
    return static_cast<int>(*value);
  }

  double number(const std::string& name, const std::string& text, int line) const {
    const auto value = parse_number(text);
    if (!value) fail(line, fmt::format("response '{}': '{}' is no finite number", name, text));
    return *value;
  }

  const Study& study_;
  const std::filesystem::path& file_;
  std::vector<CsvRow> rows_;
};

}  // namespace

std::vector<TableRow> read_table(const Study& study, const std::filesystem::path& file,
                                 const std::vector<std::string>& responses) {
  return TableReader(study, file).read(responses);
}

}  // namespace doetune::study
