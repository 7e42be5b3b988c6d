#include <fmt/format.h>

#include "reports/format.h"
#include "reports/section.h"
#include "reports/section_parts.h"
#include "reports/slice.h"

namespace doetune::reports {
namespace {

std::vector<Cell> candidate_row(const Page& page, const std::string& name,
                                const surfaces::Candidate& candidate) {
  const std::vector<doe::Factor>& factors = factors_of(page.analysis);
  std::vector<Cell> row = {text_cell(name)};
  for (std::size_t f = 0; f < factors.size(); ++f) {
    row.push_back({factors[f].format(candidate.settings[f]), {}, !factors[f].is_categorical()});
  }
  for (const ResponseAnalysis& response : page.analysis.responses) {
    const surfaces::Outlook* outlook = outlook_of(candidate, response.response.name);
    if (outlook == nullptr) {
      row.push_back({"–"});
      continue;
    }
    const double half =
        outlook->confidence_interval
            ? (outlook->confidence_interval->high - outlook->confidence_interval->low) / 2
            : 0;
    row.push_back({(outlook->goal_met ? "" : "✗ ") + number_to(outlook->mean, half),
                   exact_number(outlook->mean)});
  }
  row.push_back(candidate.all_goals_met_probability
                    ? Cell{percent(*candidate.all_goals_met_probability),
                           exact_number(*candidate.all_goals_met_probability)}
                    : Cell{"–"});
  return row;
}

}  // namespace

void write_alternatives(const Page& page, Markup& out) {
  const surfaces::Optimum& optimum = *page.analysis.optimum;
  out.element("p", fmt::format(
      "{} that differ from the optimum by at least a quarter of some factor's range come next. "
      "✗: a goal is missed on average.",
      optimum.alternatives.size() == 1 ? "The settings"
                                       : fmt::format("The {} best settings",
                                                     optimum.alternatives.size())));
  std::vector<std::string> header = {"Settings"};
  for (const doe::Factor& factor : factors_of(page.analysis)) {
    header.push_back(name_with_unit(factor.name, factor.unit));
  }
  for (const ResponseAnalysis& response : page.analysis.responses) {
    header.push_back(name_with_unit(response.response.name, response.response.unit));
  }
  header.emplace_back("Next run meets all goals");
  std::vector<std::vector<Cell>> rows = {candidate_row(page, "optimum", optimum.best)};
  for (std::size_t i = 0; i < optimum.alternatives.size(); ++i) {
    rows.push_back(candidate_row(page, fmt::format("alternative {}", i + 1),
                                 optimum.alternatives[i]));
  }
  if (optimum.baseline) rows.push_back(candidate_row(page, "now", *optimum.baseline));
  write_table(header, rows, out);
}

}  // namespace doetune::reports
