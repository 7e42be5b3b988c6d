#include "tuning/hypervolume.h"

#include <algorithm>
#include <functional>

namespace doetune::tuning {
namespace {

using Point = std::vector<double>;
using Points = std::vector<Point>;

/// Whether a is at least as good as b in every goal.
bool covers(const Point& a, const Point& b) {
  return std::equal(a.begin(), a.end(), b.begin(), std::greater_equal<>());
}

/// Those that no other covers, each once, in descending order.
Points non_dominated(Points points) {
  std::erase_if(points, [](const Point& point) {
    return std::any_of(point.begin(), point.end(), [](double value) { return !(value > 0); });
  });
  std::sort(points.begin(), points.end(), std::greater<>());
  Points kept;
  for (Point& point : points) {
    const bool covered = std::any_of(kept.begin(), kept.end(),
                                     [&](const Point& other) { return covers(other, point); });
    if (!covered) kept.push_back(std::move(point));
  }
  return kept;
}

double inclusive(const Point& point) {
  double product = 1;
  for (const double value : point) product *= value;
  return product;
}

double volume_of(const Points& front);

/// The volume of a point less what the points from `first` on cover of it.
double exclusive(const Point& point, Points::const_iterator first, Points::const_iterator last) {
  Points limited;
  for (; first != last; ++first) {
    Point both(point.size());
    std::transform(point.begin(), point.end(), first->begin(), both.begin(),
                   [](double a, double b) { return std::min(a, b); });
    limited.push_back(std::move(both));
  }
  return inclusive(point) - volume_of(non_dominated(std::move(limited)));
}

/// Of points in descending order of which none covers another.
double volume_of(const Points& front) {
  double volume = 0;
  if (front.empty()) return volume;
  if (front.front().size() <= 2) {
    double height = 0;  // reached by the points before, which are better in the first goal
    for (const Point& point : front) {
      volume += point.front() * (point.size() == 1 ? 1 : point.back() - height);
      height = point.back();
    }
    return volume;
  }
  for (auto point = front.begin(); point != front.end(); ++point) {
    volume += exclusive(*point, point + 1, front.end());
  }
  return volume;
}

}  // namespace

Front::Front(const std::vector<std::vector<double>>& points)
    : points_(non_dominated(points)), volume_(volume_of(points_)) {}

double Front::added_by(const std::vector<double>& point) const {
  for (const double value : point) {
    if (!(value > 0)) return 0;
  }
  for (const Point& other : points_) {
    if (covers(other, point)) return 0;
  }
  return exclusive(point, points_.begin(), points_.end());
}

}  // namespace doetune::tuning
