#include "surfaces/optimum.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "doe/design.h"

namespace doetune::surfaces {
namespace {

constexpr std::size_t kMostEnumerated = 2'000'000;
constexpr std::size_t kCoarsePoints = 200'000;
constexpr std::size_t kImprovedPoints = 32;
constexpr std::size_t kAlternatives = 3;
constexpr std::size_t kAlternativesPool = 5'000;
constexpr double kDifferent = 0.5;  // coded: a quarter of a factor's range
constexpr double kTie = 1e-9;

using Settings = std::vector<double>;

struct Score {
  double violation = 0;
  double desirability = 0;
  double probability = 0;
};

bool ties_but_for_probability(const Score& a, const Score& b) {
  return std::abs(a.violation - b.violation) < kTie &&
         std::abs(a.desirability - b.desirability) < kTie;
}

bool better(const Score& a, const Score& b) {
  if (std::abs(a.violation - b.violation) >= kTie) return a.violation < b.violation;
  if (std::abs(a.desirability - b.desirability) >= kTie) return a.desirability > b.desirability;
  return a.probability > b.probability;
}

Score score_of(const OptimumRequest& request, const Eigen::VectorXd& coded) {
  Score score;
  double log_sum = 0;
  double importance = 0;
  for (const GoalResponse& response : request.responses) {
    if (!response.goal) continue;
    const double y = response.surface->response(coded);
    score.violation += response.goal->violation(y);
    log_sum += response.goal->importance * std::log(response.goal->desirability(y));
    importance += response.goal->importance;
  }
  score.desirability = importance > 0 ? std::exp(log_sum / importance) : 1;
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
  return product;
}

/// The settings of each factor that a search looks at: all usable ones, or the one it is held at.
std::vector<Settings> searched_settings(const OptimumRequest& request) {
  std::vector<Settings> choices;
  for (const doe::Factor& factor : request.factors) {
    const auto held = request.hold.find(factor.name);
    choices.push_back(held == request.hold.end() ? factor.usable_settings()
                                                 : Settings{held->second});
  }
  return choices;
}

std::size_t count(const std::vector<Settings>& choices, std::size_t limit) {
  std::size_t product = 1;
  for (const Settings& choice : choices) {
    product *= choice.size();
    if (product > limit) return limit + 1;
  }
  return product;
}

/// At most `most` of the settings, with both ends, evenly spread over their list.
Settings thinned(const Settings& settings, std::size_t most) {
  if (settings.size() <= most) return settings;
  Settings kept;
  for (std::size_t i = 0; i < most; ++i) {
    kept.push_back(settings[(settings.size() - 1) * i / (most - 1)]);
  }
  return kept;
}

std::vector<Settings> coarse(std::vector<Settings> choices) {
  for (std::size_t most = 64; most >= 2 && count(choices, kCoarsePoints) > kCoarsePoints; --most) {
    for (Settings& choice : choices) choice = thinned(choice, most);
  }
  return choices;
}

/// Calls visit for every combination that the region allows.
void for_each_allowed(const OptimumRequest& request, const std::vector<Settings>& choices,
                      const std::function<void(const Settings&)>& visit) {
  std::vector<std::size_t> at(choices.size(), 0);
  Settings settings(choices.size());
  const bool box = request.region.is_box();
  while (true) {
    for (std::size_t f = 0; f < choices.size(); ++f) settings[f] = choices[f][at[f]];
    if (box || request.region.allows(settings)) visit(settings);
    std::size_t f = 0;
    while (f < choices.size() && ++at[f] == choices[f].size()) at[f++] = 0;
    if (f == choices.size()) return;
  }
}

struct Scored {
  Settings settings;
  Score score;
};

/// Every allowed combination with its score; the probability only of those that tie for the best.
std::vector<Scored> scored_points(const OptimumRequest& request,
                                  const std::vector<Settings>& choices) {
  std::vector<Scored> points;
  std::optional<Score> best;
  for_each_allowed(request, choices, [&](const Settings& settings) {
    const Score score = score_of(request, doe::coded_point(request.factors, settings));
    if (!best || better(score, *best)) best = score;
    points.push_back({settings, score});
  });
  if (!best) throw std::invalid_argument("no usable settings lie inside the constraints");
  for (Scored& point : points) {
    if (ties_but_for_probability(point.score, *best)) {
      point.score.probability =
          probability_of(request, doe::coded_point(request.factors, point.settings));
    }
  }
  return points;
}

void keep_best(std::vector<Scored>& points, std::size_t most) {
  const auto by_score = [](const Scored& a, const Scored& b) { return better(a.score, b.score); };
  const auto end = points.begin() + static_cast<long>(std::min(most, points.size()));
  std::partial_sort(points.begin(), end, points.end(), by_score);
  points.erase(end, points.end());
}

Score full_score(const OptimumRequest& request, const Settings& settings) {
  const Eigen::VectorXd coded = doe::coded_point(request.factors, settings);
  Score score = score_of(request, coded);
  score.probability = probability_of(request, coded);
  return score;
}

/// Moves one factor at a time to its best setting until none moves.
Scored improved(const OptimumRequest& request, const std::vector<Settings>& choices, Scored point) {
  point.score = full_score(request, point.settings);
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::size_t f = 0; f < choices.size(); ++f) {
      Settings trial = point.settings;
      for (const double setting : choices[f]) {
        trial[f] = setting;
        if (!request.region.allows(trial)) continue;
        const Score score = full_score(request, trial);
        if (!better(score, point.score)) continue;
        point = {trial, score};
        moved = true;
      }
    }
  }
  return point;
}

bool differ(const OptimumRequest& request, const Settings& a, const Settings& b) {
  for (std::size_t f = 0; f < a.size(); ++f) {
    const doe::Factor& factor = request.factors[f];
    const double distance = std::abs(factor.to_coded(a[f]) - factor.to_coded(b[f]));
    if (distance >= (factor.is_categorical() ? 1 : kDifferent)) return true;
  }
  return false;
}

/// The best of the points that differ from all in `chosen`, one after the other.
std::vector<Scored> spread_out(const OptimumRequest& request, const std::vector<Scored>& sorted) {
  std::vector<Scored> chosen;
  for (const Scored& point : sorted) {
    const bool is_new = std::all_of(chosen.begin(), chosen.end(), [&](const Scored& other) {
      return differ(request, point.settings, other.settings);
    });
    if (is_new) chosen.push_back(point);
    if (chosen.size() > kAlternatives) break;
  }
  return chosen;
}

std::optional<Settings> baseline_of(const std::vector<doe::Factor>& factors) {
  Settings settings;
  for (const doe::Factor& factor : factors) {
    if (!factor.baseline) return std::nullopt;
    settings.push_back(*factor.baseline);
  }
  return settings;
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

}  // namespace

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
  const std::vector<Settings> choices = searched_settings(request);
  Optimum optimum;
  optimum.global = count(choices, kMostEnumerated) <= kMostEnumerated;
  std::vector<Scored> points = scored_points(request, optimum.global ? choices : coarse(choices));
  keep_best(points, optimum.global ? kAlternativesPool : kImprovedPoints);
  if (!optimum.global) {
    for (Scored& point : points) point = improved(request, choices, std::move(point));
    keep_best(points, points.size());
  }
  const std::vector<Scored> chosen = spread_out(request, points);
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
  const std::vector<Settings> choices = searched_settings(request);
  const bool all = count(choices, kMostEnumerated) <= kMostEnumerated;
  std::vector<Interval> ranges(
      request.responses.size(),
      {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()});
  for_each_allowed(request, all ? choices : coarse(choices), [&](const Settings& settings) {
    const Eigen::VectorXd coded = doe::coded_point(request.factors, settings);
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      const double y = request.responses[r].surface->response(coded);
      ranges[r] = {std::min(ranges[r].low, y), std::max(ranges[r].high, y)};
    }
  });
  if (ranges.empty() || ranges.front().low > ranges.front().high) {
    throw std::invalid_argument("no usable settings lie inside the constraints");
  }
  return ranges;
}

}  // namespace doetune::surfaces
