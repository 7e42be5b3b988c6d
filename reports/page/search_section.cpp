#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "analysis/search_story.h"
#include "reports/page/section.h"
#include "reports/page/section_parts.h"

namespace doetune::reports {
namespace {

using Kind = analysis::SearchPhase::Kind;

struct PhaseText {
  const char* name;
  const char* purpose;
};

PhaseText text_of(Kind kind) {
  switch (kind) {
    case Kind::kStart:
      return {"Start", "To sample the whole region."};
    case Kind::kProposed:
      return {"Search",
              "Each run where it was expected to improve the goals most, given all earlier runs."};
    case Kind::kConfirmation:
      return {"Confirmation", "Does the prediction hold, and is it better than the baseline?"};
  }
  return {};
}

std::string outcome_of(const analysis::SearchPhase& phase) {
  std::string text = fmt::format("{} completed", phase.completed);
  if (phase.infeasible > 0) text += fmt::format(", {} could not run", phase.infeasible);
  if (phase.ended_early > 0) text += fmt::format(", {} ended early", phase.ended_early);
  if (phase.other > 0) text += fmt::format(", {} failed", phase.other);
  return text;
}

std::string best_text(const analysis::Analysis& analysis, const analysis::SearchPhase& phase) {
  if (phase.kind == Kind::kConfirmation) return "–";
  if (!phase.best) return "none meets all limits yet";
  const study::PlannedRun& run =
      analysis.directory->plan.runs[static_cast<std::size_t>(*phase.best - 1)];
  return fmt::format("run {}: {}", *phase.best,
                     analysis::settings_text(analysis::factors_of(analysis), run.settings));
}

}  // namespace

void write_search(const Page& page, Markup& out) {
  write_figures(page.searches, out);
  const auto story = analysis::search_story(page.analysis);
  std::vector<std::vector<Cell>> rows;
  for (const analysis::SearchPhase& phase : story->phases) {
    const std::string runs = phase.first == phase.last
                                 ? std::to_string(phase.first)
                                 : fmt::format("{} to {}", phase.first, phase.last);
    const PhaseText text = text_of(phase.kind);
    rows.push_back({text_cell(text.name), text_cell(runs), prose_cell(text.purpose),
                    prose_cell(outcome_of(phase)), prose_cell(best_text(page.analysis, phase))});
  }
  write_table({"Phase", "Runs", "Purpose", "Outcome", "Best so far"}, rows, out, WhenNarrow::kList);
  if (!story->end.empty()) out.element("p", fmt::format("The search ended: {}.", story->end));
}

}  // namespace doetune::reports
