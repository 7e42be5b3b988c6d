#include "surfaces/optimum/limit_calibration.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "doe/design.h"
#include "surfaces/models/posterior.h"
#include "surfaces/optimum/score.h"

namespace doetune::surfaces {
namespace {

constexpr int kSearches = 8;
constexpr int kFreeSearches = 3;  // before margins may only grow, so that one is enough in the end
constexpr std::size_t kMaxEnumerated = 100'000;

bool is_calibrated(const GoalResponse& response) {
  return has_confident_limit(response) && response.posterior != nullptr;
}

std::vector<double> margins_of(const OptimumRequest& request) {
  std::vector<double> margins;
  for (const GoalResponse& response : request.responses) margins.push_back(response.margin);
  return margins;
}

void set_margins(OptimumRequest& request, const std::vector<double>& margins) {
  for (std::size_t r = 0; r < margins.size(); ++r) request.responses[r].margin = margins[r];
}

/// The margins with which a search would judge these settings as the posteriors do.
std::vector<double> margins_at(const OptimumRequest& request, const std::vector<double>& settings) {
  const Eigen::VectorXd coded = doe::coded_point(request.factors, settings);
  std::vector<double> margins = margins_of(request);
  for (std::size_t r = 0; r < margins.size(); ++r) {
    const GoalResponse& response = request.responses[r];
    if (!is_calibrated(response)) continue;
    const double margin = spare_margin(*response.goal, response.surface->predict(coded)) -
                          spare_margin(*response.goal, response.posterior->predict(coded));
    if (std::isfinite(margin)) margins[r] = margin;
  }
  return margins;
}

bool is_better(const Candidate& a, const Candidate& b) {
  return std::tie(a.violation, a.doubt, b.desirability) <
         std::tie(b.violation, b.doubt, a.desirability);
}

}  // namespace

void calibrate_limits(OptimumRequest& request) {
  if (std::none_of(request.responses.begin(), request.responses.end(), is_calibrated)) return;
  OptimumRequest search = request;
  search.max_enumerated = std::min(request.max_enumerated, kMaxEnumerated);
  std::optional<Candidate> best;
  std::vector<std::vector<double>> found;  // settings
  for (int round = 0; round < kSearches; ++round) {
    Candidate candidate = find_optimum(search).best;
    const std::vector<double> used = margins_of(search);
    std::vector<double> next = margins_at(search, candidate.settings);
    const bool is_known = std::find(found.begin(), found.end(), candidate.settings) != found.end();
    found.push_back(candidate.settings);
    if (!best || is_better(candidate, *best)) {
      set_margins(request, used);
      best = std::move(candidate);
    }
    if (is_known && best->doubt == 0) return;
    if (round >= kFreeSearches) {
      for (std::size_t r = 0; r < next.size(); ++r) next[r] = std::max(next[r], used[r]);
    }
    if (next == used) return;
    set_margins(search, next);
  }
}

}  // namespace doetune::surfaces
