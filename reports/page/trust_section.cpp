#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/confirmation.h"
#include "analysis/effects.h"
#include "analysis/format.h"
#include "analysis/run_quality.h"
#include "analysis/trust.h"
#include "reports/page/section.h"
#include "reports/page/section_parts.h"

namespace doetune::reports {
namespace {

using Trusts = std::vector<analysis::Trust>;  // by response

constexpr std::size_t kAllOpen = 3;  ///< responses; if there are more, only those that need care
                                     ///< are open

std::string sign(analysis::Trust::Level level) {
  switch (level) {
    case analysis::Trust::Level::kGood:
      return "●";
    case analysis::Trust::Level::kCare:
      return "◐";
    default:
      return "○";
  }
}

/// A standard deviation in the unit of the fit, with two significant digits.
std::string spread_text(double deviation, const analysis::ResponseAnalysis& response) {
  return analysis::with_unit(analysis::number_to(deviation, deviation),
                             analysis::fitted_unit(response));
}

Cell r2_cell(const std::optional<double>& r2) {
  return r2 ? Cell{analysis::r2_text(*r2), analysis::exact_number(*r2)} : Cell{"–"};
}

Cell sigma_cell(const analysis::ResponseAnalysis& response) {
  const std::optional<double>& sigma = response.fit->sigma;
  if (!sigma) return {"–"};
  return {spread_text(*sigma, response) + analysis::scale_words(response.fit->transform),
          analysis::exact_number(*sigma)};
}

/// The numbers apply to polynomials; parametric models and Gaussian processes are described by
/// their verdict.
void write_summary(const analysis::Analysis& analysis, const Trusts& trusts, Markup& out) {
  std::vector<std::vector<Cell>> rows;
  for (std::size_t r = 0; r < analysis.responses.size(); ++r) {
    const analysis::ResponseAnalysis& response = analysis.responses[r];
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
    const analysis::Trust& assessed = trusts[r];
    rows.push_back(
        {text_cell(response.response.name),
         prose_cell(sign(assessed.level) + " " + std::string(analysis::trust_name(assessed.level)) +
                    ": " + assessed.sentence),
         r2_cell(fit.r2), r2_cell(fit.adjusted_r2), r2_cell(fit.predicted_r2),
         fit.lack_of_fit ? Cell{analysis::p_text(fit.lack_of_fit->p)} : Cell{"–"},
         sigma_cell(response)});
    if (response.other) std::fill(rows.back().begin() + 2, rows.back().end(), Cell{"–"});
  }
  write_table({"Response", "Verdict", "R²", "Adjusted R²", "Predicted R²", "Lack of fit, p",
               "Residual standard deviation"},
              rows, out, WhenNarrow::kList);
}

void write_table_of(std::span<const analysis::Finding> found, Markup& out) {
  std::vector<std::vector<Cell>> rows;
  for (const analysis::Finding& finding : found) {
    rows.push_back({prose_cell(finding.sentence + "."),
                    prose_cell(analysis::capitalised(finding.remedy) + ".")});
  }
  write_table({"Finding", "What to do"}, rows, out, WhenNarrow::kList);
}

/// What is worth acting on, and the notes behind it folded.
void write_findings(const std::string& heading, const std::vector<analysis::Finding>& found,
                    Markup& out) {
  const auto note = std::find_if(found.begin(), found.end(), [](const auto& finding) {
    return finding.weight == analysis::Finding::Weight::kNote;
  });
  if (note != found.begin()) {
    out.element("h3", heading);
    write_table_of({found.begin(), note}, out);
  }
  if (note == found.end()) return;
  open_details(analysis::count_of(static_cast<int>(found.end() - note), "note") +
                   " that call for no action by themselves",
               out);
  write_table_of({note, found.end()}, out);
  out.close();
}

/// Block effects: deviation of each block from the average block at the same settings.
void write_block_effects(const analysis::ResponseAnalysis& response, Markup& out) {
  if (response.fit->block_effects.empty()) return;
  std::vector<std::vector<Cell>> rows;
  for (const surfaces::Coefficient& effect : response.fit->block_effects) {
    rows.push_back({text_cell(effect.term), number_cell(effect.estimate),
                    number_cell(effect.std_error),
                    effect.p ? Cell{analysis::p_text(*effect.p), analysis::exact_number(*effect.p)}
                             : Cell{"–"}});
  }
  write_table({"Block", "Above the average block", "Standard error", "p"}, rows, out);
}

void write_anova(const analysis::ResponseAnalysis& response, Markup& out) {
  open_details("Analysis of variance of " + response.response.name, out);
  std::vector<std::vector<Cell>> rows;
  for (const surfaces::AnovaRow& row : response.fit->anova) {
    rows.push_back(
        {text_cell(row.source),
         {std::to_string(row.df)},
         number_cell(row.sum_of_squares),
         number_cell(row.mean_square),
         number_cell(row.f),
         row.p ? Cell{analysis::p_text(*row.p), analysis::exact_number(*row.p)} : Cell{"–"}});
  }
  write_table({"Source", "Degrees of freedom", "Sum of squares", "Mean square", "F", "p"}, rows,
              out);
  write_block_effects(response, out);
  out.close();
}

/// Statistics of replicated runs, in words.
std::string replicate_words(const analysis::ResponseAnalysis& response) {
  const auto row = [&](const char* source) {
    const std::vector<surfaces::AnovaRow>& rows = response.fit->anova;
    return std::find_if(rows.begin(), rows.end(),
                        [&](const surfaces::AnovaRow& r) { return r.source == source; });
  };
  const auto lacking = row("lack of fit"), pure = row("pure error");
  if (!response.fit->lack_of_fit || !lacking->mean_square || !pure->mean_square) {
    return response.fit->lack_of_fit_problem.empty()
               ? ""
               : fmt::format("Lack of fit is not tested: {}.", response.fit->lack_of_fit_problem);
  }
  return fmt::format(
      "Replicated runs scatter by {}{} (standard deviation, {}); the lack of fit to their means is "
      "{} ({}): F = {:.3g}, {}.",
      spread_text(std::sqrt(*pure->mean_square), response),
      analysis::scale_words(response.fit->transform),
      analysis::count_of(pure->df, "degree") + " of freedom",
      spread_text(std::sqrt(*lacking->mean_square), response), lacking->df,
      response.fit->lack_of_fit->f, analysis::p_words(response.fit->lack_of_fit->p));
}

/// The verdict on one surface, its findings and its residuals.
void write_response(const analysis::ResponseAnalysis& response, const analysis::Trust& assessed,
                    const std::vector<Figure>& figures, const std::string& directory, bool is_open,
                    Markup& out) {
  out.open("details", is_open ? Attributes{{"open", ""}} : Attributes{});
  out.element("summary", fmt::format("{} {}: {}", sign(assessed.level), response.response.name,
                                     analysis::trust_name(assessed.level)));
  if (response.other) {
    out.element("p", analysis::capitalised(assessed.sentence));
  } else if (const std::string words = replicate_words(response); !words.empty()) {
    out.element("p", words);
  }
  if (response.other) {
    out.element("p",
                "The figures and tables describe the polynomial; predictions come from another "
                "kind of surface, " +
                    doe::word_of(response.kind) + ".");
  }
  if (!response.fit->sigma || !(*response.fit->sigma > 0)) {
    out.element("p", "Without an error estimate there are no residuals to examine.");
  }
  write_findings("Worth acting on: this surface", analysis::findings(response, directory), out);
  if (!figures.empty()) write_figures(figures, out);
  write_anova(response, out);
  out.close();
}

}  // namespace

void write_trust(const Page& page, Markup& out) {
  const auto confirmation = analysis::confirmation_of(page.analysis);
  Trusts trusts;
  for (const analysis::ResponseAnalysis& response : page.analysis.responses) {
    trusts.push_back(response.fit ? analysis::trust_after(confirmation, response)
                                  : analysis::Trust{});
  }
  write_summary(page.analysis, trusts, out);
  write_findings("Worth acting on: the runs", analysis::run_findings(page.analysis), out);
  const std::vector<analysis::ResponseAnalysis>& responses = page.analysis.responses;
  for (std::size_t r = 0; r < responses.size(); ++r) {
    if (!responses[r].fit) continue;
    const bool is_open =
        responses.size() <= kAllOpen || trusts[r].level != analysis::Trust::Level::kGood;
    write_response(responses[r], trusts[r], page.diagnostics[r],
                   page.analysis.directory->path.string(), is_open, out);
  }
}

}  // namespace doetune::reports
