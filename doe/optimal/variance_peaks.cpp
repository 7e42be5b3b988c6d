#include "doe/optimal/variance_peaks.h"

#include <algorithm>
#include <utility>

#include "doe/combinations.h"
#include "doe/optimal/variance_climber.h"

namespace doetune::doe {
namespace {

constexpr double kMaxGridPoints = 1 << 14;
constexpr double kFewGridPoints = 1 << 9;
constexpr int kFine = 4;                ///< grid intervals per power of a numeric coordinate
constexpr int kUsable = 2;              ///< coarsest such grid that rarely misses a peak
constexpr int kRandomPoints = 1 << 10;  ///< added if the grid is coarse or the region has
                                        ///< constraints
constexpr std::size_t kRandomSeeds = 32;
constexpr double kGridLoss = 0.75;   ///< the grid attains at least this fraction of a peak
constexpr double kSamePeak = 0.05;   ///< distinct peaks are further apart
constexpr Eigen::Index kTile = 128;  ///< grid points whose variances are computed together

/// Grid values of a coordinate: evenly spaced over its range, `intervals` per power; all levels of
/// a categorical one.
std::vector<double> grid_levels(const Coordinate& coordinate, int intervals) {
  const auto count = static_cast<int>(coordinate.values.size());
  const int most = std::max(intervals * coordinate.features + 1, 2);
  if (coordinate.features == 0) return {count > 0 ? coordinate.values[0] : 0};
  if (coordinate.categorical || (count > 0 && count <= most)) return coordinate.values;
  std::vector<double> levels;
  for (int i = 0; i < most; ++i) {
    levels.push_back(count > 0 ? coordinate.values[i * (count - 1) / (most - 1)]
                               : -1 + 2.0 * i / (most - 1));
  }
  return levels;
}

struct GridLevels {
  std::vector<std::vector<double>> of_coordinates;  ///< empty: no grid
  bool usable = false;
};

/// The finest grid whose number of points is acceptable.
GridLevels finest_levels(const SearchSpace& space) {
  for (const int intervals : {kFine, kUsable, 1, 0}) {
    GridLevels levels{{}, intervals >= kUsable};
    double points = 1;
    for (const Coordinate& coordinate : space.coordinates()) {
      levels.of_coordinates.push_back(grid_levels(coordinate, intervals));
      points *= static_cast<double>(levels.of_coordinates.back().size());
    }
    if (points <= (intervals == kFine ? kFewGridPoints : kMaxGridPoints)) return levels;
  }
  return {};
}

}  // namespace

Eigen::MatrixXd row_derivatives(const SearchSpace& space, const Eigen::VectorXd& x) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(space.coordinate_count(), space.column_count());
  const Eigen::VectorXd slots = space.features(x);
  for (int c = 0; c < space.coordinate_count(); ++c) {
    const Coordinate& coordinate = space.coordinates()[c];
    if (coordinate.kind != Coordinate::Kind::kContinuous) continue;
    for (int a = 0; a < coordinate.features; ++a) {
      const double slope = (a + 1) * (a == 0 ? 1 : slots[coordinate.first_slot + a - 1]);
      for (std::size_t i = 0; i < coordinate.columns[a].size(); ++i) {
        double others = 1;
        for (const int slot : coordinate.others[a][i]) others *= slots[slot];
        result(c, coordinate.columns[a][i]) = slope * others;
      }
    }
  }
  return result;
}

PeakFinder::PeakFinder(const SearchSpace& space) : space_(space), grid_(std::make_shared<Grid>()) {
  const auto [levels, usable] = finest_levels(space);
  const std::vector<Eigen::VectorXd> points =
      levels.empty() ? std::vector<Eigen::VectorXd>{} : combinations(levels);
  const auto on_grid = static_cast<Eigen::Index>(points.size());
  grid_->fine = space.is_box() && usable;
  const int random_points = grid_->fine ? 0 : kRandomPoints;
  grid_->extra = on_grid;
  grid_->at.resize(space.coordinate_count(), on_grid + random_points);
  for (Eigen::Index i = 0; i < on_grid; ++i) grid_->at.col(i) = points[i];
  RandomStream random(0, 0);
  for (Eigen::Index i = on_grid; i < grid_->at.cols(); ++i) {
    space.randomise(grid_->at.col(i), random);
  }
  grid_->rows.resize(space.column_count(), grid_->at.cols());
  for (Eigen::Index i = 0; i < grid_->at.cols(); ++i) {
    // A point that is not allowed gets variance 0, so it exceeds no neighbour.
    grid_->rows.col(i).setZero();
    if (space.allows(grid_->at.col(i))) {
      grid_->rows.col(i) = space.row(grid_->at.col(i)).transpose().cast<float>();
    }
  }
  add_neighbours(levels);
}

void PeakFinder::add_neighbours(const std::vector<std::vector<double>>& levels) {
  grid_->neighbours.resize(grid_->extra);
  int stride = 1;
  for (std::size_t c = 0; c < levels.size(); ++c) {
    const auto count = static_cast<int>(levels[c].size());
    for (int i = 0; i < grid_->extra && !space_.coordinates()[c].categorical; ++i) {
      const int level = i / stride % count;
      if (level > 0) grid_->neighbours[i].push_back(i - stride);
      if (level + 1 < count) grid_->neighbours[i].push_back(i + stride);
    }
    stride *= count;
  }
}

PeakFinder PeakFinder::for_another_thread() const {
  PeakFinder copy = *this;
  copy.space_ = space_.for_another_thread();
  return copy;
}

/// d at the grid points, in single precision since the values are only compared.
Eigen::VectorXf PeakFinder::grid_values(const Eigen::MatrixXd& v) const {
  const Eigen::MatrixXf narrow = v.cast<float>();
  Eigen::VectorXf values(grid_->rows.cols());
  Eigen::MatrixXf product(v.rows(), kTile);
  for (Eigen::Index i = 0; i < values.size(); i += kTile) {
    const Eigen::Index count = std::min(kTile, values.size() - i);
    const auto rows = grid_->rows.middleCols(i, count);
    product.leftCols(count).noalias() = narrow * rows;
    values.segment(i, count) = product.leftCols(count).cwiseProduct(rows).colwise().sum();
  }
  return values;
}

std::vector<Eigen::Index> PeakFinder::seeds(const Eigen::VectorXf& values, double part) const {
  const double least = kGridLoss * part * values.maxCoeff();
  std::vector<Eigen::Index> found, extra;
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    if (values[i] < least) continue;
    if (i >= grid_->extra) {
      extra.push_back(i);
    } else if (std::ranges::none_of(grid_->neighbours[i],
                                    [&](int j) { return values[j] > values[i]; })) {
      found.push_back(i);
    }
  }
  const std::size_t most = std::min(kRandomSeeds, extra.size());
  std::partial_sort(extra.begin(), extra.begin() + static_cast<std::ptrdiff_t>(most), extra.end(),
                    [&](Eigen::Index a, Eigen::Index b) { return values[a] > values[b]; });
  found.insert(found.end(), extra.begin(), extra.begin() + static_cast<std::ptrdiff_t>(most));
  return found;
}

Peaks PeakFinder::peaks(const Eigen::MatrixXd& v, double part, double tolerance,
                        const Eigen::MatrixXd& earlier) const {
  const Eigen::VectorXf values = grid_values(v);
  VarianceClimber climber(space_, v);
  std::vector<std::pair<double, Eigen::VectorXd>> climbed;
  const auto climb_from = [&](Eigen::VectorXd x) {
    const double value = climber.climb(x, tolerance);
    climbed.emplace_back(value, std::move(x));
  };
  for (const Eigen::Index seed : seeds(values, part)) climb_from(grid_->at.col(seed));
  for (Eigen::Index j = 0; !grid_->fine && j < earlier.cols(); ++j) climb_from(earlier.col(j));
  std::ranges::stable_sort(climbed, std::ranges::greater{},
                           [](const auto& peak) { return peak.first; });
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < climbed.size() && climbed[i].first >= part * climbed[0].first; ++i) {
    if (std::ranges::none_of(kept, [&](std::size_t j) {
          return (climbed[j].second - climbed[i].second).lpNorm<Eigen::Infinity>() < kSamePeak;
        })) {
      kept.push_back(i);
    }
  }
  Peaks peaks{Eigen::MatrixXd(space_.coordinate_count(), kept.size()),
              Eigen::VectorXd(kept.size())};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    peaks.at.col(static_cast<Eigen::Index>(i)) = climbed[kept[i]].second;
    peaks.value[static_cast<Eigen::Index>(i)] = climbed[kept[i]].first;
  }
  return peaks;
}

}  // namespace doetune::doe
