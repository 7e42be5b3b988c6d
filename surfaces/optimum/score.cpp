#include "surfaces/optimum/score.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "surfaces/distributions.h"
#include "surfaces/optimum/limit_margins.h"

namespace doetune::surfaces {
namespace {

double rounded(double value) { return std::round(value / kScoreRounding) * kScoreRounding; }

/// Adds one response to the sums in `score`; its desirability holds the sum of logarithms.
void add(const Goal& goal, double y, Score& score) {
  const double desirability = goal.desirability(y);
  score.violation += goal.violation(y);
  score.desirability += goal.importance * std::log(desirability);
  if (goal.is_limit()) return;
  score.compromise += goal.importance * (desirability - goal.shortfall(y));
  score.excess += goal.importance * goal.excess(y);
}

std::vector<const Surface*> surfaces_that_count(const OptimumRequest& request) {
  std::vector<const Surface*> surfaces;
  for (const GoalResponse& response : request.responses) {
    surfaces.push_back(counts(response) ? response.surface : nullptr);
  }
  return surfaces;
}

/// The doubt about one limit. Remembers Student's quantile, which is the same for most points.
class Doubt {
 public:
  explicit Doubt(const Goal& goal) : goal_(goal), probability_(one_sided_confidence(goal)) {}

  double of(Prediction prediction) {
    if (goal_.of == doe::LimitOf::kMean) prediction = of_mean(prediction);
    const auto ends = prediction.standardised(goal_.met_low(), goal_.met_high());
    if (!ends) return 0;
    const double df = prediction.next_run_df.value_or(prediction.df);
    if (df != df_) {
      df_ = df;
      t_ = t_value(probability_, df);
    }
    return std::max({0.0, t_ + ends->low, t_ - ends->high});
  }

 private:
  const Goal& goal_;
  double probability_;
  double df_ = 0, t_ = 0;
};

/// Adds the doubt of one response to the points that violate no limit.
void add_doubt(const GoalResponse& response, const Eigen::MatrixXd& coded,
               std::vector<Score>& scores) {
  std::vector<Eigen::Index> rows;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i].violation == 0) rows.push_back(static_cast<Eigen::Index>(i));
  }
  if (rows.empty()) return;
  Doubt doubt(*response.goal);
  const std::vector<Prediction> predictions =
      response.surface->predictions(coded(rows, Eigen::all));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    scores[static_cast<std::size_t>(rows[i])].doubt += rounded(doubt.of(predictions[i]));
  }
}

}  // namespace

bool counts(const GoalResponse& response) { return response.goal && response.goal->importance > 0; }

bool better(const Score& a, const Score& b) {
  return std::tie(a.violation, a.doubt, b.desirability, b.compromise, b.probability, b.excess) <
         std::tie(b.violation, b.doubt, a.desirability, a.compromise, a.probability, a.excess);
}

double merit(const Score& score) {
  if (score.violation > 0) return -2 - score.violation;
  if (score.doubt > 0) return -1 - score.doubt / (1 + score.doubt);
  if (score.desirability == 0) return (score.compromise / (1 + std::abs(score.compromise)) - 1) / 2;
  return score.desirability + 1e-6 * score.excess;
}

bool ties_but_for_probability(const Score& a, const Score& b) {
  return a.violation == b.violation && a.doubt == b.doubt && a.desirability == b.desirability &&
         a.compromise == b.compromise;
}

Prediction of_mean(Prediction prediction) {
  prediction.sigma = 0;
  prediction.next_run_df.reset();
  return prediction;
}

double one_sided_confidence(const Goal& goal) {
  return goal.type == GoalType::kWithin ? (1 + goal.confidence) / 2 : goal.confidence;
}

std::vector<Score> scores_of(const OptimumRequest& request,
                             const std::vector<Eigen::VectorXd>& responses, Eigen::Index m) {
  std::vector<Score> scores(static_cast<std::size_t>(m));
  double importance = 0;
  for (std::size_t r = 0; r < responses.size(); ++r) {
    if (!counts(request.responses[r])) continue;
    const Goal& goal = *request.responses[r].goal;
    importance += goal.importance;
    for (Eigen::Index i = 0; i < m; ++i) add(goal, responses[r][i], scores[i]);
  }
  for (Score& score : scores) {
    score.violation = rounded(score.violation);
    score.desirability = importance > 0 ? rounded(std::exp(score.desirability / importance)) : 1;
    score.compromise = score.desirability == 0 ? rounded(score.compromise) : 0;
  }
  return scores;
}

Scorer::Scorer(const OptimumRequest& request)
    : request_(request), responses_(surfaces_that_count(request)) {}

std::vector<Score> Scorer::scores(const Eigen::MatrixXd& coded) const {
  std::vector<Score> scores = scores_of(request_, responses_.at(coded), coded.rows());
  if (request_.feasibility) {
    const Eigen::VectorXd probabilities = request_.feasibility(coded);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double lacking = request_.min_feasibility - probabilities[static_cast<Eigen::Index>(i)];
      scores[i].violation += rounded(std::max(0.0, lacking));
    }
  }
  for (const GoalResponse& response : request_.responses) {
    const bool is_asked = counts(response) && response.goal->is_limit();
    if (is_asked && response.goal->confidence > 0) add_doubt(response, coded, scores);
  }
  return scores;
}

BestOf Scorer::best_of(const Eigen::MatrixXd& coded, const std::vector<bool>& allowed,
                       const Score* bar) const {
  const std::vector<Score> all = scores(coded);
  BestOf best;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!allowed.empty() && !allowed[i]) continue;
    if (best.at >= 0 && !better(all[i], best.score)) continue;
    best.at = static_cast<Eigen::Index>(i);
    best.score = all[i];
  }
  const bool ties_with_bar = bar && ties_but_for_probability(best.score, *bar);
  if (best.at < 0 || (bar && !ties_with_bar && better(*bar, best.score))) return best;
  std::vector<Eigen::Index> ties;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool may = allowed.empty() || allowed[i];
    if (may && ties_but_for_probability(all[i], best.score)) ties.push_back(static_cast<long>(i));
  }
  const LimitMargins margins(request_, coded(ties, Eigen::all));
  const std::vector<double> probabilities =
      margins.probabilities(ties_with_bar ? bar->probability : 0);
  best.max_probability = margins.max_probability();
  best.at = -1;
  for (std::size_t t = 0; t < ties.size(); ++t) {
    Score score = all[static_cast<std::size_t>(ties[t])];
    score.probability = probabilities[t];
    if (best.at >= 0 && !better(score, best.score)) continue;
    best.score = score;
    best.at = ties[t];
  }
  return best;
}

}  // namespace doetune::surfaces
