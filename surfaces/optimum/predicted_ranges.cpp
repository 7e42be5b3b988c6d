#include <algorithm>

#include "doe/design.h"
#include "surfaces/optimum.h"
#include "surfaces/optimum/empty_region.h"
#include "surfaces/optimum/responses_together.h"
#include "surfaces/optimum/settings_search.h"

namespace doetune::surfaces {
namespace {

constexpr std::size_t kImprovedExtremes = 4;
constexpr long kExtremeEvaluations = 60'000;  // for the improvement of one extreme

struct Extreme {
  double value = 0;  ///< sign x response
  Settings settings;
};

/// The maximum of sign x response in every block of a search, in descending order.
using Extremes = std::vector<Extreme>;

/// For the minimum and maximum of every response: 2 per response.
std::vector<Extremes> extremes_of_blocks(const OptimumRequest& request,
                                         const SettingsSearch& search) {
  std::vector<std::vector<Extreme>> found(search.block_count());
  std::vector<const Surface*> surfaces;
  for (const GoalResponse& response : request.responses) surfaces.push_back(response.surface);
  const ResponsesTogether together(surfaces);
  search.for_each(request.threads, [&](std::size_t index, const Block& block) {
    const std::vector<Eigen::Index> rows = feasible_rows(request, block.coded);
    if (rows.empty()) return;
    for (const Eigen::VectorXd& values : together.at(block.coded(rows, Eigen::all))) {
      Eigen::Index lowest = 0, highest = 0;
      const double low = values.minCoeff(&lowest), high = values.maxCoeff(&highest);
      found[index].push_back({-low, block.settings(rows[static_cast<std::size_t>(lowest)])});
      found[index].push_back({high, block.settings(rows[static_cast<std::size_t>(highest)])});
    }
  });
  std::vector<Extremes> extremes(2 * request.responses.size());
  for (const std::vector<Extreme>& block : found) {
    for (std::size_t e = 0; e < block.size(); ++e) extremes[e].push_back(block[e]);
  }
  for (Extremes& sorted : extremes) {
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Extreme& a, const Extreme& b) { return a.value > b.value; });
  }
  return extremes;
}

/// The maximum of sign x response, improved from the best values of a search.
double improved(const OptimumRequest& request, const SettingsSearch& search, const Surface& surface,
                double sign, const Extremes& seen) {
  double highest = seen.front().value;
  if (search.is_exhaustive()) return highest;
  long evaluations = kExtremeEvaluations;
  for (std::size_t i = 0; i < std::min(kImprovedExtremes, seen.size()); ++i) {
    double value = seen[i].value;
    const auto choose = [&](const Block& trials) -> std::optional<Eigen::Index> {
      const std::vector<Eigen::Index> rows = feasible_rows(request, trials.coded);
      if (rows.empty()) return std::nullopt;
      Eigen::Index at = 0;
      const double found = (sign * surface.responses(trials.coded(rows, Eigen::all))).maxCoeff(&at);
      if (found <= value) return std::nullopt;
      value = found;
      return rows[static_cast<std::size_t>(at)];
    };
    search.improved(seen[i].settings, choose, evaluations);
    highest = std::max(highest, value);
  }
  return highest;
}

}  // namespace

std::vector<Interval> predicted_ranges(const OptimumRequest& request) {
  const SettingsSearch search(request.factors, request.region, request.hold,
                              request.max_enumerated);
  const std::vector<Extremes> extremes = extremes_of_blocks(request, search);
  std::vector<Interval> ranges;
  for (std::size_t r = 0; r < request.responses.size(); ++r) {
    if (extremes[2 * r].empty()) {
      if (!request.feasibility) refuse_empty_region(request, search);
      OptimumRequest anywhere = request;
      anywhere.feasibility = {};
      return predicted_ranges(anywhere);
    }
    const Surface& surface = *request.responses[r].surface;
    ranges.push_back({-improved(request, search, surface, -1, extremes[2 * r]),
                      improved(request, search, surface, 1, extremes[2 * r + 1])});
  }
  return ranges;
}

}  // namespace doetune::surfaces
