#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "analysis/trade_off.h"
#include "reports/figures/figures.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kMaxGoalPairs = 3;
constexpr double kNearLimit = 0.3;  // relative to the range drawn: limits this far outside are
                                    // still shown

/// Data of a plot of two goals; `runs` are measured, everything else is predicted.
struct TradeOffScatter {
  const analysis::Analysis& analysis;
  const analysis::GoalPair& pair;
  std::vector<Point> runs, all_front, front;
  std::vector<int> run_numbers;
  std::vector<const surfaces::Candidate*> front_candidates = {};  ///< same order as `front`

  Point at(const surfaces::Candidate& candidate) const {
    return {analysis::prediction_of(candidate, pair.first->response.name)->mean,
            analysis::prediction_of(candidate, pair.second->response.name)->mean};
  }
};

TradeOffScatter scatter_of(const analysis::Analysis& analysis, const analysis::GoalPair& pair) {
  TradeOffScatter scatter{analysis, pair, {}, {}, {}, {}};
  for (const auto& [run, record] : analysis.records) {
    const auto x = record.responses.find(pair.first->response.name);
    const auto y = record.responses.find(pair.second->response.name);
    if (x == record.responses.end() || y == record.responses.end()) continue;
    scatter.runs.push_back({x->second, y->second});
    scatter.run_numbers.push_back(run);
  }
  for (const surfaces::ParetoPoint& point : analysis.details->pareto.points) {
    scatter.all_front.push_back(scatter.at(point.candidate));
  }
  for (const std::size_t i : analysis::front_of(analysis, pair)) {
    scatter.front.push_back(scatter.all_front[i]);
    scatter.front_candidates.push_back(&analysis.details->pareto.points[i].candidate);
  }
  return scatter;
}

/// The ranges that meet both goals, unbounded unless they are limits.
struct Limits {
  surfaces::Interval x{-std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::infinity()};
  surfaces::Interval y = x;
  bool any = false;
};

Limits limits_of(const TradeOffScatter& scatter) {
  Limits limits;
  const auto take = [&](const analysis::ResponseAnalysis& response, surfaces::Interval& side) {
    const surfaces::Goal& goal = scatter.analysis.goals.at(response.response.name);
    if (!goal.is_limit()) return;
    side = {goal.met_low(), goal.met_high()};
    limits.any = true;
  };
  take(*scatter.pair.first, limits.x);
  take(*scatter.pair.second, limits.y);
  return limits;
}

/// The range of all points, including limits that are near it.
Axis axis_over(const TradeOffScatter& scatter, const study::Response& response, double Point::*side,
               const surfaces::Interval& limit) {
  std::vector<Point> points = scatter.runs;
  points.insert(points.end(), scatter.all_front.begin(), scatter.all_front.end());
  const surfaces::Optimum& optimum = *scatter.analysis.optimum;
  points.push_back(scatter.at(optimum.best));
  if (optimum.baseline) points.push_back(scatter.at(*optimum.baseline));
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Point& point : points) {
    if (!std::isfinite(point.*side)) continue;
    low = std::min(low, point.*side);
    high = std::max(high, point.*side);
  }
  const double near = kNearLimit * (high - low);
  for (const double end : {limit.low, limit.high}) {
    if (end > low - near && end < high + near) {
      low = std::min(low, end);
      high = std::max(high, end);
    }
  }
  return linear_axis(analysis::name_with_unit(response.name, response.unit), low, high, 0.08);
}

void draw_missed(Chart& chart, const Limits& limits, const Axis& x, const Axis& y) {
  if (!limits.any) return;
  const surfaces::Interval met_x{std::clamp(limits.x.low, x.low, x.high),
                                 std::clamp(limits.x.high, x.low, x.high)};
  const surfaces::Interval met_y{std::clamp(limits.y.low, y.low, y.high),
                                 std::clamp(limits.y.high, y.low, y.high)};
  const Polyline all = {{x.low, y.low}, {x.high, y.low}, {x.high, y.high}, {x.low, y.high}};
  const Polyline met = {{met_x.low, met_y.low},
                        {met_x.low, met_y.high},
                        {met_x.high, met_y.high},
                        {met_x.high, met_y.low}};
  chart.region({all, met}, {{"fill", chart.hatching()}, {"fill-opacity", "0.45"}});
}

void draw_runs(Chart& chart, const TradeOffScatter& scatter) {
  for (std::size_t i = 0; i < scatter.runs.size(); ++i) {
    const Point& at = scatter.runs[i];
    chart.circle(at, 4, {{"fill", "#767676"}, {"fill-opacity", "0.75"}},
                 fmt::format("run {}: {}, {}", scatter.run_numbers[i], analysis::short_number(at.x),
                             analysis::short_number(at.y)));
  }
}

void draw_predicted(Chart& chart, const TradeOffScatter& scatter) {
  const std::string colour = series_colour(0);
  if (scatter.all_front.size() > scatter.front.size()) {
    for (const Point& at : scatter.all_front) {
      chart.circle(at, 1.8, {{"fill", colour}}, "Pareto-optimal in all goals");
    }
  }
  chart.line(scatter.front, {{"stroke", colour}, {"stroke-width", "1.5"}});
  for (const Point& at : scatter.front) {
    if (scatter.front.size() == 1) break;
    chart.circle(at, 3, {{"fill", colour}}, "Pareto-optimal in these goals");
  }
  const surfaces::Optimum& optimum = *scatter.analysis.optimum;
  if (optimum.baseline) {
    const Point now = scatter.at(*optimum.baseline);
    chart.circle(now, 6, {{"fill", "none"}, {"stroke", series_colour(2)}, {"stroke-width", "3"}},
                 "baseline, predicted");
  }
  chart.star(scatter.at(optimum.best), 10,
             {{"fill", series_colour(1)}, {"stroke", "#fff"}, {"stroke-width", "1.2"}},
             "optimum, predicted");
}

/// "186 to 5190 images/s": the predicted response at two settings.
std::string change_text(const surfaces::Candidate& from, const surfaces::Candidate& to,
                        const study::Response& response) {
  const auto value = [&](const surfaces::Candidate& candidate) {
    const surfaces::ResponsePrediction& predicted =
        *analysis::prediction_of(candidate, response.name);
    return analysis::number_to(predicted.mean, analysis::half_width(predicted.confidence_interval));
  };
  return value(from) + " to " + analysis::with_unit(value(to), response.unit);
}

std::string met_by_runs(const TradeOffScatter& scatter, const Limits& limits) {
  const auto met = std::count_if(scatter.runs.begin(), scatter.runs.end(), [&](const Point& at) {
    return at.x >= limits.x.low && at.x <= limits.x.high && at.y >= limits.y.low &&
           at.y <= limits.y.high;
  });
  return fmt::format("{} of {} measured runs {} both {} and {} within their limits.", met,
                     scatter.runs.size(), met == 1 ? "has" : "have",
                     scatter.pair.first->response.name, scatter.pair.second->response.name);
}

std::string title_of(const TradeOffScatter& scatter, const Limits& limits) {
  const study::Response& first = scatter.pair.first->response;
  const study::Response& second = scatter.pair.second->response;
  const bool only_limits = scatter.analysis.goals.at(first.name).is_limit() &&
                           scatter.analysis.goals.at(second.name).is_limit();
  if (scatter.front.size() < 2) {
    return only_limits
               ? met_by_runs(scatter, limits)
               : fmt::format("{} and {} do not conflict: the same configuration is best for both.",
                             first.name, second.name);
  }
  const surfaces::Candidate& from = *scatter.front_candidates.back();
  const surfaces::Candidate& to = *scatter.front_candidates.front();
  return fmt::format("Changing {} from {} changes {} from {}.", first.name,
                     change_text(from, to, first), second.name, change_text(from, to, second));
}

std::string caption_of(const TradeOffScatter& scatter, const Limits& limits) {
  std::string text = "Grey: measured runs.";
  if (scatter.front.size() > 1) {
    text += fmt::format(
        " Line: predictions of configurations that are Pareto-optimal in these two goals{}.",
        scatter.all_front.size() > scatter.front.size()
            ? "; small dots: Pareto-optimal in all goals, but not in these two"
            : "");
  }
  text += " Star: the optimum.";
  if (scatter.analysis.optimum->baseline) text += " Ring: predicted at the baseline.";
  if (limits.any) text += " Hatched: a limit is violated.";
  return text;
}

Figure trade_off_figure(const analysis::Analysis& analysis, const analysis::GoalPair& pair) {
  const TradeOffScatter scatter = scatter_of(analysis, pair);
  const Limits limits = limits_of(scatter);
  const study::Response& first = pair.first->response;
  const study::Response& second = pair.second->response;
  Figure figure;
  figure.name = fmt::format("trade-off-{}-{}", file_part(first.name), file_part(second.name));
  figure.title = title_of(scatter, limits);
  figure.caption = caption_of(scatter, limits);
  const Axis x = axis_over(scatter, first, &Point::x, limits.x);
  const Axis y = axis_over(scatter, second, &Point::y, limits.y);
  Chart chart(figure.name, x, y);
  draw_missed(chart, limits, x, y);
  chart.grid_lines();
  draw_runs(chart, scatter);
  draw_predicted(chart, scatter);
  figure.svg = chart.finish(figure.title);
  return figure;
}

}  // namespace

std::vector<Figure> trade_off_figures(const analysis::Analysis& analysis) {
  std::vector<Figure> figures;
  if (!analysis.optimum || !analysis.details) return figures;
  const std::vector<analysis::GoalPair> pairs = analysis::goal_pairs(analysis);
  for (std::size_t i = 0; i < std::min(pairs.size(), kMaxGoalPairs); ++i) {
    figures.push_back(trade_off_figure(analysis, pairs[i]));
  }
  return figures;
}

std::string trade_offs_left_out(const analysis::Analysis& analysis) {
  const std::size_t pairs = analysis::goal_pairs(analysis).size();
  if (pairs <= kMaxGoalPairs) return "";
  return fmt::format("Of {} pairs of goals, the {} with the strongest conflict are drawn.", pairs,
                     kMaxGoalPairs);
}

}  // namespace doetune::reports
