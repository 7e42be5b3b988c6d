// Trade-offs between goals: the Pareto front, and gains and losses of alternative settings.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "analysis/trade_off.h"
#include "reports/page/section.h"
#include "reports/page/section_parts.h"

namespace doetune::reports {
namespace {

using Rows = std::vector<std::vector<Cell>>;

Cell prediction_cell(const surfaces::ResponsePrediction& predicted) {
  return {
      (predicted.goal_met ? "" : "✗ ") +
          analysis::number_to(predicted.mean, analysis::half_width(predicted.confidence_interval)),
      analysis::exact_number(predicted.mean)};
}

/// The columns of a table of settings: all factors if they are few, otherwise the first ones that
/// differ from the optimum in any row.
class SettingsColumns {
 public:
  SettingsColumns(const analysis::Analysis& analysis,
                  const std::vector<const surfaces::Candidate*>& candidates)
      : factors_(analysis::factors_of(analysis)) {
    const auto differ = [&](std::size_t f) {
      return std::any_of(candidates.begin(), candidates.end(), [&](const auto* candidate) {
        return candidate->settings[f] != analysis.optimum->best.settings[f];
      });
    };
    for (std::size_t f = 0; f < factors_.size(); ++f) {
      if (factors_.size() > kMax && (shown_.size() == kMax || !differ(f))) continue;
      shown_.push_back(f);
    }
  }

  std::vector<std::string> header() const {
    std::vector<std::string> names;
    for (const std::size_t f : shown_) {
      names.push_back(analysis::name_with_unit(factors_[f].name, factors_[f].unit));
    }
    return names;
  }

  std::vector<Cell> row(const surfaces::Candidate& candidate) const {
    std::vector<Cell> cells;
    for (const std::size_t f : shown_) {
      cells.push_back(
          {factors_[f].format(candidate.settings[f]), {}, !factors_[f].is_categorical()});
    }
    return cells;
  }

  /// The omitted columns, in a sentence.
  std::string left_out() const {
    if (shown_.size() == factors_.size()) return "";
    return fmt::format(
        "Only the {1} of {0} factors in which these configurations differ are shown.",
        factors_.size(), shown_.size());
  }

 private:
  static constexpr std::size_t kMax = 8;
  const std::vector<doe::Factor>& factors_;
  std::vector<std::size_t> shown_;
};

std::vector<const surfaces::Candidate*> candidates_of(
    const std::vector<surfaces::Candidate>& candidates) {
  std::vector<const surfaces::Candidate*> all;
  for (const surfaces::Candidate& candidate : candidates) all.push_back(&candidate);
  return all;
}

void write_settings_table(const SettingsColumns& columns, const std::vector<std::string>& header,
                          const Rows& rows, Markup& out) {
  write_table(header, rows, out);
  if (!columns.left_out().empty()) {
    out.element("p", columns.left_out(), {{"class", "quiet"}});
  }
}

std::vector<Cell> candidate_row(const Page& page, const SettingsColumns& columns,
                                const std::string& name, const surfaces::Candidate& candidate) {
  std::vector<Cell> row = columns.row(candidate);
  row.insert(row.begin(), text_cell(name));
  for (const analysis::ResponseAnalysis& response : page.analysis.responses) {
    const surfaces::ResponsePrediction* predicted =
        analysis::prediction_of(candidate, response.response.name);
    if (predicted == nullptr) {
      row.push_back({"–"});
      continue;
    }
    row.push_back(prediction_cell(*predicted));
  }
  row.push_back(candidate.all_goals_met_probability
                    ? Cell{analysis::chance_text(*candidate.all_goals_met_probability),
                           analysis::exact_number(*candidate.all_goals_met_probability)}
                    : Cell{"–"});
  return row;
}

void write_alternatives(const Page& page, Markup& out) {
  const surfaces::Optimum& optimum = *page.analysis.optimum;
  if (optimum.alternatives.empty()) return;
  out.element("h3", "Other good configurations");
  out.element(
      "p", fmt::format("{}{} that differ from the optimum by at least a quarter of some "
                       "factor's range. ✗: predicted to miss the limit of a goal.",
                       optimum.alternatives.size() == 1
                           ? "The best configuration"
                           : fmt::format("The {} best configurations", optimum.alternatives.size()),
                       page.analysis.among_runs ? " of those that were run" : ""));
  auto all = candidates_of(optimum.alternatives);
  if (optimum.baseline) all.push_back(&*optimum.baseline);
  const SettingsColumns columns(page.analysis, all);
  std::vector<std::string> header = columns.header();
  header.insert(header.begin(), "Configuration");
  for (const analysis::ResponseAnalysis& response : page.analysis.responses) {
    header.push_back(analysis::name_with_unit(response.response.name, response.response.unit));
  }
  header.emplace_back("Next run meets all goals");
  Rows rows = {candidate_row(page, columns, "optimum", optimum.best)};
  for (std::size_t i = 0; i < optimum.alternatives.size(); ++i) {
    rows.push_back(candidate_row(page, columns, fmt::format("alternative {}", i + 1),
                                 optimum.alternatives[i]));
  }
  if (optimum.baseline) rows.push_back(candidate_row(page, columns, "baseline", *optimum.baseline));
  write_settings_table(columns, header, rows, out);
  out.open("ul");
  for (std::size_t i = 0; i < optimum.alternatives.size(); ++i) {
    out.element("li", fmt::format("Alternative {}. {}", i + 1,
                                  analysis::alternative_text(page.analysis, i)));
  }
  out.close();
}

Cell difference_cell(const surfaces::Gain& gain, const std::string& unit) {
  return {analysis::with_unit(
              analysis::signed_difference_to(gain.difference, analysis::half_width(gain.interval)),
              unit),
          analysis::exact_number(gain.difference)};
}

void write_gains(const analysis::Analysis& analysis, Markup& out) {
  if (analysis.details->gains.empty()) return;
  Rows rows;
  for (const surfaces::Gain& gain : analysis.details->gains) {
    rows.push_back(
        {text_cell(gain.name), difference_cell(gain, analysis::unit_of(analysis, gain.name)),
         text_cell(gain.interval ? analysis::interval_text(*gain.interval) : "–"),
         gain.ratio
             ? Cell{analysis::number_to(*gain.ratio, analysis::half_width(gain.ratio_interval)),
                    analysis::exact_number(*gain.ratio)}
             : Cell{"–"},
         text_cell(gain.ratio_interval ? analysis::interval_text(*gain.ratio_interval) : "–")});
  }
  out.element("h3", "Change relative to the baseline");
  write_table({"Response", "Change", "95 %", "Ratio", "95 % of the ratio"}, rows, out,
              WhenNarrow::kList);
}

std::vector<std::string> header_of(const analysis::Analysis& analysis,
                                   const SettingsColumns& columns, const char* last) {
  std::vector<std::string> header = columns.header();
  for (const surfaces::ResponsePrediction& predicted : analysis.optimum->best.predictions) {
    header.push_back(
        analysis::name_with_unit(predicted.name, analysis::unit_of(analysis, predicted.name)));
  }
  if (last != nullptr) header.emplace_back(last);
  return header;
}

void write_equivalents(const analysis::Analysis& analysis, Markup& out) {
  if (analysis.details->equivalents.empty()) return;
  std::vector<const surfaces::Candidate*> all;
  for (const auto& equivalent : analysis.details->equivalents) all.push_back(&equivalent.candidate);
  const SettingsColumns columns(analysis, all);
  Rows rows;
  for (const surfaces::Equivalent& equivalent : analysis.details->equivalents) {
    std::vector<Cell> row = columns.row(equivalent.candidate);
    for (const surfaces::Gain& gain : equivalent.against_best) {
      row.push_back(difference_cell(gain, ""));
      if (!gain.interval) continue;
      const double half = analysis::half_width(gain.interval);
      row.back().text += " ± " + analysis::number_to(half, half);
    }
    rows.push_back(std::move(row));
  }
  out.element("h3", "Configurations that are not significantly different from the best");
  out.element("p",
              "They are far apart, and none is significantly worse. Responses are given as the "
              "difference from the best configuration ± half its 95 % interval.");
  write_settings_table(columns, header_of(analysis, columns, nullptr), rows, out);
}

void write_relaxations(const analysis::Analysis& analysis, Markup& out) {
  for (const surfaces::Relaxation& relaxation : analysis.details->relaxations) {
    const std::string value = analysis::with_unit(analysis::short_number(relaxation.reachable),
                                                  analysis::unit_of(analysis, relaxation.name));
    out.element("p",
                relaxation.feasible
                    ? fmt::format("With a limit of {} on {} all other goals can be met.", value,
                                  relaxation.name)
                    : fmt::format("Even without the limit on {} the other goals cannot be met.",
                                  relaxation.name));
  }
}

void write_pareto(const analysis::Analysis& analysis, Markup& out) {
  if (analysis.details->pareto.points.size() < 2) return;
  std::vector<const surfaces::Candidate*> all;
  for (const auto& point : analysis.details->pareto.points) all.push_back(&point.candidate);
  const SettingsColumns columns(analysis, all);
  Rows rows;
  for (const surfaces::ParetoPoint& point : analysis.details->pareto.points) {
    std::vector<Cell> row = columns.row(point.candidate);
    for (const surfaces::ResponsePrediction& predicted : point.candidate.predictions) {
      row.push_back(prediction_cell(predicted));
    }
    row.push_back({analysis::chance_text(point.non_dominated_probability)});
    rows.push_back(std::move(row));
  }
  open_details(
      fmt::format("Trade-off between goals: {} Pareto-optimal configurations", rows.size()), out);
  write_settings_table(columns, header_of(analysis, columns, "Probability of being Pareto-optimal"),
                       rows, out);
  out.close();
}

/// Explains why nothing is drawn.
void write_no_figures(const analysis::Analysis& analysis, Markup& out) {
  if (analysis.goals.size() < 2)
    out.element("p", "There is only one goal, so there is no trade-off.");
}

}  // namespace

void write_trade_off(const Page& page, Markup& out) {
  const analysis::Analysis& analysis = page.analysis;
  write_relaxations(analysis, out);
  if (page.trade_offs.empty()) write_no_figures(analysis, out);
  if (const std::string left_out = trade_offs_left_out(analysis); !left_out.empty()) {
    out.element("p", left_out);
  }
  write_figures(page.trade_offs, out, "figures pairs");
  write_alternatives(page, out);
  write_gains(analysis, out);
  write_equivalents(analysis, out);
  write_pareto(analysis, out);
}

}  // namespace doetune::reports
