// Chooses the design for a model and a number of runs: a classical design if it is nearly as good
// as the optimal one, for its balance and known properties, otherwise the optimal one.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>

#include "doe/design.h"
#include "doe/evaluation/moments.h"
#include "doe/optimal/budget.h"

namespace doetune::doe {
namespace {

constexpr std::array kForCurvature{"box-behnken", "fccd"};
constexpr std::array kForSlopes{"plackett-burman", "fractional-factorial", "full-factorial"};
constexpr int kMaxCenterRuns = 6;
constexpr double kAbout = 1.1;  ///< a classical design may exceed the optimal cost by this factor

bool has_curvature(const Model& model) {
  return std::any_of(model.terms().begin(), model.terms().end(), [](const Term& term) {
    return *std::max_element(term.powers.begin(), term.powers.end()) > 1;
  });
}

/// The criterion by which designs are compared, smaller is better: the average prediction variance
/// for a model with curvature, otherwise |(X'X)^-1|^(1/p). Both decrease with the number of runs.
/// Empty if the design does not determine the model.
std::optional<double> cost(const DesignRequest& request, const Design& design) {
  const Eigen::MatrixXd x = request.model.matrix(design.coded());
  const Eigen::FullPivHouseholderQR<Eigen::MatrixXd> qr(x);
  if (qr.rank() < x.cols()) return std::nullopt;
  if (!has_curvature(request.model)) {
    return std::exp(-2 * qr.matrixQR().diagonal().cwiseAbs().array().log().mean());
  }
  const Eigen::MatrixXd moments = moment_matrix(request.model, request.region);
  return (x.transpose() * x).ldlt().solve(moments).trace();
}

bool takes(const DesignType& type, std::string_view option) {
  const std::vector<std::string> names = option_names(type);
  return std::find(names.begin(), names.end(), option) != names.end();
}

/// The largest classical design with at most `runs` runs; models with curvature may add up to
/// kMaxCenterRuns centre runs to reach that number. Empty if there is none.
std::optional<Design> classical(const char* name, const DesignRequest& request, int runs) {
  const DesignType& type = find_design_type(name);
  const int max_center = has_curvature(request.model) ? kMaxCenterRuns : 0;
  for (int center = 0; center <= std::min(max_center, runs - 1); ++center) {
    DesignRequest part;
    part.factors = request.factors;
    part.region = request.region;
    part.model = request.model;
    part.seed = request.seed;
    part.options.center_runs = center;
    if (name == std::string_view("full-factorial")) part.options.levels = 2;
    if (takes(type, "runs")) part.options.runs = runs;
    try {
      Design design = build_design(name, part);
      const auto built = static_cast<int>(design.points.size());
      if (built == runs || (built < runs && center == max_center)) return design;
      if (built > runs) return std::nullopt;
    } catch (const DesignError&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::string_view criterion_name(bool curvature) {
  return curvature ? "average prediction variance" : "generalised coefficient variance";
}

}  // namespace

Design automatic_design(const DesignRequest& request) {
  const bool curvature = has_curvature(request.model);
  const char* optimal_type = curvature ? "i-optimal" : "d-optimal";
  DesignRequest wanted = request;
  const int runs = request.options.runs.value_or(request.model.column_count() + kSpareRuns);
  wanted.options.runs = runs;
  Design optimal = build_design(optimal_type, wanted);
  const auto optimal_cost = cost(request, optimal);
  if (!optimal_cost) return optimal;  // singular: plan reports it
  const double least = *optimal_cost;

  std::optional<Design> best;
  std::string best_name;
  double best_cost = kAbout * least;
  std::span<const char* const> candidates = kForSlopes;
  if (curvature) candidates = kForCurvature;
  if (in_whole_plots(request)) candidates = {};  // classical designs ignore whole plots
  for (const char* name : candidates) {
    auto design = classical(name, request, runs);
    if (!design) continue;
    const auto its_cost = cost(request, *design);
    if (!its_cost || *its_cost > best_cost * (1 - 1e-9)) continue;
    best_cost = *its_cost;
    best_name = name;
    best = std::move(design);
  }
  if (best) {
    best->notes.insert(
        best->notes.begin(),
        fmt::format(
            "auto: {} with {} runs; its {} is {:.1f} % of that of the {} design with {} runs",
            best_name, best->points.size(), criterion_name(curvature), 100 * best_cost / least,
            optimal_type, runs));
    return *best;
  }
  optimal.notes.insert(
      optimal.notes.begin(),
      fmt::format(
          "auto: {}; no classical design with at most {} runs comes within {:.0f} % of its {} here",
          optimal_type, runs, 100 * (kAbout - 1), criterion_name(curvature)));
  return optimal;
}

}  // namespace doetune::doe
