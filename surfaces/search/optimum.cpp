#include "surfaces/optimum.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "doe/design.h"
#include "surfaces/search/settings_search.h"

namespace doetune::surfaces {
namespace {

constexpr std::size_t kImprovedPoints = 32;
constexpr long kEvaluations = 300'000;  // of improvements, all together
constexpr std::size_t kImprovedExtremes = 4;
constexpr long kExtremeEvaluations = 60'000;  // of improvements of one extreme
constexpr std::size_t kAlternatives = 3;
constexpr double kDifferent = 0.5;  // coded: a quarter of a factor's range
constexpr double kTie = 1e-9;

/// What settings are compared by, in this order; all but the first two break ties.
struct Score {
  double violation = 0;
  double desirability = 0;
  double compromise = 0;  ///< of ramps where the desirability is 0; else 0
  double probability = 0;
  double excess = 0;
};

/// Differences that are rounding are made none, so that "better" stays an order.
double rounded(double value) { return std::round(value / kTie) * kTie; }

bool ties_but_for_probability(const Score& a, const Score& b) {
  return a.violation == b.violation && a.desirability == b.desirability &&
         a.compromise == b.compromise;
}

bool better(const Score& a, const Score& b) {
  if (a.violation != b.violation) return a.violation < b.violation;
  if (a.desirability != b.desirability) return a.desirability > b.desirability;
  if (a.compromise != b.compromise) return a.compromise > b.compromise;
  if (a.probability != b.probability) return a.probability > b.probability;
  return a.excess > b.excess;
}

Score score_of(const OptimumRequest& request, const Eigen::VectorXd& coded) {
  Score score;
  double log_sum = 0, importance = 0;
  for (const GoalResponse& response : request.responses) {
    if (!response.goal || response.goal->importance == 0) continue;
    const Goal& goal = *response.goal;
    const double y = response.surface->response(coded);
    const double desirability = goal.desirability(y);
    score.violation += goal.violation(y);
    log_sum += goal.importance * std::log(desirability);
    importance += goal.importance;
    if (goal.is_limit()) continue;
    score.compromise += goal.importance * (desirability - goal.shortfall(y));
    score.excess += goal.importance * goal.excess(y);
  }
  score.desirability = importance > 0 ? std::exp(log_sum / importance) : 1;
  return score;
}

/// score_of without what decides nothing.
Score search_score(const OptimumRequest& request, const Eigen::VectorXd& coded) {
  Score score = score_of(request, coded);
  score.violation = rounded(score.violation);
  score.desirability = rounded(score.desirability);
  score.compromise = score.desirability == 0 ? rounded(score.compromise) : 0;
  return score;
}

std::optional<double> met_probability(const GoalResponse& response, const Prediction& prediction) {
  if (!response.goal || !response.goal->is_limit()) return std::nullopt;
  return prediction.probability_within(response.goal->met_low(), response.goal->met_high());
}

double probability_of(const OptimumRequest& request, const Eigen::VectorXd& coded) {
  double product = 1;
  for (const GoalResponse& response : request.responses) {
    if (!response.goal || !response.goal->is_limit()) continue;  // spare the variance
    product *= met_probability(response, response.surface->predict(coded)).value_or(1);
  }
  return rounded(product);
}

[[noreturn]] void refuse_empty_region(bool exhaustive) {
  throw std::invalid_argument(exhaustive
                                  ? "no usable settings lie inside the constraints"
                                  : "a search found no usable settings inside the constraints");
}

struct Scored {
  Settings settings;
  Score score;
};

/// Every point of the search with its score; the probability only of those that tie for the best.
std::vector<Scored> scored_points(const OptimumRequest& request, const SettingsSearch& search) {
  std::vector<Scored> points;
  std::optional<Score> best;
  search.for_each([&](const Settings& settings) {
    const Score score = search_score(request, doe::coded_point(request.factors, settings));
    if (!best || better(score, *best)) best = score;
    points.push_back({settings, score});
  });
  if (!best) refuse_empty_region(search.is_exhaustive());
  for (Scored& point : points) {
    if (ties_but_for_probability(point.score, *best)) {
      point.score.probability =
          probability_of(request, doe::coded_point(request.factors, point.settings));
    }
  }
  return points;
}

Score full_score(const OptimumRequest& request, const Settings& settings) {
  const Eigen::VectorXd coded = doe::coded_point(request.factors, settings);
  Score score = search_score(request, coded);
  score.probability = probability_of(request, coded);
  return score;
}

bool differ(const OptimumRequest& request, const Settings& a, const Settings& b) {
  for (std::size_t f = 0; f < a.size(); ++f) {
    const doe::Factor& factor = request.factors[f];
    const double distance = std::abs(factor.to_coded(a[f]) - factor.to_coded(b[f]));
    if (distance >= (factor.is_categorical() ? 1 : kDifferent)) return true;
  }
  return false;
}

/// The best point, then again and again the best that differs from all before, at most `most`.
std::vector<Scored> spread_out(const OptimumRequest& request, const std::vector<Scored>& points,
                               std::size_t most) {
  std::vector<Scored> chosen;
  while (chosen.size() < most) {
    const auto is_new = [&](const Scored& point) {
      return std::all_of(chosen.begin(), chosen.end(), [&](const Scored& other) {
        return differ(request, point.settings, other.settings);
      });
    };
    const Scored* best = nullptr;
    for (const Scored& point : points) {
      if ((!best || better(point.score, best->score)) && is_new(point)) best = &point;
    }
    if (!best) break;
    chosen.push_back(*best);
  }
  return chosen;
}

/// The best points of an incomplete search, improved, the best of them first in `points`.
void improve(const OptimumRequest& request, const SettingsSearch& search,
             std::vector<Scored>& points) {
  long evaluations = kEvaluations;
  const auto value_of = [&](const Settings& settings) { return full_score(request, settings); };
  for (Scored& start : spread_out(request, points, kImprovedPoints)) {
    const Score score = full_score(request, start.settings);
    const auto [settings, value] =
        search.improved(std::move(start.settings), score, value_of, better, evaluations);
    points.push_back({settings, value});
  }
}

std::vector<std::string> factors_at_bound(const OptimumRequest& request, const Settings& settings) {
  std::vector<std::string> names;
  for (std::size_t f = 0; f < settings.size(); ++f) {
    const doe::Factor& factor = request.factors[f];
    if (factor.is_categorical() || request.hold.count(factor.name) > 0) continue;
    if (settings[f] == factor.low || settings[f] == factor.high) names.push_back(factor.name);
  }
  return names;
}

/// The few highest values of a search so far.
struct Highest {
  std::vector<std::pair<double, Settings>> points;  ///< highest first

  void add(double value, const Settings& settings) {
    if (points.size() == kImprovedExtremes && value <= points.back().first) return;
    const auto at = std::find_if(points.begin(), points.end(),
                                 [&](const auto& point) { return point.first < value; });
    points.insert(at, {value, settings});
    if (points.size() > kImprovedExtremes) points.pop_back();
  }
};

/// The highest sign * response, from the highest that a search has seen.
double extreme(const OptimumRequest& request, const SettingsSearch& search, const Surface& surface,
               double sign, const Highest& seen) {
  double highest = seen.points.front().first;
  if (search.is_exhaustive()) return highest;
  const auto value_of = [&](const Settings& settings) {
    return sign * surface.response(doe::coded_point(request.factors, settings));
  };
  long evaluations = kExtremeEvaluations;
  for (const auto& [value, settings] : seen.points) {
    const auto found = search.improved(settings, value, value_of, std::greater<>(), evaluations);
    highest = std::max(highest, found.second);
  }
  return highest;
}

}  // namespace

std::optional<Settings> baseline_of(const std::vector<doe::Factor>& factors) {
  Settings settings;
  for (const doe::Factor& factor : factors) {
    if (!factor.baseline) return std::nullopt;
    settings.push_back(*factor.baseline);
  }
  return settings;
}

Candidate assess(const OptimumRequest& request, const Settings& settings) {
  const Eigen::VectorXd coded = doe::coded_point(request.factors, settings);
  const Score score = score_of(request, coded);
  Candidate candidate{settings, score.violation, score.desirability, {}, {}};
  double product = 1;
  bool known = false;
  for (const GoalResponse& response : request.responses) {
    const Prediction prediction = response.surface->predict(coded);
    Outlook outlook{response.name,
                    prediction.response(),
                    prediction.confidence_interval(request.confidence),
                    prediction.prediction_interval(request.confidence),
                    true,
                    met_probability(response, prediction)};
    if (response.goal) {
      outlook.goal_met = response.goal->is_met(outlook.mean);
      known = known || outlook.goal_met_probability.has_value();
      product *= outlook.goal_met_probability.value_or(1);
    }
    candidate.outlooks.push_back(std::move(outlook));
  }
  if (known) candidate.all_goals_met_probability = product;
  return candidate;
}

Optimum find_optimum(const OptimumRequest& request) {
  const SettingsSearch search(request.factors, request.region, request.hold);
  Optimum optimum;
  optimum.global = search.is_exhaustive();
  std::vector<Scored> points = scored_points(request, search);
  if (!optimum.global) improve(request, search, points);
  const std::vector<Scored> chosen = spread_out(request, points, 1 + kAlternatives);
  optimum.best = assess(request, chosen.front().settings);
  optimum.feasible = optimum.best.violation == 0;
  for (std::size_t i = 1; i < chosen.size(); ++i) {
    optimum.alternatives.push_back(assess(request, chosen[i].settings));
  }
  if (const auto baseline = baseline_of(request.factors)) {
    optimum.baseline = assess(request, *baseline);
  }
  optimum.at_bound = factors_at_bound(request, optimum.best.settings);
  return optimum;
}

std::vector<Interval> predicted_ranges(const OptimumRequest& request) {
  const SettingsSearch search(request.factors, request.region, request.hold);
  std::vector<Highest> lowest(request.responses.size()), highest(request.responses.size());
  search.for_each([&](const Settings& settings) {
    const Eigen::VectorXd coded = doe::coded_point(request.factors, settings);
    for (std::size_t r = 0; r < request.responses.size(); ++r) {
      const double y = request.responses[r].surface->response(coded);
      lowest[r].add(-y, settings);
      highest[r].add(y, settings);
    }
  });
  std::vector<Interval> ranges;
  for (std::size_t r = 0; r < request.responses.size(); ++r) {
    if (highest[r].points.empty()) refuse_empty_region(search.is_exhaustive());
    const Surface& surface = *request.responses[r].surface;
    ranges.push_back({-extreme(request, search, surface, -1, lowest[r]),
                      extreme(request, search, surface, 1, highest[r])});
  }
  return ranges;
}

}  // namespace doetune::surfaces
