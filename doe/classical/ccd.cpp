// Central composite designs: the 2^k corners of a cube (or a fraction of them), 2k axial points at
// distance alpha, and centre runs. Box & Wilson (1951); rotatable and orthogonally blocked: Box &
// Hunter (1957).
//
// With L combinations of categorical levels the design of the numeric factors is run at each
// combination. Factor ranges are hard limits: for alpha > 1 the axial points stay at -1 and 1 and
// the corners move to 1 / alpha.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "doe/classical/across_categories.h"
#include "doe/classical/fraction_notes.h"
#include "doe/classical/regular_fraction.h"
#include "doe/classical/two_level.h"
#include "doe/combinations.h"
#include "doe/design.h"

namespace doetune::doe {
namespace {

constexpr int kMaxNumericFactors = 10;
constexpr int kMaxFractionFactors = 20;
constexpr int kCenterRuns = 6;

/// The design of the numeric factors: cube portion in blocks 1 .. cube_blocks and axial portion in
/// the next block, or everything in block 1.
struct Portions {
  RegularFraction cube;
  std::vector<ColumnBits> cube_block_columns;
  int blocks = 1;
  int center_runs = kCenterRuns;
  double alpha = 1;

  int cube_blocks() const { return std::max(blocks - 1, 1); }

  /// Centre runs in each block of the cube portion; the axial block gets the rest.
  int center_per_cube_block() const {
    return blocks == 1 ? center_runs : (center_runs + 1) / blocks;
  }
};

/// Main effects and two-factor interactions of a quadratic model.
std::vector<Effect> second_order_effects(int k) {
  std::vector<Effect> effects;
  for (int a = 0; a < k; ++a) {
    effects.push_back({a});
    for (int b = a + 1; b < k; ++b) effects.push_back({a, b});
  }
  return effects;
}

RegularFraction full_cube(int k) {
  RegularFraction cube{k, {}, std::vector<int>(k, 1)};
  for (int f = 0; f < k; ++f) cube.columns.push_back(ColumnBits{1} << f);
  return cube;
}

/// The alpha at which blocks are orthogonal to the quadratic model: in every block the sum of
/// squares of each factor is proportional to the number of runs. Box & Hunter (1957).
double orthogonally_blocking_alpha(const Portions& design) {
  const auto k = static_cast<double>(design.cube.columns.size());
  const double corners = design.cube.run_count();
  const double cube_center = design.cube_blocks() * design.center_per_cube_block();
  const double axial_center = design.center_runs - cube_center;
  return std::sqrt(corners * (2 * k + axial_center) / (2 * (corners + cube_center)));
}

/// The alpha at which the estimates of all coefficients except the intercept are uncorrelated.
double orthogonal_alpha(const Portions& design) {
  const auto k = static_cast<double>(design.cube.columns.size());
  const double corners = design.cube.run_count();
  const double runs = corners + 2 * k + design.center_runs;
  return std::pow(std::pow(std::sqrt(runs) - std::sqrt(corners), 2) * corners / 4, 0.25);
}

double alpha_named(const std::string& name, const Portions& design) {
  if (name == "face") return 1;
  if (name == "rotatable") return std::pow(design.cube.run_count(), 0.25);
  if (name == "spherical") return std::sqrt(static_cast<double>(design.cube.columns.size()));
  if (name == "orthogonal") return orthogonal_alpha(design);
  double alpha = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), alpha);
  if (error == std::errc() && end == name.data() + name.size() && alpha > 0 && alpha <= 100) {
    return alpha;
  }
  throw DesignError(fmt::format(
      "ccd: alpha is face, rotatable, spherical, orthogonal or a number up to 100, not '{}'",
      name));
}

std::vector<DesignPoint> numeric_points(const Portions& design) {
  std::vector<DesignPoint> points;
  const auto k = static_cast<Eigen::Index>(design.cube.columns.size());
  const double outermost = std::max(design.alpha, 1.0);
  const Eigen::MatrixXd corners = design.cube.runs() / outermost;
  const std::vector<int> blocks = blocks_of_runs(design.cube, design.cube_block_columns);
  for (Eigen::Index run = 0; run < corners.rows(); ++run) {
    points.push_back({corners.row(run).transpose(), PointType::kFactorial, blocks[run]});
  }
  for (Eigen::Index f = 0; f < k; ++f) {
    for (const double side : {-design.alpha, design.alpha}) {
      points.push_back(
          {side / outermost * Eigen::VectorXd::Unit(k, f), PointType::kAxial, design.blocks});
    }
  }
  for (int run = 0; run < design.center_runs; ++run) {
    const int each = std::max(design.center_per_cube_block(), 1);
    const int in_cube = design.cube_blocks() * design.center_per_cube_block();
    points.push_back({Eigen::VectorXd::Zero(k), PointType::kCenter,
                      run < in_cube ? run / each + 1 : design.blocks});
  }
  return points;
}

/// The full cube, or if a resolution is requested, the smallest fraction that has it.
RegularFraction cube_of(const DesignRequest& request, int k, int q) {
  const int resolution = request.options.resolution.value_or(0);
  if (request.options.resolution && resolution < 5) {
    throw DesignError(
        "ccd: resolution must be 5 or more, or interactions are aliased with each other");
  }
  if (resolution == 0 && k > kMaxNumericFactors) {
    throw DesignError(
        fmt::format("ccd with {} numeric factors has {:.0f} corners; resolution: 5 uses a fraction "
                    "of them, for up to {} factors",
                    k, std::ldexp(1, k), kMaxFractionFactors));
  }
  if (k > kMaxFractionFactors) {
    throw DesignError(fmt::format("ccd takes at most {} numeric factors", kMaxFractionFactors));
  }
  if (resolution == 0) return full_cube(k);
  auto cube = smallest_fraction(k, resolution, q, second_order_effects(k));
  if (!cube) throw DesignError(fmt::format("ccd: no cube of resolution {} found", resolution));
  return std::move(*cube);
}

Portions blocked_portions(const DesignRequest& request, int k) {
  const int blocks = request.options.blocks;
  const auto cube_blocks = static_cast<unsigned>(std::max(blocks - 1, 1));
  if (!std::has_single_bit(cube_blocks)) {
    throw DesignError(fmt::format(
        "ccd can be run in 2, 3, 5, 9, ... blocks: the cube in a power of two, and the axial "
        "points; not in {}",
        blocks));
  }
  const int q = std::countr_zero(cube_blocks);
  Portions design;
  design.cube = cube_of(request, k, q);
  const auto columns = clear_block_columns(design.cube, q, second_order_effects(k));
  if (!columns) {
    throw DesignError(fmt::format(
        "ccd: {} corners in {} blocks confound interactions with blocks; ask for fewer blocks",
        design.cube.run_count(), cube_blocks));
  }
  design.cube_block_columns = *columns;
  design.blocks = blocks;
  design.center_runs = request.options.center_runs.value_or(std::max(kCenterRuns, blocks));
  return design;
}

std::vector<std::string> notes_of(const Portions& design, const std::vector<Factor>& factors) {
  std::vector<std::string> notes;
  if (design.alpha > 1) {
    notes.push_back(fmt::format(
        "alpha {:.4f}, inscribed: axial points at -1 and 1, corners at {:.4f} in coded units",
        design.alpha, 1 / design.alpha));
  } else {
    notes.push_back(fmt::format("alpha {:.4f}", design.alpha));
  }
  if (design.cube.resolution()) {
    for (std::string& note : fraction_notes(design.cube, factors)) {
      notes.push_back("cube: " + std::move(note));
    }
  }
  if (!design.cube_block_columns.empty()) {
    notes.push_back("cube: " + block_note(design.cube, design.cube_block_columns, factors));
  }
  if (design.blocks == 1) return notes;
  const double orthogonal = orthogonally_blocking_alpha(design);
  notes.push_back(
      std::abs(design.alpha - orthogonal) < 1e-9
          ? "blocks are orthogonal to the quadratic model"
          : fmt::format("blocks are orthogonal to the quadratic model only with alpha {:.4f}",
                        orthogonal));
  return notes;
}

std::vector<Factor> numeric_only(const std::vector<Factor>& factors) {
  std::vector<Factor> numeric;
  for (const int f : numeric_factors(factors)) numeric.push_back(factors[f]);
  return numeric;
}

}  // namespace

Design central_composite(const DesignRequest& request) {
  require_factors(request, "ccd", 1);
  const std::vector<Factor> numeric = numeric_only(request.factors);
  if (numeric.size() < 2) {
    throw DesignError(fmt::format("ccd needs at least two numeric factors, but there {} {}",
                                  numeric.size() == 1 ? "is" : "are", numeric.size()));
  }
  Portions portions = blocked_portions(request, static_cast<int>(numeric.size()));
  const std::string& alpha = request.options.alpha;
  if (!alpha.empty()) {
    portions.alpha = alpha_named(alpha, portions);
  } else {
    portions.alpha = portions.blocks > 1 ? orthogonally_blocking_alpha(portions)
                                         : alpha_named("rotatable", portions);
  }
  Design design;
  design.points = across_categories(request, numeric_points(portions), "ccd");
  design.notes = notes_of(portions, numeric);
  return design;
}

Design face_centred_ccd(const DesignRequest& request) {
  const std::vector<int> numeric = numeric_factors(request.factors);
  if (numeric.empty()) throw DesignError("fccd needs at least one numeric factor");
  if (numeric.size() > kMaxNumericFactors) {
    throw DesignError(fmt::format(
        "fccd with {} numeric factors has over {:.0f} runs; at most {} factors", numeric.size(),
        std::ldexp(1, static_cast<int>(numeric.size())), kMaxNumericFactors));
  }
  if (request.options.blocks > 2) {
    throw DesignError("fccd can be run in 1 block, or in 2: corners, then face centres");
  }
  Portions portions;
  portions.cube = full_cube(static_cast<int>(numeric.size()));
  portions.blocks = std::max(request.options.blocks, 1);
  portions.center_runs = request.options.center_runs.value_or(kCenterRuns);
  Design design;
  design.points = across_categories(request, numeric_points(portions), "fccd");
  return design;
}

}  // namespace doetune::doe
