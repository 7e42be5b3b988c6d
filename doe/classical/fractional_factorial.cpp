// Regular fractions 2^(k-p) of two-level factorials.
//
// Without runs, resolution or generators: the smallest fraction in which the model terms without
// powers have distinct columns, and none of them is confounded with blocks.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "doe/classical/fraction_notes.h"
#include "doe/classical/regular_fraction.h"
#include "doe/classical/two_level.h"
#include "doe/design.h"

namespace doetune::doe {
namespace {

constexpr std::size_t kMaxFactors = 500;

struct BlockedFraction {
  RegularFraction fraction;
  std::vector<ColumnBits> blocks;
};

/// log2 of the number of blocks.
int block_generators(const DesignRequest& request) {
  const auto blocks = static_cast<unsigned>(std::max(request.options.blocks, 1));
  if (!std::has_single_bit(blocks)) {
    throw DesignError(fmt::format(
        "fractional-factorial can be run in 2, 4, 8, ... blocks, but {} is not a power of two",
        blocks));
  }
  return std::countr_zero(blocks);
}

int basic_of_runs(const DesignRequest& request) {
  const int k = static_cast<int>(request.factors.size());
  const int center = request.options.center_runs.value_or(0);
  const int runs = runs_without_center(request, center);
  if (!std::has_single_bit(static_cast<unsigned>(runs))) {
    const auto below = static_cast<int>(std::bit_floor(static_cast<unsigned>(runs)));
    throw DesignError(fmt::format(
        "the number of runs of fractional-factorial without centre runs is a power of two, but {} "
        "is not; use runs: {} or {}, or plackett-burman, which takes any multiple of four",
        runs, runs_with_center(request, below, center),
        runs_with_center(request, 2 * below, center)));
  }
  const int basic = std::countr_zero(static_cast<unsigned>(runs));
  if (basic > k) {
    throw DesignError(fmt::format(
        "{} runs are more than the {} of the full factorial; use replicates to repeat it", runs,
        std::int64_t{1} << k));
  }
  if (k >= runs) {
    throw DesignError(fmt::format("{} factors need more than {} runs: at least {}", k, runs,
                                  std::bit_ceil(static_cast<unsigned>(k) + 1)));
  }
  if (basic > kMaxBasicFactors) {
    throw DesignError(
        fmt::format("fractional-factorial has at most {} runs", 1 << kMaxBasicFactors));
  }
  return basic;
}

BlockedFraction with_blocks(RegularFraction fraction, const DesignRequest& request,
                            const std::vector<Effect>& effects) {
  const int q = block_generators(request);
  if (q == 0) return {std::move(fraction), {}};
  auto columns = block_columns(fraction, q, effects);
  if (!columns) {
    throw DesignError(
        fmt::format("{} runs of {} factors in {} blocks confound main effects with "
                    "blocks; ask for fewer blocks or more runs",
                    fraction.run_count(), request.factors.size(), request.options.blocks));
  }
  return {std::move(fraction), std::move(*columns)};
}

RegularFraction smallest_asked(const DesignRequest& request, const std::vector<Effect>& effects) {
  const int resolution = request.options.resolution.value_or(3);
  if (resolution < 3) throw DesignError("resolution: at least 3, where main effects are distinct");
  const int q = block_generators(request);
  const int k = static_cast<int>(request.factors.size());
  auto fraction = smallest_fraction(k, resolution, q, effects);
  if (fraction) return std::move(*fraction);
  throw DesignError(fmt::format(
      "no fraction of {} factors in up to 2^{} runs has resolution {} for the model{}; ask for a "
      "smaller model, a lower resolution or fewer blocks",
      k, std::min(k, kMaxBasicFactors), resolution, q > 0 ? " and the blocks" : ""));
}

RegularFraction asked_fraction(const DesignRequest& request, const std::vector<Effect>& effects) {
  const DesignOptions& options = request.options;
  if (int{options.runs.has_value()} + int{options.resolution.has_value()} +
          int{!options.generators.empty()} >
      1) {
    throw DesignError("fractional-factorial takes only one of runs, resolution and generators");
  }
  if (!options.generators.empty()) {
    return parse_generators(options.generators, request.factors);
  }
  if (!options.runs) return smallest_asked(request, effects);
  const int k = static_cast<int>(request.factors.size());
  return *minimum_aberration(k, basic_of_runs(request), effects);
}

}  // namespace

Design fractional_factorial(const DesignRequest& request) {
  require_factors(request, "fractional-factorial", 1);
  require_two_level_categories(request, "fractional-factorial");
  if (request.factors.size() > kMaxFactors) {
    throw DesignError(fmt::format("fractional-factorial takes at most {} factors", kMaxFactors));
  }
  const std::vector<Effect> effects =
      two_level_effects(request.model, static_cast<int>(request.factors.size()));
  const auto [fraction, confounded] =
      with_blocks(asked_fraction(request, effects), request, effects);
  const Eigen::MatrixXd runs = fraction.runs();
  const std::vector<int> blocks = blocks_of_runs(fraction, confounded);
  Design design;
  for (int run = 0; run < fraction.run_count(); ++run) {
    design.points.push_back({two_level_point(request.factors, runs.row(run).transpose()),
                             PointType::kFactorial, blocks[run]});
  }
  append_center_runs_to_blocks(request, request.options.center_runs.value_or(0),
                               request.options.blocks, design);
  design.notes = fraction_notes(fraction, request.factors);
  if (!confounded.empty()) {
    design.notes.push_back(block_note(fraction, confounded, request.factors));
  }
  return design;
}

}  // namespace doetune::doe
