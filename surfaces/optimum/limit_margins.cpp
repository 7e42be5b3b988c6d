#include "surfaces/optimum/limit_margins.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "surfaces/distributions.h"

namespace doetune::surfaces {

LimitMargins::LimitMargins(const OptimumRequest& request, const Eigen::MatrixXd& coded)
    : points_(coded.rows()) {
  for (const GoalResponse& response : request.responses) {
    if (!response.goal || !response.goal->is_limit()) continue;
    Limit limit{0, Eigen::VectorXd(points_), Eigen::VectorXd(points_)};
    const std::vector<Prediction> predictions = response.surface->predictions(coded);
    for (Eigen::Index i = 0; i < points_; ++i) {
      const Prediction& prediction = predictions[static_cast<std::size_t>(i)];
      const auto ends =
          prediction.standardised(response.goal->met_low(), response.goal->met_high());
      limit.low[i] = ends ? ends->low : -std::numeric_limits<double>::infinity();
      limit.high[i] = ends ? ends->high : std::numeric_limits<double>::infinity();
      limit.df = std::max(limit.df, prediction.df);
    }
    if (limit.df > 0) limits_.push_back(std::move(limit));
  }
  for (Eigen::Index i = 1; i < points_ && !limits_.empty(); ++i) {
    if (smallest_margin(i) > smallest_margin(widest_)) widest_ = i;
  }
}

double LimitMargins::smallest_margin(Eigen::Index point) const {
  double smallest = std::numeric_limits<double>::infinity();
  for (const Limit& limit : limits_) {
    smallest = std::min({smallest, limit.high[point], -limit.low[point]});
  }
  return smallest;
}

double LimitMargins::max_probability() const {
  if (limits_.empty() || points_ == 0) return 1;
  // For whichever limit this margin belongs to.
  const double margin = smallest_margin(widest_);
  double most = 0;
  for (const Limit& limit : limits_) most = std::max(most, t_probability(margin, limit.df));
  return most;
}

bool LimitMargins::all_at_least(Eigen::Index point, const std::vector<double>& margins) const {
  for (std::size_t j = 0; j < limits_.size(); ++j) {
    const bool wide = limits_[j].high[point] >= margins[j] && -limits_[j].low[point] >= margins[j];
    if (!wide) return false;
  }
  return true;
}

std::vector<double> LimitMargins::margins_of(double probability) const {
  std::vector<double> margins;
  for (const Limit& limit : limits_) margins.push_back(t_value(probability, limit.df));
  return margins;
}

double LimitMargins::probability(Eigen::Index point) const {
  double product = 1;
  for (const Limit& limit : limits_) {
    product *= std::max(0.0, t_probability(limit.high[point], limit.df) -
                                 t_probability(limit.low[point], limit.df));
  }
  return std::round(product / kScoreRounding) * kScoreRounding;
}

std::vector<double> LimitMargins::probabilities(double least) const {
  std::vector<double> result(static_cast<std::size_t>(points_), limits_.empty() ? 1 : 0);
  if (limits_.empty() || points_ == 0) return result;
  // Reduced by a rounding unit, so that no ties are ruled out.
  const double needed = std::max(least, probability(widest_)) - kScoreRounding;
  const std::vector<double> needed_margins = margins_of(needed);
  // Margins so wide that the product is 1 within rounding.
  const double share = kScoreRounding / (5.0 * static_cast<double>(limits_.size()));
  const std::vector<double> sure_margins = margins_of(1 - share);
  for (Eigen::Index i = 0; i < points_; ++i) {
    if (!all_at_least(i, needed_margins)) continue;
    result[static_cast<std::size_t>(i)] = all_at_least(i, sure_margins) ? 1 : probability(i);
  }
  return result;
}

}  // namespace doetune::surfaces
