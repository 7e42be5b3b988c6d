#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/format.h"
#include "analysis/search_story.h"
#include "reports/figures/figures.h"

namespace doetune::reports {
namespace {

constexpr Chart::Size kSize{640, 300, 62};

/// The measured values of a response, by run.
std::map<int, double> values_of(const analysis::Analysis& analysis, const std::string& response) {
  std::map<int, double> values;
  for (const auto& [run, record] : analysis.records) {
    const auto value = record.responses.find(response);
    if (record.status == study::RunStatus::kCompleted && value != record.responses.end()) {
      values[run] = value->second;
    }
  }
  return values;
}

/// Whether a ramp is met better by one value than by another, desirable as both may be.
bool is_better(const surfaces::Goal& goal, double value, double than) {
  if (goal.type == surfaces::GoalType::kMaximize) return value > than;
  if (goal.type == surfaces::GoalType::kMinimize) return value < than;
  return std::abs(value - goal.target) < std::abs(than - goal.target);
}

std::string title_of(const analysis::SearchStory& story, const std::map<int, double>& values,
                     const study::Response& response, const surfaces::Goal& goal) {
  const auto first = std::find_if(story.best_so_far.begin(), story.best_so_far.end(),
                                  [](const auto& best) { return best.has_value(); });
  if (first == story.best_so_far.end()) return "No run of the search meets all limits.";
  const auto text = [&](int run) {
    return analysis::with_unit(analysis::short_number(values.at(run)), response.unit);
  };
  const int from = **first, to = *story.best_so_far.back();
  if (from == to)
    return fmt::format("No run is better than run {}, the first that meets all limits.", from);
  if (!is_better(goal, values.at(to), values.at(from))) {
    return fmt::format(
        "Run {} is better than run {} for all goals combined; {} went from {} to {}.", to, from,
        response.name, text(from), text(to));
  }
  return fmt::format("The search improved {} from {} in run {} to {} in run {}.", response.name,
                     text(from), from, text(to), to);
}

/// The value at the best run so far, as steps.
Polyline steps_of(const analysis::SearchStory& story, const std::map<int, double>& values) {
  Polyline steps;
  for (std::size_t i = 0; i < story.best_so_far.size(); ++i) {
    const auto& best = story.best_so_far[i];
    if (!best) continue;
    const double run = static_cast<double>(i) + 1, value = values.at(*best);
    if (!steps.empty() && steps.back().y != value) steps.push_back({run, steps.back().y});
    steps.push_back({run, value});
  }
  return steps;
}

void draw_runs(Chart& chart, const analysis::Analysis& analysis,
               const std::map<int, double>& values, double bottom) {
  for (const study::PlannedRun& run : analysis.directory->plan.runs) {
    const auto record = analysis.records.find(run.run);
    if (record == analysis.records.end()) continue;
    const auto value = values.find(run.run);
    if (value == values.end()) {
      chart.cross({static_cast<double>(run.run), bottom}, 4, {{"stroke", "currentColor"}},
                  fmt::format("run {}: {}", run.run, run_status_name(record->second.status)));
      continue;
    }
    const bool proposed = run.type == doe::PointType::kProposed;
    Attributes style{{"fill", series_colour(run.validates() ? 1 : 0)}};
    if (!proposed && !run.validates()) {
      style = {{"fill", "none"}, {"stroke", series_colour(0)}, {"stroke-width", "1.5"}};
    }
    chart.circle({static_cast<double>(run.run), value->second}, 4, style,
                 fmt::format("run {}: {}", run.run, analysis::short_number(value->second)));
  }
}

Figure search_figure(const analysis::Analysis& analysis, const analysis::SearchStory& story,
                     const study::Response& response) {
  const std::map<int, double> values = values_of(analysis, response.name);
  const auto [low, high] = std::minmax_element(
      values.begin(), values.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  Figure figure{
      "search-" + file_part(response.name),
      title_of(story, values, response, analysis.goals.at(response.name)),
      "Measured values in run order. Open circles: the start; filled: proposed by the search; "
      "orange: confirmation and baseline. Line: the best run so far that meets all limits. "
      "Crosses: runs that did not complete.",
      {},
      {}};
  const Axis y = linear_axis(analysis::name_with_unit(response.name, response.unit), low->second,
                             high->second, 0.08);
  Chart chart(figure.name,
              linear_axis("run", 1, static_cast<double>(story.best_so_far.size()), 0.02), y, kSize);
  chart.grid_lines();
  chart.curve(steps_of(story, values), "best so far",
              {{"stroke", series_colour(0)}, {"stroke-width", "2"}});
  draw_runs(chart, analysis, values, y.low + 0.03 * (y.high - y.low));
  figure.svg = chart.finish(figure.title);
  return figure;
}

}  // namespace

std::vector<Figure> search_figures(const analysis::Analysis& analysis) {
  const auto story = analysis::search_story(analysis);
  if (!story) return {};
  std::vector<Figure> figures;
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    const auto goal = analysis.goals.find(response.response.name);
    if (goal == analysis.goals.end() || goal->second.is_limit()) continue;
    if (values_of(analysis, response.response.name).empty()) continue;
    figures.push_back(search_figure(analysis, *story, response.response));
  }
  return figures;
}

}  // namespace doetune::reports
