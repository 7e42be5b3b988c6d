#include "doe/proposed_design.h"

#include <fmt/format.h>

#include <algorithm>

#include "doe/model.h"
#include "doe/optimal/budget.h"

namespace doetune::doe {
namespace {

constexpr int kCenterRuns = 6;        ///< of a central composite design, by default
constexpr int kScreeningCenters = 4;  ///< their scatter is the error of a screening design

/// The factors by kind, and the sizes of the models.
struct Kinds {
  int all = 0;
  int curved = 0;           ///< numeric with three settings or more
  int two_level = 0;        ///< numeric or categorical
  bool is_easy = true;      ///< no constraints, and nothing is hard to change
  double combinations = 1;  ///< of the levels of factors that are not curved
  int linear = 1, interactions = 1, quadratic = 1, pure_quadratic = 1;  ///< coefficients

  int categorical() const { return all - curved - two_level; }  ///< of three levels or more
};

bool is_curved(const Factor& factor) {
  return Model::named("pure-quadratic", {factor}).column_count() > 2 && !factor.is_categorical();
}

Kinds kinds_of(const std::vector<Factor>& factors, const Region& region) {
  Kinds kinds;
  kinds.all = static_cast<int>(factors.size());
  kinds.is_easy = region.is_box();
  int pairs = 0;
  for (const Factor& factor : factors) {
    const int levels = factor.is_categorical() ? static_cast<int>(factor.level_names.size()) : 2;
    const bool curved = is_curved(factor);
    kinds.curved += curved ? 1 : 0;
    kinds.two_level += !curved && levels == 2 ? 1 : 0;
    kinds.combinations *= curved ? 1 : levels;
    kinds.is_easy = kinds.is_easy && !factor.hard_to_change;
    pairs += (levels - 1) * (kinds.linear - 1);
    kinds.linear += levels - 1;
  }
  kinds.interactions = kinds.linear + pairs;
  kinds.quadratic = kinds.interactions + kinds.curved;
  kinds.pure_quadratic = kinds.linear + kinds.curved;
  return kinds;
}

/// An optimal design with a few more runs than the model has coefficients.
ProposedDesign optimal(const char* type, const char* model, int coefficients) {
  ProposedDesign design{type, {}, model, coefficients + kSpareRuns, {}};
  design.options.runs = design.runs;
  return design;
}

ProposedDesign all_combinations(const char* model, double combinations, int replicates) {
  ProposedDesign design{"full-factorial", {}, model, 0, {}};
  design.runs = static_cast<int>(combinations) * replicates;
  design.options.replicates = replicates;
  return design;
}

/// "design: {type: i-optimal, runs: 50} and model: quadratic, 50 runs".
std::string in_words(const ProposedDesign& better, bool other_model) {
  std::string text = "design: {type: " + better.type;
  if (better.options.runs) text += fmt::format(", runs: {}", *better.options.runs);
  if (better.options.replicates > 1) {
    text += fmt::format(", replicates: {}", better.options.replicates);
  }
  return fmt::format("{}}}{}, {} runs", text, other_model ? " and model: " + better.model : "",
                     better.runs);
}

ProposedDesign with_next(ProposedDesign design, const ProposedDesign& better) {
  design.next_better = in_words(better, better.model != design.model);
  return design;
}

ProposedDesign of_two_levels(const Kinds& kinds) {
  const int k = kinds.all;
  const char* model = k == 1 ? "linear" : "interactions";
  if (k <= 4) {
    const int replicates = k <= 2 ? 2 : 1;  // the fewest that leave an error to test against
    return with_next(all_combinations(model, kinds.combinations, replicates),
                     all_combinations(model, kinds.combinations, replicates + 1));
  }
  ProposedDesign pairs = optimal("d-optimal", model, kinds.interactions);
  if (k == 5) return with_next(std::move(pairs), all_combinations(model, kinds.combinations, 1));
  ProposedDesign fraction{"fractional-factorial", {}, "linear", 0, {}};
  fraction.options.resolution = 4;
  for (fraction.runs = 8; fraction.runs < 2 * k;) fraction.runs *= 2;
  return with_next(std::move(fraction), pairs);
}

ProposedDesign of_categories(const Kinds& kinds) {
  if (kinds.all == 1) {
    return with_next(all_combinations("linear", kinds.combinations, 2),
                     all_combinations("linear", kinds.combinations, 3));
  }
  ProposedDesign main_effects = optimal("d-optimal", "linear", kinds.linear);
  const ProposedDesign pairs = optimal("d-optimal", "interactions", kinds.interactions);
  if (!kinds.is_easy || kinds.combinations > main_effects.runs)
    return with_next(std::move(main_effects), pairs);
  return with_next(all_combinations("linear", kinds.combinations, 1), pairs);
}

ProposedDesign central_composite(const Kinds& kinds, int replicates) {
  ProposedDesign design{"fccd", {}, "quadratic", 0, {}};
  design.runs = replicates * ((1 << kinds.all) + 2 * kinds.all + kCenterRuns);
  design.options.replicates = replicates;
  return design;
}

ProposedDesign of_many(const Kinds& kinds) {
  const ProposedDesign quadratic = optimal("i-optimal", "quadratic", kinds.quadratic);
  if (!kinds.is_easy || kinds.categorical() > 0) {
    return with_next(optimal("d-optimal", "pure-quadratic", kinds.pure_quadratic), quadratic);
  }
  ProposedDesign screening{"definitive-screening", {}, "pure-quadratic", 0, {}};
  screening.options.center_runs = kScreeningCenters;
  screening.runs = 2 * (kinds.all + kinds.all % 2) + kScreeningCenters;
  return with_next(std::move(screening), quadratic);
}

}  // namespace

ProposedDesign propose_design(const std::vector<Factor>& factors, const Region& region) {
  constexpr int kFew = 3, kMany = 6;
  const Kinds kinds = kinds_of(factors, region);
  const bool only_curved = kinds.curved == kinds.all;
  if (kinds.curved == 0 && kinds.is_easy && kinds.categorical() == 0) return of_two_levels(kinds);
  if (kinds.curved == 0) return of_categories(kinds);
  if (kinds.all >= kMany) return of_many(kinds);
  ProposedDesign quadratic = optimal("i-optimal", "quadratic", kinds.quadratic);
  if (!only_curved || !kinds.is_easy) {
    ProposedDesign more = quadratic;
    more.options.runs = more.runs = quadratic.runs + kSpareRuns;
    return with_next(std::move(quadratic), more);
  }
  if (kinds.all > kFew) return with_next(std::move(quadratic), central_composite(kinds, 1));
  return with_next(central_composite(kinds, 1), central_composite(kinds, 2));
}

}  // namespace doetune::doe
