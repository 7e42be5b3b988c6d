#include "tuning/problem.h"

#include <algorithm>

namespace doetune::tuning {

bool same_whole_plot(const Problem& problem, const Settings& a, const Settings& b) {
  for (std::size_t f = 0; f < problem.factors.size(); ++f) {
    if (problem.factors[f].hard_to_change && a[f] != b[f]) return false;
  }
  return true;
}

bool has_whole_plots(const Problem& problem) {
  return std::any_of(problem.factors.begin(), problem.factors.end(),
                     [](const doe::Factor& factor) { return factor.hard_to_change; });
}

}  // namespace doetune::tuning
