#include "reports/format.h"
#include "reports/run_quality.h"
#include "reports/section.h"
#include "reports/section_parts.h"
#include "reports/trust.h"

namespace doetune::reports {
namespace {

std::string sign(Trust::Level level) {
  switch (level) {
    case Trust::Level::kGood:
      return "●";
    case Trust::Level::kCare:
      return "◐";
    default:
      return "○";
  }
}

void write_summary(const Analysis& analysis, Markup& out) {
  std::vector<std::vector<Cell>> rows;
  for (const ResponseAnalysis& response : analysis.responses) {
    if (!response.fit) {
      rows.push_back({text_cell(response.response.name),
                      text_cell("○ no fit: " + response.problem),
                      {"–"},
                      {"–"},
                      {"–"},
                      {"–"},
                      {"–"}});
      continue;
    }
    const surfaces::Fit& fit = *response.fit;
    const Trust judged = trust(response);
    rows.push_back(
        {text_cell(response.response.name),
         text_cell(sign(judged.level) + " " + std::string(trust_name(judged.level)) + ": " +
                   judged.sentence),
         number_cell(fit.r2), number_cell(fit.adjusted_r2), number_cell(fit.predicted_r2),
         fit.lack_of_fit ? Cell{p_text(fit.lack_of_fit->p)} : Cell{"–"}, number_cell(fit.sigma)});
  }
  write_table({"Response", "Verdict", "R²", "Adjusted R²", "Predicted R²", "Lack of fit, p",
               "Residual standard deviation"},
              rows, out, WhenNarrow::kList);
}

void write_findings(const std::string& heading, const std::vector<Finding>& found, Markup& out) {
  std::vector<std::vector<Cell>> rows;
  for (const Finding& finding : found) {
    rows.push_back({text_cell(finding.weight == Finding::Weight::kNote ? "note" : "take care"),
                    text_cell(finding.sentence + "."), text_cell(finding.remedy + ".")});
  }
  if (rows.empty()) return;
  out.element("h3", heading);
  write_table({"", "Finding", "What to do"}, rows, out, WhenNarrow::kList);
}

/// What was measured in one block more than on average, with the same settings.
void write_block_effects(const ResponseAnalysis& response, Markup& out) {
  if (response.fit->block_effects.empty()) return;
  std::vector<std::vector<Cell>> rows;
  for (const surfaces::Coefficient& effect : response.fit->block_effects) {
    rows.push_back({text_cell(effect.term), number_cell(effect.estimate),
                    number_cell(effect.std_error),
                    effect.p ? Cell{p_text(*effect.p), exact_number(*effect.p)} : Cell{"–"}});
  }
  write_table({"Block", "Above the average block", "Standard error", "p"}, rows, out);
}

void write_anova(const ResponseAnalysis& response, Markup& out) {
  open_details("Analysis of variance of " + response.response.name, out);
  std::vector<std::vector<Cell>> rows;
  for (const surfaces::AnovaRow& row : response.fit->anova) {
    rows.push_back({text_cell(row.source),
                    {std::to_string(row.df)},
                    number_cell(row.sum_of_squares),
                    number_cell(row.mean_square),
                    number_cell(row.f),
                    row.p ? Cell{p_text(*row.p), exact_number(*row.p)} : Cell{"–"}});
  }
  write_table({"Source", "Degrees of freedom", "Sum of squares", "Mean square", "F", "p"}, rows,
              out);
  write_block_effects(response, out);
  out.close();
}

}  // namespace

void write_trust(const Page& page, Markup& out) {
  write_summary(page.analysis, out);
  write_findings("What speaks against the runs", run_findings(page.analysis), out);
  for (const ResponseAnalysis& response : page.analysis.responses) {
    write_findings("What speaks against the surface of " + response.response.name,
                   findings(response), out);
  }
  write_figures(page.diagnostics, out);
  for (const ResponseAnalysis& response : page.analysis.responses) {
    if (response.fit) write_anova(response, out);
  }
}

}  // namespace doetune::reports
