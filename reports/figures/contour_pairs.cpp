#include "reports/figures/contour_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/reference_point.h"
#include "reports/figures/figures.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kMaxPairs = 6, kFewestPairs = 2, kMaxFigures = 24;

/// Magnitude of the interaction of x and y.
double interaction(const surfaces::Surface& surface, Eigen::VectorXd point, int x, int y) {
  const auto at = [&](double cx, double cy) {
    point[x] = cx;
    point[y] = cy;
    return surface.response(point);
  };
  return std::abs(at(1, 1) - at(-1, 1) - at(1, -1) + at(-1, -1));
}

std::vector<FactorPair> all_pairs(const std::vector<doe::Factor>& factors) {
  const std::vector<int> numeric = analysis::numeric_factors(factors);
  std::vector<FactorPair> pairs;
  for (std::size_t a = 0; a < numeric.size(); ++a) {
    for (std::size_t b = a + 1; b < numeric.size(); ++b) pairs.push_back({numeric[a], numeric[b]});
  }
  return pairs;
}

std::size_t pairs_a_response(const analysis::Analysis& analysis) {
  const auto fitted = static_cast<std::size_t>(std::count_if(
      analysis.responses.begin(), analysis.responses.end(),
      [](const analysis::ResponseAnalysis& response) { return response.fit.has_value(); }));
  return std::clamp(kMaxFigures / std::max<std::size_t>(fitted, 1), kFewestPairs, kMaxPairs);
}

}  // namespace

std::vector<FactorPair> pairs_to_draw(const analysis::Analysis& analysis,
                                      const analysis::ResponseAnalysis& response,
                                      const Eigen::VectorXd& held) {
  std::vector<FactorPair> pairs = all_pairs(analysis::factors_of(analysis));
  const std::size_t max_pairs = pairs_a_response(analysis);
  if (pairs.size() <= max_pairs) return pairs;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    order.emplace_back(-interaction(*response.drawn(), held, pairs[i].x, pairs[i].y), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<FactorPair> strongest;
  for (std::size_t i = 0; i < max_pairs; ++i) strongest.push_back(pairs[order[i].second]);
  return strongest;
}

std::string contours_left_out(const analysis::Analysis& analysis) {
  const std::size_t pairs = all_pairs(analysis::factors_of(analysis)).size();
  const std::size_t max_pairs = pairs_a_response(analysis);
  if (pairs <= max_pairs) return "";
  return fmt::format("For each response, the {} of {} pairs of factors that interact most.",
                     max_pairs, pairs);
}

}  // namespace doetune::reports
