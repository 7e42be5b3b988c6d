#include "reports/exports/export_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/format.h"
#include "reports/exports/script_text.h"

namespace doetune::reports {
namespace {

using Cells = std::map<int, std::string>;  ///< by run number

/// Columns with one cell for each run used in any fit; cells of other runs are missing.
class Columns {
 public:
  explicit Columns(const analysis::Analysis& analysis) {
    for (const analysis::ResponseAnalysis& response : analysis.responses) {
      runs_.insert(response.runs.begin(), response.runs.end());
    }
  }

  void add(const std::string& name, const Cells& cells) {
    ExportColumn column{name, {}};
    for (const int run : runs_) {
      const auto cell = cells.find(run);
      column.cells.push_back(cell == cells.end() ? "" : cell->second);
    }
    columns_.push_back(std::move(column));
  }

  std::vector<ExportColumn> take() { return std::move(columns_); }

 private:
  std::set<int> runs_;
  std::vector<ExportColumn> columns_;
};

void add_settings(const analysis::Analysis& analysis, Columns& columns) {
  const std::vector<doe::Factor>& factors = analysis.directory->study.factors;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    Cells cells;
    for (const study::PlannedRun& run : analysis.directory->plan.runs) {
      cells[run.run] = factors[f].is_categorical()
                           ? script_literal(factors[f].format(run.settings[f]))
                           : script_number(run.settings[f], "");
    }
    columns.add(factors[f].name, cells);
  }
}

void add_response(const analysis::Analysis& analysis, const analysis::ResponseAnalysis& response,
                  Columns& columns) {
  Cells values;
  for (const int run : response.runs) {
    const auto& measured = analysis.records.at(run).responses;
    values[run] = script_number(measured.at(response.response.name), "");
  }
  columns.add(response.response.name, values);
}

std::string block_name(const analysis::ResponseAnalysis& response, int number) {
  const auto name = response.block_names.find(number);
  return name == response.block_names.end() ? std::to_string(number) : name->second;
}

void add_circumstances(const analysis::ResponseAnalysis& response, Columns& columns) {
  if (!response.fit) return;
  const surfaces::Fit& fit = *response.fit;
  Cells blocks, weights;
  for (std::size_t i = 0; i < response.runs.size(); ++i) {
    const int run = response.runs[i];
    if (!fit.blocks.empty()) blocks[run] = script_literal(block_name(response, fit.blocks[i]));
    if (fit.weights.size() > 0) {
      weights[run] = script_number(fit.weights[static_cast<Eigen::Index>(i)], "");
    }
  }
  if (!block_levels(response).empty()) columns.add(block_column(response.response.name), blocks);
  if (!weights.empty()) columns.add(weight_column(response.response.name), weights);
}

std::string scale_note(const analysis::ResponseAnalysis& response) {
  return fmt::format(
      "{}{}: {}", analysis::name_with_unit(response.response.name, response.response.unit),
      analysis::scale_words(response.fit->transform), analysis::count_of(response.fit->n, "run"));
}

}  // namespace

std::string block_column(const std::string& response) { return "block." + response; }

std::string weight_column(const std::string& response) { return "weight." + response; }

std::vector<ExportColumn> export_columns(const analysis::Analysis& analysis) {
  Columns columns(analysis);
  Cells numbers, whole_plots;
  for (const study::PlannedRun& run : analysis.directory->plan.runs) {
    numbers[run.run] = std::to_string(run.run);
    if (run.whole_plot > 0) whole_plots[run.run] = std::to_string(run.whole_plot);
  }
  columns.add("run", numbers);
  if (!whole_plots.empty()) columns.add("whole_plot", whole_plots);
  add_settings(analysis, columns);
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    add_response(analysis, response, columns);
    add_circumstances(response, columns);
  }
  return columns.take();
}

std::vector<std::string> block_levels(const analysis::ResponseAnalysis& response) {
  const std::set<int> numbers(response.fit->blocks.begin(), response.fit->blocks.end());
  std::vector<std::string> levels;
  if (numbers.size() < 2) return levels;
  for (const int number : numbers) levels.push_back(block_name(response, number));
  std::rotate(levels.begin(), levels.begin() + 1, levels.end());
  return levels;
}

bool has_whole_plots(const analysis::ResponseAnalysis& response) {
  return response.fit && response.fit->split_plot;
}

bool is_robust(const analysis::ResponseAnalysis& response) {
  return response.fit && response.fit->loss != surfaces::Loss::kSquares;
}

std::vector<std::string> export_notes(const analysis::ResponseAnalysis& response) {
  if (!response.fit) {
    return {fmt::format("{}: doetune has no polynomial for it ({})", response.response.name,
                        response.problem)};
  }
  std::vector<std::string> notes = {scale_note(response)};
  if (response.other) {
    notes.push_back(
        fmt::format("doetune predicts it with another surface ({}), which is not fitted here; this "
                    "is the polynomial, which is also in fit.json",
                    doe::word_of(response.kind)));
  }
  if (response.fit->variance) {
    notes.emplace_back(
        "the variance depends on the settings: weights are 1 / variance from doetune's variance "
        "model, which is not fitted again here");
  }
  if (is_robust(response)) {
    notes.emplace_back(
        "a robust fit by iteration: it agrees with doetune's within the tolerances of both");
  }
  if (has_whole_plots(response)) {
    notes.emplace_back(
        "runs of a whole plot share an error: both variances are estimated by restricted maximum "
        "likelihood, as in doetune, but standard errors and p lack the Kenward-Roger adjustment "
        "that fit.json has");
  }
  return notes;
}

}  // namespace doetune::reports
