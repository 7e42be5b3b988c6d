#include "study/tables/table_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "base/nearest_name.h"
#include "study/error.h"
#include "study/file/yaml.h"

namespace doetune::study {
namespace {

constexpr double kMaxGroup = 1e6;

/// Whether a text stands for a number that does not exist or is not finite, as tools write it.
bool is_no_value(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (text.starts_with('-') || text.starts_with('+')) text.erase(0, 1);
  return text == "nan" || text == "inf" || text == "infinity" || text == "none" || text == "null";
}

class TableReader {
 public:
  TableReader(const Study& study, const RunTable& table, RowsAre measured)
      : study_(study), table_(table), measured_(measured == RowsAre::kMeasured) {}

  TableRows read(const std::vector<std::string>& responses) {
    for (const doe::Factor& factor : study_.factors) {
      factor_columns_.push_back(column(factor.name, ColumnRole::kParameter));
    }
    for (const std::string& name : responses) {
      response_columns_.push_back(column(name, ColumnRole::kMetric));
    }
    whole_plots_ = named_groups("whole_plot");
    blocks_ = named_groups("block");
    TableRows read;
    for (const RunRow& row : table_.rows) {
      try {
        read.rows.push_back(row_of(row, responses));
      } catch (const StudyError& error) {
        if (!table_.reported) throw;
        warnings_.push_back(fmt::format("{}; this row is left out", error.what()));
      }
    }
    if (read.rows.empty()) {
      throw StudyError(warnings_.empty() ? table_.place + ": there are no runs"
                                         : warnings_.front());
    }
    warn_of_unused_parameters();
    read.warnings = std::move(warnings_);
    return read;
  }

 private:
  /// Runs with equal settings of all factors count as replicates. A tool's table may know better.
  void warn_of_unused_parameters() {
    std::vector<std::string> differ;
    for (std::size_t i = 0; table_.reported && i < table_.columns.size(); ++i) {
      if (table_.columns[i].role != ColumnRole::kParameter || is_factor(i)) continue;
      std::map<std::vector<std::string>, std::string> values;  // by the factors' settings
      for (const RunRow& row : table_.rows) {
        const std::string& value = table_.cell(row, i);
        if (value.empty()) continue;  // a failure names less than a result
        std::vector<std::string> settings;
        for (const std::size_t column : factor_columns_)
          settings.push_back(table_.cell(row, column));
        if (values.emplace(std::move(settings), value).first->second == value) continue;
        differ.push_back(table_.columns[i].name);
        break;
      }
    }
    if (differ.empty()) return;
    warnings_.push_back(
        fmt::format("{}: runs with equal settings of the factors differ in '{}' and are taken as "
                    "replicates; if that matters, make it a factor (--column FACTOR='{}')",
                    table_.place, fmt::join(differ, "', '"), differ.front()));
  }

  bool is_factor(std::size_t column) const {
    return std::find(factor_columns_.begin(), factor_columns_.end(), column) !=
           factor_columns_.end();
  }

  [[noreturn]] void fail(const RunRow& row, const std::string& message) const {
    throw StudyError(fmt::format("{}: {}", row.place, message));
  }

  TableRow row_of(const RunRow& from, const std::vector<std::string>& responses) {
    TableRow row;
    row.line = from.line;
    row.place = from.place;
    for (std::size_t f = 0; f < factor_columns_.size(); ++f) {
      row.settings.push_back(
          setting(study_.factors[f], table_.cell(from, factor_columns_[f]), from));
    }
    row.whole_plot = group(from, "whole_plot", whole_plots_).value_or(0);
    row.block = group(from, "block", blocks_).value_or(1);
    row.validates = validates(from);
    row.status = status(from);
    row.reason = from.reason;
    for (std::size_t r = 0; r < responses.size(); ++r) add_response(from, responses[r], r, row);
    row.was_made = !table_.find_exactly("status") || !optional_cell(from, "status").empty() ||
                   !row.responses.empty();
    if (table_.reported && row.status == RunStatus::kCompleted && row.responses.empty() &&
        !responses.empty()) {
      row.status = RunStatus::kFailed;
      row.reason = fmt::format("no value of '{}'", fmt::join(responses, "', '"));
    }
    return row;
  }

  void add_response(const RunRow& from, const std::string& name, std::size_t at, TableRow& row) {
    const std::size_t column = response_columns_[at];
    const std::string& text = table_.cell(from, column);
    if (text.empty()) return;
    if (table_.reported && is_no_value(text)) {
      warnings_.push_back(
          fmt::format("{}: response '{}': expected a finite number, found '{:.60}'; "
                      "the value is missing",
                      from.place, name, text));
      return;
    }
    row.responses[name] = number(name, text, from);
    const auto repeats = from.repeats.find(table_.columns[column].name);
    if (repeats != from.repeats.end()) row.repeats[name] = repeats->second;
  }

  std::size_t column(const std::string& name, ColumnRole role) const {
    if (const auto found = table_.find(name, role)) return *found;
    const std::string& first = table_.columns.front().name;
    const bool joined = table_.columns.size() == 1 && first.find('|') != std::string::npos;
    throw StudyError(fmt::format(
        "{}: {}", table_.place,
        joined
            ? fmt::format("expected columns separated by commas, found '{:.60}'", first)
            : fmt::format(
                  "there is no column '{}'{}{}", name, did_you_mean_or_list(name, table_.names()),
                  table_.reported ? fmt::format(" (to take one: --column {}=THEIRS)", name) : "")));
  }

  double setting(const doe::Factor& factor, const std::string& text, const RunRow& row) const {
    const auto value = factor.parse(text);
    if (!value || !(factor.allows(*value) || (measured_ && is_beyond(factor, *value)))) {
      fail(row, setting_error(factor, text));
    }
    return *value;
  }

  /// Whether a setting would be the factor's if its range were wider.
  static bool is_beyond(const doe::Factor& factor, double value) {
    if (factor.is_categorical() || (value >= factor.low && value <= factor.high)) return false;
    const bool whole = factor.kind != doe::FactorKind::kInteger || value == std::round(value);
    return whole && std::isfinite(factor.to_coded(value));
  }

  std::optional<doe::PointType> validates(const RunRow& row) const {
    const std::string text = optional_cell(row, "point_type");
    for (const doe::PointType type : {doe::PointType::kConfirmation, doe::PointType::kBaseline}) {
      if (text == doe::point_type_name(type)) return type;
    }
    return std::nullopt;
  }

  /// The cell of an optional column in a row; empty if the column is missing.
  std::string optional_cell(const RunRow& row, const char* name) const {
    const auto column = table_.find_exactly(name);
    return column ? table_.cell(row, *column) : "";
  }

  /// Numbers of the groups in a column that has names only, in order of appearance.
  std::map<std::string, int> named_groups(const char* name) const {
    std::map<std::string, int> groups;
    for (const RunRow& row : table_.rows) {
      const std::string text = optional_cell(row, name);
      if (parse_number(text)) return {};
      if (!text.empty()) groups.emplace(text, static_cast<int>(groups.size()) + 1);
    }
    return groups;
  }

  /// The number of a group of runs (block or whole plot).
  std::optional<int> group(const RunRow& row, const char* name,
                           const std::map<std::string, int>& named) const {
    const std::string text = optional_cell(row, name);
    if (text.empty()) return std::nullopt;
    if (!named.empty()) return named.at(text);
    const auto value = parse_number(text);
    if (!value || *value != std::floor(*value) || *value < 1 || *value > kMaxGroup) {
      fail(row, fmt::format(
                    "{}: expected an integer of at least 1, or names in all rows, found '{:.60}'",
                    name, text));
    }
    return static_cast<int>(*value);
  }

  RunStatus status(const RunRow& row) const {
    const std::string text = optional_cell(row, "status");
    if (text.empty()) return row.status.value_or(RunStatus::kCompleted);
    if (const auto known = run_status_from_name(text)) return *known;
    fail(row, fmt::format("status: '{:.60}' is not a status of a run{}", text,
                          did_you_mean_or_list(text, {"completed", "infeasible", "failed"})));
  }

  double number(const std::string& name, const std::string& text, const RunRow& row) const {
    const auto value = parse_number(text);
    if (!value) {
      fail(
          row,
          fmt::format(
              "response '{}': expected a number, or an empty cell if it is missing, found '{:.60}'",
              name, text));
    }
    return *value;
  }

  const Study& study_;
  const RunTable& table_;
  bool measured_;
  std::vector<std::size_t> factor_columns_, response_columns_;
  std::map<std::string, int> whole_plots_, blocks_;
  std::vector<std::string> warnings_;
};

}  // namespace

std::vector<TableRow> read_table(const Study& study, const std::filesystem::path& file,
                                 const std::vector<std::string>& responses, RowsAre rows) {
  return TableReader(study, read_csv_runs(file), rows).read(responses).rows;
}

TableRows read_measured_runs(const Study& study, const RunTable& table,
                             const std::vector<std::string>& responses) {
  return TableReader(study, table, RowsAre::kMeasured).read(responses);
}

}  // namespace doetune::study
