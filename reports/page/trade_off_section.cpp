// What one goal costs another: the front of settings that no others beat, and what other settings
// cost and save.
#include <fmt/format.h>

#include "reports/analysis/slice.h"
#include "reports/analysis/trade_off.h"
#include "reports/format.h"
#include "reports/page/section.h"
#include "reports/page/section_parts.h"

namespace doetune::reports {
namespace {

using Rows = std::vector<std::vector<Cell>>;

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

void write_alternatives(const Page& page, Markup& out) {
  const surfaces::Optimum& optimum = *page.analysis.optimum;
  if (optimum.alternatives.empty()) return;
  out.element("h3", "Other good settings");
  out.element(
      "p",
      fmt::format(
          "{} that differ from the optimum by at least a quarter of some factor's range come next. "
          "✗: a goal is missed on average.",
          optimum.alternatives.size() == 1
              ? "The settings"
              : fmt::format("The {} best settings", optimum.alternatives.size())));
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
    rows.push_back(
        candidate_row(page, fmt::format("alternative {}", i + 1), optimum.alternatives[i]));
  }
  if (optimum.baseline) rows.push_back(candidate_row(page, "now", *optimum.baseline));
  write_table(header, rows, out);
  out.open("ul");
  for (std::size_t i = 0; i < optimum.alternatives.size(); ++i) {
    out.element("li", fmt::format("Alternative {}. {}", i + 1, alternative_text(page.analysis, i)));
  }
  out.close();
}

void write_gains(const Analysis& analysis, Markup& out) {
  if (analysis.details->gains.empty()) return;
  Rows rows;
  for (const surfaces::Gain& gain : analysis.details->gains) {
    rows.push_back({text_cell(gain.name),
                    {with_unit(signed_number(gain.difference), unit_of(analysis, gain.name)),
                     exact_number(gain.difference)},
                    text_cell(gain.interval ? interval_text(*gain.interval) : "–"),
                    gain.ratio ? number_cell(*gain.ratio) : Cell{"–"}});
  }
  out.element("h3", "What it changes against today's settings");
  write_table({"Response", "Change", "95 %", "Ratio"}, rows, out, WhenNarrow::kList);
}

std::vector<std::string> header_of(const Analysis& analysis, const char* last) {
  std::vector<std::string> header;
  for (const doe::Factor& factor : factors_of(analysis)) {
    header.push_back(name_with_unit(factor.name, factor.unit));
  }
  for (const surfaces::Outlook& outlook : analysis.optimum->best.outlooks) {
    header.push_back(name_with_unit(outlook.name, unit_of(analysis, outlook.name)));
  }
  if (last != nullptr) header.emplace_back(last);
  return header;
}

std::vector<Cell> settings_row(const Analysis& analysis, const surfaces::Candidate& candidate) {
  std::vector<Cell> row;
  const std::vector<doe::Factor>& factors = factors_of(analysis);
  for (std::size_t f = 0; f < factors.size(); ++f) {
    row.push_back({factors[f].format(candidate.settings[f]), {}, !factors[f].is_categorical()});
  }
  return row;
}

void write_equivalents(const Analysis& analysis, Markup& out) {
  if (analysis.details->equivalents.empty()) return;
  Rows rows;
  for (const surfaces::Equivalent& equivalent : analysis.details->equivalents) {
    std::vector<Cell> row = settings_row(analysis, equivalent.candidate);
    for (const surfaces::Gain& gain : equivalent.against_best) {
      row.push_back({signed_number(gain.difference), exact_number(gain.difference)});
    }
    rows.push_back(std::move(row));
  }
  out.element("h3", "Settings that the runs cannot tell from the best");
  out.element("p", "Responses are given as the difference from the best settings.");
  write_table(header_of(analysis, nullptr), rows, out);
}

void write_relaxations(const Analysis& analysis, Markup& out) {
  for (const surfaces::Relaxation& relaxation : analysis.details->relaxations) {
    const std::string value =
        with_unit(short_number(relaxation.reachable), unit_of(analysis, relaxation.name));
    out.element("p", relaxation.feasible
                         ? fmt::format("With a limit of {} on {} all other goals can be met.",
                                       value, relaxation.name)
                         : fmt::format("Even without the limit on {} the others cannot be met.",
                                       relaxation.name));
  }
}

void write_pareto(const Analysis& analysis, Markup& out) {
  if (analysis.details->pareto.points.size() < 2) return;
  Rows rows;
  for (const surfaces::ParetoPoint& point : analysis.details->pareto.points) {
    std::vector<Cell> row = settings_row(analysis, point.candidate);
    for (const surfaces::Outlook& outlook : point.candidate.outlooks) {
      row.push_back({(outlook.goal_met ? "" : "✗ ") + short_number(outlook.mean),
                     exact_number(outlook.mean)});
    }
    row.push_back({percent(point.non_dominated_probability)});
    rows.push_back(std::move(row));
  }
  open_details(fmt::format("What one goal costs another: {} settings that no others beat in every "
                           "goal",
                           rows.size()),
               out);
  write_table(header_of(analysis, "Truly not beaten"), rows, out);
  out.close();
}

/// Why nothing is drawn.
void write_no_figures(const Analysis& analysis, Markup& out) {
  if (analysis.goals.size() < 2) out.element("p", "There is one goal: nothing is traded for it.");
}

}  // namespace

void write_trade_off(const Page& page, Markup& out) {
  const Analysis& analysis = page.analysis;
  write_relaxations(analysis, out);
  if (page.trade_offs.empty()) write_no_figures(analysis, out);
  write_figures(page.trade_offs, out, "figures pairs");
  write_alternatives(page, out);
  write_gains(analysis, out);
  write_equivalents(analysis, out);
  write_pareto(analysis, out);
}

}  // namespace doetune::reports
