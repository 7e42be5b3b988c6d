#include "doe/design.h"
#include "surfaces/optimum.h"
#include "surfaces/optimum/score.h"

namespace doetune::surfaces {
namespace {

Outlook outlook_of(const OptimumRequest& request, const GoalResponse& response,
                   const Eigen::VectorXd& coded) {
  const Prediction prediction = response.surface->predict(coded);
  Outlook outlook{response.name,
                  prediction.response(),
                  prediction.confidence_interval(request.confidence),
                  prediction.prediction_interval(request.confidence),
                  true,
                  {}};
  if (!response.goal) return outlook;
  outlook.goal_met = response.goal->is_met(outlook.mean);
  if (response.goal->is_limit()) {
    outlook.goal_met_probability =
        prediction.probability_within(response.goal->met_low(), response.goal->met_high());
  }
  return outlook;
}

}  // namespace

Candidate assess(const OptimumRequest& request, const std::vector<double>& settings) {
  const Eigen::VectorXd coded = doe::coded_point(request.factors, settings);
  const Score score = scores(request, coded.transpose()).front();
  Candidate candidate{settings, score.violation, score.desirability, {}, {}, {}};
  if (request.feasibility) candidate.feasibility = request.feasibility(coded);
  double product = 1;
  bool known = false;
  for (const GoalResponse& response : request.responses) {
    Outlook outlook = outlook_of(request, response, coded);
    known = known || outlook.goal_met_probability.has_value();
    product *= outlook.goal_met_probability.value_or(1);
    candidate.outlooks.push_back(std::move(outlook));
  }
  if (known) candidate.all_goals_met_probability = product;
  return candidate;
}

}  // namespace doetune::surfaces
