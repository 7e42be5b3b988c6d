#include <numeric>

#include "doe/design.h"
#include "surfaces/optimum.h"
#include "surfaces/optimum/joint_errors.h"
#include "surfaces/optimum/score.h"

namespace doetune::surfaces {
namespace {

/// Bonferroni: each of r intervals at level 1 - (1 - level) / r.
Intervals simultaneous(const Prediction& prediction, double level, std::size_t r) {
  const double each = 1 - (1 - level) / static_cast<double>(r);
  return {prediction.confidence_interval(each), prediction.prediction_interval(each),
          prediction.tolerance_interval(level, each)};
}

ResponsePrediction prediction_of(const OptimumRequest& request, const GoalResponse& response,
                                 const Eigen::VectorXd& coded, SettingsAre are) {
  const Prediction prediction = prediction_at(response, coded, are);
  const double level = request.confidence;
  ResponsePrediction predicted{response.name,
                               response.surface->response(coded),
                               {},
                               prediction.confidence_interval(level),
                               prediction.prediction_interval(level),
                               prediction.tolerance_interval(level, level),
                               simultaneous(prediction, level, request.responses.size()),
                               true,
                               {},
                               {}};
  if (response.posterior && are == SettingsAre::kChosen) predicted.expected = prediction.response();
  if (!response.goal) return predicted;
  predicted.goal_met = response.goal->is_met(predicted.mean);
  if (response.goal->is_limit()) {
    predicted.goal_met_probability =
        prediction.probability_within(response.goal->met_low(), response.goal->met_high());
    if (response.goal->of == doe::LimitOf::kMean) {
      predicted.mean_met_probability =
          of_mean(prediction)
              .probability_within(response.goal->met_low(), response.goal->met_high());
    }
  }
  return predicted;
}

}  // namespace

std::vector<Eigen::Index> feasible_rows(const OptimumRequest& request,
                                        const Eigen::MatrixXd& coded) {
  std::vector<Eigen::Index> rows(static_cast<std::size_t>(coded.rows()));
  std::iota(rows.begin(), rows.end(), Eigen::Index{0});
  if (!request.feasibility || rows.empty()) return rows;
  const Eigen::VectorXd probabilities = request.feasibility(coded);
  std::erase_if(rows, [&](Eigen::Index i) { return probabilities[i] < request.min_feasibility; });
  return rows;
}

Candidate assess(const OptimumRequest& request, const std::vector<double>& settings,
                 SettingsAre are) {
  const Eigen::VectorXd coded = doe::coded_point(request.factors, settings);
  const Score score = Scorer(request).scores(coded.transpose()).front();
  Candidate candidate{settings, score.violation, score.doubt, score.desirability, {}, {}, {}};
  if (request.feasibility) candidate.feasibility = request.feasibility(coded.transpose())[0];
  for (const GoalResponse& response : request.responses) {
    candidate.predictions.push_back(prediction_of(request, response, coded, are));
  }
  candidate.all_goals_met_probability = JointErrors(request.responses).all_limits_met(coded, are);
  return candidate;
}

}  // namespace doetune::surfaces
