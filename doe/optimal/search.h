// Many exchanges from random starts, and the judgement whether more would help.
#pragma once

#include <cstdint>
#include <optional>

#include "doe/optimal/exchange.h"

namespace doetune::doe {

struct SearchSettings {
  std::optional<int> starts;  ///< empty: until the best was found ten times
  double time_limit_s = 10;
  int threads = 0;  ///< 0: all
  std::uint64_t seed = 0;
};

struct SearchResult {
  Eigen::MatrixXd design;  ///< n x coordinates
  double value = 0;        ///< as exact_value
  int starts = 0;
  int best_found = 0;  ///< starts that ended within 1e-6 of the best: of |M|^(1/p), or of the trace
  double seconds = 0;
  bool stopped_by_time = false;
};

/// The best design of many random starts. The starts are numbered and each has random numbers of
/// its own; unless time runs out, the result is the same for any number of threads. Empty where
/// every design that was found is singular. `core`: rows of a good design of fewer runs (or as
/// many), with which the first start and, if other rows are left, every other one begins; may be
/// empty.
std::optional<SearchResult> search_designs(const ExchangeProblem& problem,
                                           const SearchSettings& settings,
                                           const Eigen::MatrixXd& core = {});

/// What to tell a user whose search ended empty.
DesignError nothing_found(int runs);

}  // namespace doetune::doe
