#include <algorithm>

#include "reports/format.h"
#include "reports/section.h"
#include "reports/section_parts.h"
#include "reports/slice.h"

namespace doetune::reports {
namespace {

const study::RunRecord* record_of(const Analysis& analysis, int run) {
  const auto found = analysis.records.find(run);
  return found == analysis.records.end() ? nullptr : &found->second;
}

std::vector<std::string> header(const Analysis& analysis) {
  std::vector<std::string> titles = {"Run", "Point"};
  for (const doe::Factor& factor : factors_of(analysis)) {
    titles.push_back(name_with_unit(factor.name, factor.unit));
  }
  for (const ResponseAnalysis& response : analysis.responses) {
    titles.push_back(name_with_unit(response.response.name, response.response.unit));
  }
  titles.insert(titles.end(), {"Status", "Remark"});
  return titles;
}

Cell response_cell(const study::RunRecord* record, const std::string& name) {
  if (record == nullptr) return {"–"};
  const auto value = record->responses.find(name);
  return value == record->responses.end() ? Cell{"–"} : number_cell(value->second);
}

/// Why a run failed, or that its residual stands out.
std::string remark(const Analysis& analysis, const study::RunRecord* record, int run) {
  if (record == nullptr) return "";
  std::string text = record->reason;
  for (const ResponseAnalysis& response : analysis.responses) {
    const auto found = std::find(response.runs.begin(), response.runs.end(), run);
    if (!response.fit || found == response.runs.end()) continue;
    const surfaces::RunInfluence& influence =
        response.diagnostics.runs[static_cast<std::size_t>(found - response.runs.begin())];
    if (!influence.outlier) continue;
    text += (text.empty() ? "" : "; ") + response.response.name + ": outlier, residual " +
            number_to(*influence.studentised, 0.1) + " standard deviations";
  }
  return text;
}

std::vector<Cell> row(const Analysis& analysis, const study::PlannedRun& run) {
  const study::RunRecord* record = record_of(analysis, run.run);
  std::vector<Cell> cells = {{std::to_string(run.run)},
                             text_cell(std::string(doe::point_type_name(run.type)))};
  const std::vector<doe::Factor>& factors = factors_of(analysis);
  for (std::size_t f = 0; f < factors.size(); ++f) {
    cells.push_back({factors[f].format(run.settings[f]), {}, !factors[f].is_categorical()});
  }
  for (const ResponseAnalysis& response : analysis.responses) {
    cells.push_back(response_cell(record, response.response.name));
  }
  cells.push_back(text_cell(
      record == nullptr ? "not run" : std::string(study::run_status_name(record->status))));
  cells.push_back(text_cell(remark(analysis, record, run.run)));
  return cells;
}

}  // namespace

void write_runs(const Page& page, Markup& out) {
  const Analysis& analysis = page.analysis;
  out.element("p",
              std::to_string(analysis.completed()) + " of " +
                  count_of(static_cast<int>(analysis.directory->plan.runs.size()), "planned run") +
                  " completed.");
  std::vector<std::vector<Cell>> rows;
  for (const study::PlannedRun& run : analysis.directory->plan.runs)
    rows.push_back(row(analysis, run));
  write_table(header(analysis), rows, out);
}

}  // namespace doetune::reports
