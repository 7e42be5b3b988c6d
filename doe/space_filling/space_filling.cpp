// Space-filling designs: points as far apart, as uniform, or as well spread in every projection as
// a search finds.
//
// Johnson, Moore & Ylvisaker (1990), maximin; Hickernell (1998), centred L2; Joseph, Gul & Ba
// (2015, 2020), MaxPro, for factors of any kind.
//
// Where every point is allowed the design is a Latin hypercube (McKay, Beckman & Conover 1979):
// maximin with levels over the full range, (i - 1) / (n - 1), since the best settings of a system
// are often at the ends; centred L2 with levels at the centres of n cells, where that discrepancy
// is smallest; MaxPro from there, with every setting then moved to its best position, which also
// moves the outer ones to the ends. Factors with few settings and categorical factors are balanced.
// With constraints or existing runs points are placed freely within the allowed region. The default
// is maximin for continuous factors without constraints or existing runs, otherwise MaxPro, which
// keeps good projections where no Latin hypercube is possible.
//
// Where there are enough runs for the model of the study, designs that do not determine it are only
// taken if all that the search found are such. Symmetric hypercubes are: with n runs, (n + 1) / 2
// even columns at most are independent.
#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include "doe/space_filling/maximin_latin.h"
#include "doe/space_filling/point_search.h"
#include "doe/space_filling/request.h"
#include "doe/space_filling/settings.h"

namespace doetune::doe {
namespace {

constexpr int kMaxRuns = 2000;     // including existing ones: the search stores a number for every
                                   // pair
constexpr double kMaxWork = 1e8;   // runs x columns^2 of a design that is checked for its rank
constexpr double kRounded = 1e-9;  // by which rounded settings change a distance
constexpr int kPoolPerRun = 20;    // allowed points from which a constrained search starts

bool all_continuous(const std::vector<Column>& columns) {
  return std::all_of(columns.begin(), columns.end(),
                     [](const Column& column) { return column.kind == ColumnKind::kContinuous; });
}

bool is_latin(const DesignRequest& request) {
  return request.region.is_box() && request.existing.rows() == 0;
}

SpaceFillingCriterion chosen_filling(const DesignRequest& request,
                                     const std::vector<Column>& columns) {
  const std::string& name = request.options.criterion;
  if (name == "maximin") return SpaceFillingCriterion::kMaximin;
  if (name == "centered-l2") return SpaceFillingCriterion::kCenteredL2;
  if (name == "maxpro") return SpaceFillingCriterion::kMaxPro;
  if (!name.empty()) {
    throw DesignError(fmt::format(
        "space-filling has no criterion '{}'; use maximin, centered-l2 or maxpro", name));
  }
  return is_latin(request) && all_continuous(columns) ? SpaceFillingCriterion::kMaximin
                                                      : SpaceFillingCriterion::kMaxPro;
}

SpaceFillingTask task_of(const DesignRequest& request, int runs) {
  SpaceFillingTask task;
  const auto k = static_cast<int>(request.factors.size());
  const auto existing = static_cast<int>(request.existing.rows());
  if (existing > 0) task.fixed = unit_cube(request.factors, request.existing).x;
  task.columns = unit_columns(request.factors, runs + existing);
  task.criterion = chosen_filling(request, task.columns);
  const Spread spread =
      task.criterion == SpaceFillingCriterion::kMaximin ? Spread::kEnds : Spread::kCells;
  task.settings.resize(runs, k);
  for (int c = 0; c < k; ++c) {
    const Factor& factor = request.factors[c];
    task.settings.col(c) = balanced_settings(factor, runs, spread);
    // On a log scale the small integers are too far apart for as many levels as runs.
    const std::set<double> distinct(task.settings.col(c).begin(), task.settings.col(c).end());
    const bool repeats = static_cast<int>(distinct.size()) < runs;
    Column& column = task.columns[c];
    if (column.kind == ColumnKind::kContinuous && repeats) {
      column = {ColumnKind::kDiscrete, static_cast<int>(setting_count(factor))};
    }
    if (column.kind == ColumnKind::kContinuous &&
        task.criterion == SpaceFillingCriterion::kMaxPro) {
      task.polished.push_back(c);
    }
  }
  task.free = !is_latin(request);
  task.usable = [&factors = request.factors](int c, double u, bool nearest) {
    return nearest ? unit_setting(factors[c], coded_setting(factors[c], u))
                   : usable_setting(factors[c], u);
  };
  return task;
}

/// Restricts the search to the region, and notes the fraction of it that is allowed.
void restrict_task(const DesignRequest& request, SpaceFillingTask& task,
                   std::vector<std::string>& notes) {
  const RegionSample sample =
      sample_region(request, kPoolPerRun * static_cast<int>(task.settings.rows()));
  notes.push_back(fmt::format("{:.2g} percent of {} random settings are allowed",
                              100.0 * sample.allowed / sample.tried, sample.tried));
  task.pool = sample.points;
  // Expressions store the values of their variables, so they are not thread-safe.
  task.allows = [&request, lock = std::make_shared<std::mutex>()](const Eigen::VectorXd& point) {
    const std::lock_guard guard(*lock);
    return allows_point(request, point);
  };
}

void note_repeats(Design& design) {
  std::set<std::vector<double>> distinct;
  std::size_t placed = 0;
  for (const DesignPoint& point : design.points) {
    if (point.type != PointType::kSpaceFilling) continue;
    ++placed;
    distinct.insert({point.coded.begin(), point.coded.end()});
  }
  if (distinct.size() == placed) return;
  design.notes.push_back(
      fmt::format("{} of {} points repeat others: there are too few distinct settings",
                  placed - distinct.size(), placed));
}

/// Whether points determine the model of the study, well enough for a useful fit.
bool determines(const DesignRequest& request, const Eigen::MatrixXd& points) {
  constexpr double kSmallestPivot = 1e-3;  // of the largest
  Eigen::MatrixXd coded(points.rows(), points.cols());
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    coded.row(i) = coded_of(request.factors, points.row(i).transpose()).transpose();
  }
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
  qr.setThreshold(kSmallestPivot);
  qr.compute(request.model.matrix(coded));
  return qr.rank() == request.model.column_count();
}

/// The points of a Latin hypercube.
Eigen::MatrixXd points_of(const SpaceFillingTask& task, const Eigen::MatrixXi& levels) {
  Eigen::MatrixXd points(levels.rows(), levels.cols());
  for (Eigen::Index c = 0; c < levels.cols(); ++c) {
    for (Eigen::Index i = 0; i < levels.rows(); ++i) {
      points(i, c) = task.settings(levels(i, c), c);
    }
  }
  return points;
}

Filled maximin_filled(const SpaceFillingTask& task, const SearchEffort& effort) {
  std::function<bool(const Eigen::MatrixXi&)> prefers;
  if (task.prefers) {
    prefers = [&](const Eigen::MatrixXi& levels) { return task.prefers(points_of(task, levels)); };
  }
  MaximinLatin found = maximin_latin(static_cast<int>(task.settings.rows()),
                                     static_cast<int>(task.settings.cols()), effort, prefers);
  Filled filled{points_of(task, found.levels), std::move(found.search)};
  // Integers and steps move points: what counts is how far apart they then are, and the bound is
  // one of Latin hypercubes.
  const double distance = min_distance({filled.points, task.columns});
  if (std::abs(distance - filled.search.best) > kRounded) filled.search.bound.reset();
  filled.search.best = distance;
  return filled;
}

}  // namespace

Design space_filling_design(const DesignRequest& request) {
  const int runs = points_to_place(request, "space-filling");
  if (runs + request.existing.rows() > kMaxRuns) {
    throw DesignError(
        fmt::format("space-filling takes at most {} runs; sobol takes any number", kMaxRuns));
  }
  std::vector<std::string> notes;
  SpaceFillingTask task = task_of(request, runs);
  if (!request.region.is_box()) restrict_task(request, task, notes);
  const double columns = request.model.column_count();
  const auto all_runs = static_cast<double>(runs + request.existing.rows());
  if (columns > 0 && all_runs >= columns && all_runs * columns * columns <= kMaxWork) {
    task.prefers = [&request](const Eigen::MatrixXd& points) {
      return determines(request, points);
    };
  }
  SearchEffort effort{request.options.starts, request.options.time_limit_s, request.seed,
                      request.threads};
  // For one factor there is only one Latin hypercube.
  if (is_latin(request) && request.factors.size() == 1) effort.starts = 1;
  const bool whole_numbers = is_latin(request) &&
                             task.criterion == SpaceFillingCriterion::kMaximin &&
                             all_continuous(task.columns);
  const Filled filled =
      whole_numbers && runs > 1 ? maximin_filled(task, effort) : fill_space(task, effort);
  Design design = filling_design(request, filled.points);
  design.notes = std::move(notes);
  if (runs > 1) design.search = filled.search;
  note_repeats(design);
  return design;
}

}  // namespace doetune::doe
