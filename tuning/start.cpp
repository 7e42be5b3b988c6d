#include "tuning/start.h"

#include <algorithm>

#include "doe/design.h"
#include "surfaces/optimum.h"

namespace doetune::tuning {
namespace {

constexpr int kStarts = 4;  ///< of the search for a design: the runs that follow matter more

}  // namespace

int start_size(const Problem& problem, int budget) {
  const int wanted = 2 * static_cast<int>(problem.factors.size()) + 2;
  return std::max(1, std::min(wanted, budget / 2));
}

std::vector<Settings> start(const Problem& problem, int runs) {
  std::vector<Settings> settings;
  const auto k = static_cast<Eigen::Index>(problem.factors.size());
  doe::DesignRequest request;
  request.factors = problem.factors;
  request.region = problem.region;
  request.model = doe::Model::parse({"1"}, problem.factors);
  request.seed = problem.seed;
  request.options.center_runs = 0;
  request.options.starts = kStarts;
  const auto today = surfaces::baseline_of(problem.factors);
  if (today && problem.region.allows(*today)) {
    settings.push_back(*today);
    request.existing.resize(1, k);
    request.existing.row(0) = doe::coded_point(problem.factors, *today).transpose();
  }
  request.options.runs = runs - static_cast<int>(settings.size());
  if (*request.options.runs < 1) return settings;
  for (const doe::DesignPoint& point : doe::build_design("space-filling", request).points) {
    settings.push_back(doe::natural_settings(problem.factors, point.coded));
  }
  return settings;
}

}  // namespace doetune::tuning
