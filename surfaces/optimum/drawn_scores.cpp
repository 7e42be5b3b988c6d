#include "surfaces/optimum/drawn_scores.h"

#include <algorithm>
#include <utility>

#include "surfaces/distributions.h"

namespace doetune::surfaces {
namespace {

/// Whether more is asked than that the mean meets the limit.
bool asks_of_runs(const GoalResponse& response) {
  return counts(response) && response.goal->is_limit() && response.goal->confidence > 0 &&
         response.goal->of == doe::LimitOf::kRun;
}

Eigen::VectorXd margin_of(const GoalResponse& response, const Eigen::MatrixXd& coded) {
  const double z = normal_value(one_sided_confidence(*response.goal));
  Eigen::VectorXd margin(coded.rows());
  Eigen::Index at = 0;
  for (const Prediction& prediction : response.surface->predictions(coded)) {
    margin[at++] = std::max(0.0, z) * prediction.sigma;
  }
  return margin;
}

/// The probabilities of completing in some draws; m x 0 where every run completes.
Eigen::MatrixXd feasibility_of(const OptimumRequest& request, const Eigen::MatrixXd& coded) {
  if (!request.feasibility) return {coded.rows(), 0};
  if (request.drawn_feasibility) return request.drawn_feasibility(coded);
  return request.feasibility(coded);
}

}  // namespace

DrawnScores::DrawnScores(const OptimumRequest& request, const Eigen::MatrixXd& coded)
    : request_(request),
      means_(JointErrors(request.responses), coded),
      feasibility_(feasibility_of(request, coded)),
      points_(coded.rows()) {
  for (std::size_t r = 0; r < request.responses.size(); ++r) {
    if (!asks_of_runs(request.responses[r])) continue;
    limits_.push_back({r, margin_of(request.responses[r], coded)});
  }
}

void DrawnScores::add_limits(const std::vector<Eigen::MatrixXd>& means,
                             Eigen::MatrixXd& violations) const {
  for (const RunLimit& limit : limits_) {
    const Goal& goal = *request_.responses[limit.response].goal;
    const Transform transform = means_.transform(limit.response);
    const Eigen::MatrixXd& mean = means[limit.response];
    for (Eigen::Index d = 0; d < mean.cols(); ++d) {
      for (Eigen::Index i = 0; i < points_; ++i) {
        const auto missed = [&](double z) {
          return goal.violation(back_transformed(transform, z));
        };
        violations(i, d) +=
            std::max(missed(mean(i, d) - limit.margin[i]), missed(mean(i, d) + limit.margin[i]));
      }
    }
  }
}

DrawnTruths DrawnScores::draw(int first, int count, std::uint64_t stream) const {
  DrawnTruths truths{means_.draw(count, stream), Eigen::MatrixXd::Zero(points_, count)};
  add_limits(truths.responses, truths.violations);
  for (int d = 0; d < count && feasibility_.cols() > 0; ++d) {
    truths.violations.col(d).array() +=
        (request_.min_feasibility - feasibility_.col((first + d) % feasibility_.cols()).array())
            .max(0);
  }
  truths.responses = means_.in_own_units(std::move(truths.responses));
  return truths;
}

std::vector<Score> DrawnScores::scores(const DrawnTruths& truths, Eigen::Index draw) const {
  std::vector<Eigen::VectorXd> values;
  for (const Eigen::MatrixXd& response : truths.responses) values.push_back(response.col(draw));
  std::vector<Score> scores = scores_of(request_, values, points_);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores[i].violation += truths.violations(static_cast<Eigen::Index>(i), draw);
  }
  return scores;
}

}  // namespace doetune::surfaces
