#include "doe/optimal/variance_peaks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "doe/combinations.h"

namespace doetune::doe {
namespace {

constexpr double kMostGridPoints = 1 << 13;
constexpr int kRandomPoints = 1 << 10;  ///< where constraints or the number of factors ask for them
constexpr std::size_t kRandomSeeds = 32;
constexpr double kGridLoss = 0.75;  ///< of a peak, at least, is on the grid
constexpr double kSamePeak = 0.05;  ///< peaks are further apart
constexpr int kMostSweeps = 50;
constexpr int kHalvings = 8;

/// A point that climbs, one coordinate at a time.
class Climber {
 public:
  Climber(const SearchSpace& space, const Eigen::MatrixXd& v)
      : space_(space), v_(v), slots_(space.slot_count()) {}

  double climb(Eigen::Ref<Eigen::VectorXd> x, double tolerance) {
    place(x);
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      double longest = 0;
      for (int c = 0; c < space_.coordinate_count(); ++c) {
        const double before = x[c];
        improve(c, x);
        longest = std::max(longest, std::abs(x[c] - before));
      }
      if (longest < tolerance) break;
    }
    return value_;
  }

 private:
  void place(const Eigen::Ref<Eigen::VectorXd>& x) {
    for (const Coordinate& coordinate : space_.coordinates()) {
      const auto c = &coordinate - space_.coordinates().data();
      for (int a = 0; a < coordinate.features; ++a) {
        slots_[coordinate.first_slot + a] = coordinate.feature(a, x[c]);
      }
    }
    vf_ = v_ * space_.row(x).transpose();
    value_ = space_.row(x) * vf_;
  }

  /// The columns that a coordinate takes part in, each without its own feature.
  void select(const Coordinate& coordinate) {
    parts_.clear();
    for (int a = 0; a < coordinate.features; ++a) {
      for (std::size_t i = 0; i < coordinate.columns[a].size(); ++i) {
        double others = 1;
        for (const int slot : coordinate.others[a][i]) others *= slots_[slot];
        parts_.push_back({coordinate.columns[a][i], a, others, 0});
      }
    }
  }

  /// Change of d with the coordinate going to `to`; 2 vf'g + g'Vg for a change g of the row.
  double gain(const Coordinate& coordinate, double to) {
    double sum = 0;
    for (Part& part : parts_) {
      const double from = slots_[coordinate.first_slot + part.feature];
      part.change = (coordinate.feature(part.feature, to) - from) * part.others;
      sum += 2 * vf_[part.column] * part.change;
    }
    for (const Part& a : parts_) {
      for (const Part& b : parts_) sum += a.change * b.change * v_(a.column, b.column);
    }
    return sum;
  }

  bool try_move(int c, double to, Eigen::Ref<Eigen::VectorXd> x) {
    const Coordinate& coordinate = space_.coordinates()[c];
    const double more = gain(coordinate, to);
    if (!(more > 1e-14 * value_)) return false;
    const double from = std::exchange(x[c], to);
    if (!space_.is_box() && !space_.allows(x)) {
      x[c] = from;
      return false;
    }
    for (const Part& part : parts_) vf_.noalias() += part.change * v_.col(part.column);
    for (int a = 0; a < coordinate.features; ++a) {
      slots_[coordinate.first_slot + a] = coordinate.feature(a, to);
    }
    value_ += more;
    return true;
  }

  void improve(int c, Eigen::Ref<Eigen::VectorXd> x) {
    const Coordinate& coordinate = space_.coordinates()[c];
    if (coordinate.features == 0) return;
    select(coordinate);
    for (const double value : coordinate.values) {
      if (value != x[c]) try_move(c, value, x);
    }
    if (!coordinate.values.empty()) return;
    double step = newton_target(x[c]) - x[c];
    for (int i = 0; i < kHalvings && !try_move(c, x[c] + step, x); ++i) step /= 2;
  }

  double newton_target(double x) const {
    double slope = 0;
    double curvature = 0;
    for (const Part& part : parts_) {
      const double power = part.feature + 1;
      const double first = power * std::pow(x, part.feature) * part.others;
      slope += 2 * first * vf_[part.column];
      if (part.feature > 0) {
        curvature += 2 * power * part.feature * std::pow(x, part.feature - 1) * part.others *
                     vf_[part.column];
      }
      for (const Part& other : parts_) {
        curvature += 2 * first * (other.feature + 1) * std::pow(x, other.feature) * other.others *
                     v_(part.column, other.column);
      }
    }
    const double end = slope > 0 ? 1 : -1;
    return curvature < 0 ? std::clamp(x - slope / curvature, -1.0, 1.0) : end;
  }

  struct Part {
    int column;
    int feature;
    double others;  ///< product of the column's other features
    double change;
  };

  const SearchSpace& space_;
  const Eigen::MatrixXd& v_;
  Eigen::VectorXd slots_, vf_;
  std::vector<Part> parts_;
  double value_ = 0;
};

/// Up to `most` values of a coordinate, evenly from end to end; of a word all.
std::vector<double> grid_levels(const Coordinate& coordinate, int most) {
  const auto count = static_cast<int>(coordinate.values.size());
  if (coordinate.categorical || (count > 0 && count <= most)) return coordinate.values;
  std::vector<double> levels;
  for (int i = 0; i < most; ++i) {
    levels.push_back(count > 0 ? coordinate.values[i * (count - 1) / (most - 1)]
                               : -1 + 2.0 * i / (most - 1));
  }
  return levels;
}

/// The levels of the finest grid that is not too large; empty where none is.
std::vector<std::vector<double>> finest_levels(const SearchSpace& space) {
  for (const int most : {5, 3, 2}) {
    std::vector<std::vector<double>> levels;
    double points = 1;
    for (const Coordinate& coordinate : space.coordinates()) {
      levels.push_back(grid_levels(coordinate, most));
      points *= static_cast<double>(levels.back().size());
    }
    if (points <= kMostGridPoints) return levels;
  }
  return {};
}

}  // namespace

Eigen::MatrixXd row_derivatives(const SearchSpace& space, const Eigen::VectorXd& x) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(space.coordinate_count(), space.column_count());
  Eigen::VectorXd slots(space.slot_count());
  const auto& coordinates = space.coordinates();
  for (int c = 0; c < space.coordinate_count(); ++c) {
    for (int a = 0; a < coordinates[c].features; ++a) {
      slots[coordinates[c].first_slot + a] = coordinates[c].feature(a, x[c]);
    }
  }
  for (int c = 0; c < space.coordinate_count(); ++c) {
    if (coordinates[c].kind != Coordinate::Kind::kContinuous) continue;
    for (int a = 0; a < coordinates[c].features; ++a) {
      const double slope = (a + 1) * (a == 0 ? 1 : slots[coordinates[c].first_slot + a - 1]);
      for (std::size_t i = 0; i < coordinates[c].columns[a].size(); ++i) {
        double others = 1;
        for (const int slot : coordinates[c].others[a][i]) others *= slots[slot];
        result(c, coordinates[c].columns[a][i]) = slope * others;
      }
    }
  }
  return result;
}

PeakFinder::PeakFinder(const SearchSpace& space) : space_(space), grid_(std::make_shared<Grid>()) {
  const auto levels = finest_levels(space);
  const std::vector<Eigen::VectorXd> points =
      levels.empty() ? std::vector<Eigen::VectorXd>{} : combinations(levels);
  const auto on_grid = static_cast<Eigen::Index>(points.size());
  const int random_points = levels.empty() || !space.is_box() ? kRandomPoints : 0;
  grid_->extra = on_grid;
  grid_->at.resize(space.coordinate_count(), on_grid + random_points);
  for (Eigen::Index i = 0; i < on_grid; ++i) grid_->at.col(i) = points[i];
  RandomStream random(0, 0);
  for (Eigen::Index i = on_grid; i < grid_->at.cols(); ++i) {
    space.randomise(grid_->at.col(i), random);
  }
  grid_->rows.resize(space.column_count(), grid_->at.cols());
  for (Eigen::Index i = 0; i < grid_->at.cols(); ++i) {
    // A point that is not allowed has no variance: it exceeds no neighbour.
    grid_->rows.col(i).setZero();
    if (space.allows(grid_->at.col(i))) {
      grid_->rows.col(i) = space.row(grid_->at.col(i)).transpose();
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

std::vector<Eigen::Index> PeakFinder::seeds(const Eigen::VectorXd& values, double part) const {
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

Peaks PeakFinder::peaks(const Eigen::MatrixXd& v, double part, double tolerance) const {
  const Eigen::VectorXd values = (v * grid_->rows).cwiseProduct(grid_->rows).colwise().sum();
  Climber climber(space_, v);
  std::vector<std::pair<double, Eigen::VectorXd>> climbed;
  for (const Eigen::Index seed : seeds(values, part)) {
    Eigen::VectorXd x = grid_->at.col(seed);
    const double value = climber.climb(x, tolerance);
    climbed.emplace_back(value, std::move(x));
  }
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
  Peaks peaks{Eigen::MatrixXd(space_.coordinate_count(), kept.size()), Eigen::VectorXd(kept.size())};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    peaks.at.col(static_cast<Eigen::Index>(i)) = climbed[kept[i]].second;
    peaks.value[static_cast<Eigen::Index>(i)] = climbed[kept[i]].first;
  }
  return peaks;
}

}  // namespace doetune::doe
