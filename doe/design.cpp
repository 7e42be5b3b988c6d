#include "doe/design.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "base/nearest_name.h"

namespace doetune::doe {
namespace {

constexpr std::size_t kMaxRuns = 1'000'000;
constexpr double kMaxCells = 1e8;  ///< of a model matrix: 0.8 GB
constexpr double kMaxWork = 1e11;  ///< multiplications of its factorisation: a minute
constexpr double kMoved = 0.0101;  ///< coded: exceeds rounding to a hundredth of the range

constexpr std::string_view kOptimalOptions =
    "runs center_runs blocks replicates starts time_limit possible whole_plots budget run_cost "
    "change_cost";

constexpr std::string_view kCompoundOptions =
    "weights runs center_runs blocks replicates starts time_limit possible whole_plots budget "
    "run_cost change_cost";

constexpr std::array kDesignTypes{
    DesignType{
        "auto",
        "chooses a design for the model and the number of runs from the other types, and says why",
        "Atkinson, Donev & Tobias (2007), ch. 7 and 11", automatic_design,
        "runs starts time_limit"},
    DesignType{"fccd",
               "face-centred central composite: corners, face centres and centre runs; three "
               "levels per factor, fits a full quadratic",
               "Box & Wilson (1951), alpha = 1", face_centred_ccd, "center_runs replicates blocks"},
    DesignType{"ccd",
               "central composite: corners, axial points at a chosen distance and centre runs; "
               "fits a full quadratic",
               "Box & Wilson (1951); Box & Hunter (1957)", central_composite,
               "alpha center_runs resolution replicates blocks"},
    DesignType{"box-behnken",
               "three levels per factor and no corner of the cube; fits a full quadratic",
               "Box & Behnken (1960)", box_behnken, "center_runs replicates blocks"},
    DesignType{"full-factorial", "every combination of settings", "Fisher (1935)", full_factorial,
               "levels center_runs replicates", "interactions"},
    DesignType{
        "fractional-factorial",
        "two levels per factor, the number of runs a power of two; says which effects are aliased",
        "Box & Hunter (1961); Fries & Hunter (1980)", fractional_factorial,
        "runs resolution generators center_runs replicates blocks", "linear"},
    DesignType{
        "plackett-burman",
        "two levels per factor, the number of runs a multiple of four; for main effects only",
        "Plackett & Burman (1946); Paley (1933)", plackett_burman, "runs center_runs replicates",
        "linear"},
    DesignType{
        "definitive-screening",
        "three levels per factor in 2k + 1 runs; main effects clear of interactions and squares",
        "Jones & Nachtsheim (2011, 2013); Xiao, Lin & Bai (2012)", definitive_screening,
        "runs center_runs replicates", "pure-quadratic"},
    DesignType{"d-optimal",
               "the most precise coefficients together, for any model and region: fewest runs, "
               "constraints, mixed factors",
               "Meyer & Nachtsheim (1995), coordinate exchange", d_optimal, kOptimalOptions},
    DesignType{"i-optimal", "the best predictions on average: for response surfaces",
               "Meyer & Nachtsheim (1995), coordinate exchange", i_optimal, kOptimalOptions},
    DesignType{"a-optimal", "the smallest sum of coefficient variances",
               "Meyer & Nachtsheim (1995), coordinate exchange", a_optimal, kOptimalOptions},
    DesignType{"compound-optimal", "a compromise of two criteria, D and I or D and A, weighted",
               "Atkinson, Donev & Tobias (2007), ch. 21", compound_optimal, kCompoundOptions},
    DesignType{"g-optimal", "the smallest worst-case prediction variance, with a proven bound",
               "Kiefer & Wolfowitz (1960); by smooth maxima, Charalambous (1979)", g_optimal,
               "runs center_runs replicates starts time_limit"},
    DesignType{
        "space-filling",
        "points spread over the whole region, for responses of unknown shape: maximin, centred "
        "L2 or MaxPro",
        "Johnson, Moore & Ylvisaker (1990); Hickernell (1998); Joseph, Gul & Ba (2015)",
        space_filling_design, "runs criterion starts time_limit center_runs replicates",
        "quadratic", false},
    DesignType{"sobol", "scrambled Sobol' points: any number of runs, and more of them later",
               "Sobol' (1967); Matousek (1998)", sobol_design, "runs center_runs replicates",
               "quadratic", false},
    DesignType{"random", "independent random points, to compare others with",
               "Metropolis & Ulam (1949)", random_design, "runs center_runs replicates",
               "quadratic", false},
    DesignType{"table", "the runs of a CSV file, as given", "the user's own", table_design,
               "file replicates", "quadratic", true, true},
};

constexpr std::array<std::string_view, 10> kPointTypeNames{
    "factorial", "axial",   "center",        "table",    "confirmation",
    "screening", "optimal", "space-filling", "baseline", "proposed"};

void snap_points(const DesignRequest& request, Design& design) {
  std::vector<bool> moved(request.factors.size(), false);
  for (DesignPoint& point : design.points) {
    for (std::size_t f = 0; f < request.factors.size(); ++f) {
      const Factor& factor = request.factors[f];
      const double coded = factor.to_coded(factor.snap(factor.to_natural(point.coded[f])));
      if (std::abs(coded - point.coded[f]) > kMoved) moved[f] = true;
      point.coded[f] = coded;
    }
  }
  for (std::size_t f = 0; f < request.factors.size(); ++f) {
    if (!moved[f]) continue;
    design.notes.push_back(
        fmt::format("{}: some settings of the design moved to the nearest usable ones",
                    request.factors[f].name));
  }
}

void drop_excluded(const DesignRequest& request, Design& design) {
  const std::size_t before = design.points.size();
  std::string example;
  std::erase_if(design.points, [&](const DesignPoint& point) {
    const auto reason = request.region.excluded_by(natural_settings(request.factors, point.coded));
    if (reason) example = *reason;
    return reason.has_value();
  });
  const std::size_t dropped = before - design.points.size();
  if (dropped == 0) return;
  design.notes.push_back(
      fmt::format("{} of {} points left out: not allowed ({})", dropped, before, example));
}

/// Each replicate gets new whole plots, since its hard-to-change factors are set anew.
void replicate(Design& design, int replicates) {
  const std::vector<DesignPoint> once = design.points;
  int whole_plots = 0;
  for (const DesignPoint& point : once) whole_plots = std::max(whole_plots, point.whole_plot);
  for (int copy = 1; copy < replicates; ++copy) {
    for (DesignPoint point : once) {
      if (point.whole_plot > 0) point.whole_plot += copy * whole_plots;
      design.points.push_back(std::move(point));
    }
  }
}

void note_hard_factors(const DesignRequest& request, Design& design) {
  const auto hard = std::find_if(request.factors.begin(), request.factors.end(),
                                 [](const Factor& factor) { return factor.hard_to_change; });
  const bool in_plots = std::any_of(design.points.begin(), design.points.end(),
                                    [](const DesignPoint& p) { return p.whole_plot > 0; });
  if (hard == request.factors.end() || in_plots || request.existing.rows() > 0) return;
  design.notes.push_back(
      fmt::format("{} is hard to change but is changed as often as any factor; d-, i-, a- and "
                  "compound-optimal arrange runs in whole plots",
                  hard->name));
}

/// Numbers the runs at equal settings, whether centre runs or replicates of the whole design.
void number_replicates(Design& design) {
  std::map<std::vector<double>, int> seen;
  for (DesignPoint& point : design.points) {
    point.replicate = ++seen[{point.coded.begin(), point.coded.end()}];
  }
}

}  // namespace

std::string_view point_type_name(PointType type) {
  return kPointTypeNames.at(static_cast<std::size_t>(type));
}

PointType point_type_from_name(std::string_view name) {
  const auto found = std::find(kPointTypeNames.begin(), kPointTypeNames.end(), name);
  if (found == kPointTypeNames.end()) {
    throw std::invalid_argument(
        fmt::format("there is no point type '{:.60}'{}", name,
                    did_you_mean_or_list(name, {kPointTypeNames.begin(), kPointTypeNames.end()})));
  }
  return static_cast<PointType>(found - kPointTypeNames.begin());
}

Eigen::MatrixXd Design::coded() const {
  Eigen::MatrixXd x(points.size(), points.empty() ? 0 : points.front().coded.size());
  for (std::size_t i = 0; i < points.size(); ++i) x.row(i) = points[i].coded.transpose();
  return x;
}

std::span<const DesignType> design_types() { return kDesignTypes; }

std::vector<std::string> design_type_names() {
  std::vector<std::string> names;
  for (const DesignType& type : kDesignTypes) names.emplace_back(type.name);
  return names;
}

std::vector<std::string> option_names(const DesignType& type) {
  std::vector<std::string> names;
  std::istringstream words{std::string(type.options)};
  for (std::string word; words >> word;) names.push_back(word);
  return names;
}

const DesignType& find_design_type(std::string_view name) {
  const auto type = std::find_if(kDesignTypes.begin(), kDesignTypes.end(),
                                 [&](const DesignType& t) { return t.name == name; });
  if (type == kDesignTypes.end()) {
    throw DesignError(fmt::format("there is no design type '{}'{}", name,
                                  did_you_mean_or_list(name, design_type_names())));
  }
  return *type;
}

void check_size(double runs, double columns) {
  if (runs * columns <= kMaxCells && runs * columns * columns <= kMaxWork) return;
  throw DesignError(fmt::format(
      "{:.0f} coefficients and {:.0f} runs or more are too many to compute with; choose a smaller "
      "model, such as model: linear, or fewer factors or levels",
      columns, runs));
}

Design build_design(std::string_view name, const DesignRequest& request) {
  const DesignType& type = find_design_type(name);
  check_size(request.model.column_count(), request.model.column_count());
  Design design = type.build(request);
  if (!type.as_given) {
    snap_points(request, design);
    drop_excluded(request, design);
    note_hard_factors(request, design);
  }
  if (design.points.empty()) throw DesignError("the design has no runs that are allowed");
  if (design.points.size() * static_cast<std::size_t>(request.options.replicates) > kMaxRuns) {
    throw DesignError(fmt::format("{} runs, {} times, are more than {}", design.points.size(),
                                  request.options.replicates, kMaxRuns));
  }
  const auto runs = static_cast<double>(design.points.size());
  check_size(runs * request.options.replicates, request.model.column_count());
  replicate(design, request.options.replicates);
  number_replicates(design);
  return design;
}

std::vector<double> natural_settings(const std::vector<Factor>& factors,
                                     const Eigen::Ref<const Eigen::VectorXd>& coded) {
  std::vector<double> natural(factors.size());
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const double x = factors[f].to_natural(coded[f]);
    const double snapped = factors[f].snap(x);
    // Coding and decoding may lose the last digit of a usable setting; restore it.
    natural[f] = std::abs(factors[f].to_coded(snapped) - coded[f]) < 1e-12 ? snapped : x;
  }
  return natural;
}

Eigen::VectorXd coded_point(const std::vector<Factor>& factors,
                            const std::vector<double>& natural) {
  Eigen::VectorXd coded(factors.size());
  for (std::size_t f = 0; f < factors.size(); ++f) coded[f] = factors[f].to_coded(natural[f]);
  return coded;
}

}  // namespace doetune::doe
