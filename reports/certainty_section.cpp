// How sure the optimum is: where the true best lies, what it gains, what a step off costs, which
// settings are as good, and what one goal costs another.
#include <fmt/format.h>

#include "reports/format.h"
#include "reports/section.h"
#include "reports/section_parts.h"
#include "reports/slice.h"

namespace doetune::reports {
namespace {

using Rows = std::vector<std::vector<Cell>>;

std::string signed_number(double x, const std::string& unit) {
  return with_unit((x < 0 ? "" : "+") + short_number(x), unit);
}

const std::string& unit_of(const Analysis& analysis, const std::string& name) {
  return analysis.directory->study.find_response(name)->unit;
}

std::string place_text(const doe::Factor& factor, const surfaces::FactorUncertainty& place) {
  if (!factor.is_categorical()) {
    return fmt::format("{} to {}", factor.format(factor.snap(place.settings.low)),
                       factor.format(factor.snap(place.settings.high)));
  }
  const std::vector<double>& shares = place.shares;
  std::string text;
  for (std::size_t level = 0; level < shares.size(); ++level) {
    text += fmt::format("{}{} {}", level == 0 ? "" : ", ", factor.level_names[level],
                        percent(shares[level]));
  }
  return text;
}

void write_place(const Analysis& analysis, Markup& out) {
  const auto& uncertainty = analysis.details->uncertainty;
  if (!uncertainty) return;
  const std::vector<doe::Factor>& factors = factors_of(analysis);
  Rows rows;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const surfaces::FactorUncertainty& place = uncertainty->factors[f];
    rows.push_back({text_cell(name_with_unit(factors[f].name, factors[f].unit)),
                    {factors[f].format(analysis.optimum->best.settings[f])},
                    text_cell(place_text(factors[f], place))});
  }
  out.element("h3", "Where the true best lies");
  out.element("p", fmt::format("Each of {} draws of what the true surfaces may be, given the runs, "
                               "has a best of its own; nine in ten lie in these ranges.",
                               uncertainty->draws));
  write_table({"Factor", "Best setting", "True best, 90 %"}, rows, out, WhenNarrow::kList);
}

void write_gains(const Analysis& analysis, Markup& out) {
  if (analysis.details->gains.empty()) return;
  Rows rows;
  for (const surfaces::Gain& gain : analysis.details->gains) {
    rows.push_back({text_cell(gain.name),
                    {signed_number(gain.difference, unit_of(analysis, gain.name)),
                     exact_number(gain.difference)},
                    text_cell(gain.interval ? interval_text(*gain.interval) : "–"),
                    gain.ratio ? number_cell(*gain.ratio) : Cell{"–"}});
  }
  out.element("h3", "What it changes against today's settings");
  write_table({"Response", "Change", "95 %", "Ratio"}, rows, out, WhenNarrow::kList);
}

void write_robustness(const Analysis& analysis, Markup& out) {
  const surfaces::Robustness& robustness = analysis.details->robustness;
  Rows rows;
  for (const surfaces::RobustResponse& response : robustness.responses) {
    rows.push_back({text_cell(name_with_unit(response.name, unit_of(analysis, response.name))),
                    text_cell(interval_text(response.range)), number_cell(response.transmitted)});
  }
  out.element("h3", "If a setting is one step off");
  out.element("p",
              fmt::format("Every numeric factor moved by one usable step, in all combinations: "
                          "{} of these settings keep to every limit, by their predicted means.",
                          percent(robustness.limits_met_share)));
  write_table({"Response", "Lowest to highest", "Standard deviation passed on"}, rows, out,
              WhenNarrow::kList);
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
      row.push_back({signed_number(gain.difference, ""), exact_number(gain.difference)});
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

}  // namespace

void write_certainty(const Page& page, Markup& out) {
  write_relaxations(page.analysis, out);
  write_gains(page.analysis, out);
  write_place(page.analysis, out);
  write_robustness(page.analysis, out);
  write_equivalents(page.analysis, out);
  write_pareto(page.analysis, out);
}

}  // namespace doetune::reports
