#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/format.h"
#include "reports/page/section.h"
#include "reports/page/section_parts.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kMaxAliasSets = 10;

Cell percent_cell(const std::optional<double>& value) {
  return value ? Cell{fmt::format("{:.1f} %", *value), analysis::exact_number(*value)} : Cell{"–"};
}

/// If the maximum variance is not proven, the G-efficiency is an upper bound.
Cell g_cell(const doe::FullEvaluation& evaluation) {
  Cell cell = percent_cell(evaluation.g_efficiency);
  if (evaluation.max_variance && !evaluation.max_variance->proven) cell.text = "≤ " + cell.text;
  return cell;
}

using Property = Cell (*)(const doe::FullEvaluation&);

struct Row {
  const char* name;
  Property property;
};

constexpr Row kRows[] = {
    {"Runs", [](const doe::FullEvaluation& e) { return Cell{std::to_string(e.basics.runs)}; }},
    {"Coefficients of the model",
     [](const doe::FullEvaluation& e) { return Cell{std::to_string(e.basics.terms)}; }},
    {"D-efficiency (all coefficients together)",
     [](const doe::FullEvaluation& e) { return percent_cell(e.basics.d_efficiency); }},
    {"A-efficiency (their average variance)",
     [](const doe::FullEvaluation& e) { return percent_cell(e.basics.a_efficiency); }},
    {"G-efficiency (the worst prediction)", g_cell},
    {"Average prediction variance (I), relative to the variance of one run",
     [](const doe::FullEvaluation& e) { return number_cell(e.average_variance); }},
    {"Largest prediction variance found",
     [](const doe::FullEvaluation& e) {
       return e.max_variance ? number_cell(e.max_variance->value) : Cell{"–"};
     }},
    {"Condition number",
     [](const doe::FullEvaluation& e) { return number_cell(e.basics.condition_number); }},
};

void write_efficiencies(const analysis::DesignQuality& quality, Markup& out) {
  std::vector<std::string> header = {"", "As planned"};
  if (quality.made) header.emplace_back("As completed so far");
  std::vector<std::vector<Cell>> rows;
  for (const Row& row : kRows) {
    rows.push_back({text_cell(row.name), row.property(quality.planned)});
    if (quality.made) rows.back().push_back(row.property(*quality.made));
  }
  write_table(header, rows, out);
}

/// Lists what the runs cannot determine, and the consequences for the figures.
void write_gaps(const analysis::DesignQuality& quality, Markup& out) {
  const doe::FullEvaluation& evaluation = quality.shown();
  const bool is_plan = !quality.made;
  if (!evaluation.basics.aliases.empty()) {
    out.element("p", fmt::format("The {} do not determine {}; without all coefficients there is no "
                                 "prediction variance, leverage or power.",
                                 is_plan ? "planned runs" : "completed runs",
                                 fmt::join(evaluation.basics.aliases, ", ")));
  } else if (evaluation.basics.runs == evaluation.basics.terms) {
    out.element("p",
                "There are as many coefficients as runs, so every run has leverage 1, and there is "
                "no power because the error cannot be estimated.");
  }
  const std::vector<std::string>& sets = evaluation.alias_sets;
  if (sets.empty()) return;
  const auto end = sets.begin() + static_cast<long>(std::min(sets.size(), kMaxAliasSets));
  out.element("p", fmt::format("Aliased effects: {}{}.", fmt::join(sets.begin(), end, "; "),
                               sets.size() > kMaxAliasSets
                                   ? fmt::format(" and {} more", sets.size() - kMaxAliasSets)
                                   : ""));
}

}  // namespace

void write_design(const Page& page, Markup& out) {
  const analysis::DesignQuality& quality = page.quality;
  if (quality.made) {
    out.element("p", fmt::format("{} of {} planned runs are complete; the figures describe these.",
                                 quality.made->basics.runs, quality.planned.basics.runs));
  }
  write_efficiencies(quality, out);
  if (quality.has_whole_plots) {
    out.element("p",
                "Efficiencies and power assume independent runs; with whole plots, effects of "
                "hard-to-change factors are less precise.");
  }
  write_gaps(quality, out);
  write_figures(page.design, out, "figures pairs");
}

}  // namespace doetune::reports
