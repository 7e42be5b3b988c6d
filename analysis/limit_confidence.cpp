#include "analysis/limit_confidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/reference_point.h"
#include "doe/design.h"
#include "surfaces/optimum/best_candidate.h"
#include "surfaces/optimum/joint_errors.h"
#include "surfaces/optimum/settings_search.h"

namespace doetune::analysis {
namespace {

constexpr double kRounding = 1e-6;  // of probabilities
constexpr double kMinTail = 1e-6;   // that the surfaces are asked for
constexpr int kMoreSearches = 4;
constexpr double kAlike = 1.5;  // ratio of tails that are practically the same
constexpr std::size_t kFewSettings = 20'000;

/// What the limits lack of the confidence wanted.
double lack_of(const std::vector<LimitConfidence>& limits) {
  double lack = 0;
  for (const LimitConfidence& limit : limits) {
    if (!limit.is_reached()) lack += limit.wanted - limit.probability;
  }
  return lack;
}

surfaces::GoalResponse& response_of(surfaces::OptimumRequest& request, const std::string& name) {
  return *std::find_if(request.responses.begin(), request.responses.end(),
                       [&](const auto& response) { return response.name == name; });
}

/// Reduces the tails that the surfaces leave beyond the limits, by as much as they were too large.
surfaces::OptimumRequest asked_for_more(surfaces::OptimumRequest request,
                                        const std::vector<LimitConfidence>& limits) {
  for (const LimitConfidence& limit : limits) {
    if (limit.is_reached()) continue;
    double& confidence = response_of(request, limit.response).goal->confidence;
    const double tail = (1 - confidence) * (1 - limit.wanted) / (1 - limit.probability);
    confidence = std::max(confidence, 1 - std::max(tail, kMinTail));
  }
  return request;
}

/// The request whose tails are the geometric means of those of two others.
surfaces::OptimumRequest between(surfaces::OptimumRequest request,
                                 const surfaces::OptimumRequest& other) {
  for (std::size_t r = 0; r < request.responses.size(); ++r) {
    if (!request.responses[r].goal) continue;
    double& confidence = request.responses[r].goal->confidence;
    confidence = 1 - std::sqrt((1 - confidence) * (1 - other.responses[r].goal->confidence));
  }
  return request;
}

/// Whether further searches take little time.
bool is_cheap(const surfaces::OptimumRequest& request) {
  if (!request.only.empty()) return true;
  return surfaces::SettingsSearch(request.factors, request.region, request.hold, kFewSettings)
      .is_exhaustive();
}

/// Asks the surfaces for as much as the posteriors need.
void raise_confidences(surfaces::OptimumRequest& request) {
  const surfaces::OptimumRequest wanted = request;
  const surfaces::Candidate first = surfaces::best_candidate(request);
  std::vector<LimitConfidence> limits = limit_confidences(wanted, first);
  double lack = lack_of(limits);
  if (lack == 0 || first.violation > 0 || first.doubt > 0) return;  // there is no more to ask for
  surfaces::OptimumRequest little = request;
  std::optional<surfaces::OptimumRequest> much;
  for (int search = 0; search < kMoreSearches; ++search) {
    surfaces::OptimumRequest asked = much ? between(little, *much) : asked_for_more(little, limits);
    const surfaces::Candidate found = surfaces::best_candidate(asked);
    const auto reached = limit_confidences(wanted, found);
    const double lacking = lack_of(reached);
    const bool useful = found.violation == 0 && (found.desirability > 0 || first.desirability == 0);
    if (useful && (lacking < lack || lacking == 0)) {
      lack = lacking;
      request = asked;
    }
    if (!useful || lacking == 0 || found.doubt > 0) {
      much = std::move(asked);
    } else {
      little = std::move(asked);
      limits = reached;
    }
  }
}

/// Asks for little less than the surest settings promise, where these promise less than is wanted:
/// of settings that are practically as sure, the goals decide.
void relax_confidences(surfaces::OptimumRequest& request, const surfaces::OptimumRequest& wanted) {
  const surfaces::Candidate surest = surfaces::best_candidate(request);
  if (surest.violation > 0 || surest.doubt == 0) return;
  for (const LimitConfidence& limit : limit_confidences(wanted, surest)) {
    if (limit.is_reached()) continue;
    double& confidence = response_of(request, limit.response).goal->confidence;
    confidence = std::clamp(1 - kAlike * (1 - limit.probability), 0.0, confidence);
  }
}

}  // namespace

bool LimitConfidence::is_reached() const { return probability >= wanted - kRounding; }

std::string LimitConfidence::word() const {
  if (probability < 0.5) return "unlikely";
  return is_reached() ? "yes" : "likely";
}

std::vector<LimitConfidence> limit_confidences(const surfaces::OptimumRequest& request,
                                               const surfaces::Candidate& candidate) {
  std::vector<LimitConfidence> limits;
  for (const surfaces::GoalResponse& response : request.responses) {
    if (!response.goal || !response.goal->is_limit()) continue;
    const surfaces::ResponsePrediction& predicted = *prediction_of(candidate, response.name);
    const bool of_mean = response.goal->of == doe::LimitOf::kMean;
    const std::optional<double>& probability =
        of_mean ? predicted.mean_met_probability : predicted.goal_met_probability;
    if (probability) limits.push_back({response.name, *probability, response.goal->confidence});
  }
  return limits;
}

std::optional<LimitConfidence> limit_confidence(const Analysis& analysis, const std::string& name) {
  const surfaces::Goal* goal = goal_of(analysis, name);
  const auto found =
      std::find_if(analysis.responses.begin(), analysis.responses.end(),
                   [&](const auto& response) { return response.response.name == name; });
  if (goal == nullptr || found == analysis.responses.end() || found->surface() == nullptr)
    return {};
  surfaces::OptimumRequest request;
  request.factors = factors_of(analysis);
  request.responses.push_back({name, found->surface(), *goal, found->posterior});
  const auto limits = limit_confidences(request, analysis.optimum->best);
  return limits.empty() ? std::nullopt : std::optional(limits.front());
}

surfaces::Optimum find_confident_optimum(surfaces::OptimumRequest& request) {
  const surfaces::OptimumRequest wanted = request;
  if (is_cheap(request)) raise_confidences(request);
  relax_confidences(request, wanted);
  return surfaces::find_optimum(request);
}

}  // namespace doetune::analysis
