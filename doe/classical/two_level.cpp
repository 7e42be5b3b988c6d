#include "doe/classical/two_level.h"

#include <fmt/format.h>

#include "doe/combinations.h"

namespace doetune::doe {
namespace {

constexpr double kMaxTwoLevelRuns = 1e6;

int level_count(const Factor& factor) {
  if (factor.is_categorical()) return static_cast<int>(factor.level_names.size());
  if (factor.kind == FactorKind::kDiscrete) return static_cast<int>(factor.levels.size());
  return factor.high > factor.low ? 2 : 1;
}

double category_combinations(const std::vector<Factor>& factors) {
  double count = 1;
  for (const Factor& factor : factors) {
    if (factor.is_categorical()) count *= static_cast<double>(factor.level_names.size());
  }
  return count;
}

}  // namespace

void require_factors(const DesignRequest& request, std::string_view type, int least) {
  const std::size_t given = request.factors.size();
  if (given < static_cast<std::size_t>(least)) {
    throw DesignError(fmt::format("{} needs at least {} factor{}, but there {} {}", type, least,
                                  least == 1 ? "" : "s", given == 1 ? "is" : "are", given));
  }
  for (const Factor& factor : request.factors) {
    if (level_count(factor) < 2) {
      throw DesignError(fmt::format("{}: '{}' has only one setting; a factor needs at least two",
                                    type, factor.name));
    }
  }
}

void require_two_level_categories(const DesignRequest& request, std::string_view type) {
  for (const Factor& factor : request.factors) {
    if (!factor.is_categorical() || factor.level_names.size() == 2) continue;
    throw DesignError(
        fmt::format("{} runs two levels of a categorical factor, but '{}' has {}; full-factorial "
                    "takes any number",
                    type, factor.name, factor.level_names.size()));
  }
}

Eigen::VectorXd two_level_point(const std::vector<Factor>& factors, const Eigen::VectorXd& signs) {
  Eigen::VectorXd coded = signs;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].is_categorical()) coded[f] = signs[f] > 0 ? 1 : 0;
  }
  return coded;
}

int runs_without_center(const DesignRequest& request, int center_runs) {
  const int runs = request.options.runs.value_or(0);
  const int replicates = request.options.replicates;
  const double center = center_runs * category_combinations(request.factors);
  if (runs % replicates != 0) {
    throw DesignError(fmt::format("{} runs are not a multiple of {} replicates", runs, replicates));
  }
  const double left = runs / replicates - center;
  if (left < 1) {
    throw DesignError(
        fmt::format("{} runs in {} replicate{} leave none besides {} centre runs in each", runs,
                    replicates, replicates == 1 ? "" : "s", center));
  }
  return static_cast<int>(left);
}

int runs_with_center(const DesignRequest& request, int runs, int center_runs) {
  const double center = center_runs * category_combinations(request.factors);
  return static_cast<int>(request.options.replicates * (runs + center));
}

void append_center_runs_to_blocks(const DesignRequest& request, int runs, int blocks,
                                  Design& design) {
  if (runs == 0) return;
  if (numeric_factors(request.factors).empty()) {
    throw DesignError("categorical factors alone have no centre point: leave center_runs out");
  }
  const double added = runs * category_combinations(request.factors);
  if (added > kMaxTwoLevelRuns) {
    throw DesignError(fmt::format(
        "{} centre runs at each combination of categorical levels are {:.0f}, more than {:.0f}",
        runs, added, kMaxTwoLevelRuns));
  }
  const std::size_t first = design.points.size();
  append_center_runs(request, runs, design);
  for (std::size_t i = first; i < design.points.size(); ++i) {
    design.points[i].block =
        1 + static_cast<int>((i - first) % static_cast<std::size_t>(runs)) % blocks;
  }
}

}  // namespace doetune::doe
