// Sequentially sampled designs: Sobol' points and random points.
//
// Sobol' (1967), scrambled, with own direction numbers: doe/space_filling/sobol.h. Levels and
// integers get equal parts of the unit interval; points that are not allowed or already exist are
// skipped. So a longer design starts with the shorter one of the same seed, and existing runs of
// that seed are continued.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>
#include <map>

#include "doe/space_filling/request.h"
#include "doe/space_filling/settings.h"
#include "doe/space_filling/sobol.h"

namespace doetune::doe {
namespace {

constexpr int kMaxSampleTries = 2'000'000;

/// Settings of a point as integers, so that rounding in the conversion to coded units does not
/// matter.
std::vector<long> place_of(const Eigen::VectorXd& point) {
  std::vector<long> place;
  for (const double u : point) place.push_back(std::lround(u * 1e9));
  return place;
}

std::map<std::vector<long>, int> existing_places(const DesignRequest& request) {
  std::map<std::vector<long>, int> places;
  for (const auto& row : request.existing.rowwise()) {
    Eigen::VectorXd point = row.transpose();
    for (Eigen::Index f = 0; f < point.size(); ++f) {
      point[f] = unit_setting(request.factors[f], point[f]);
    }
    ++places[place_of(point)];
  }
  return places;
}

/// The first `runs` allowed points of a sequence that do not exist yet.
Design drawn_design(const DesignRequest& request, int runs,
                    const std::function<Eigen::VectorXd()>& draw) {
  std::map<std::vector<long>, int> there = existing_places(request);
  Eigen::MatrixXd points(runs, static_cast<Eigen::Index>(request.factors.size()));
  int tries = 0;
  for (int run = 0; run < runs;) {
    const Eigen::VectorXd point = draw();
    if (++tries > kMaxSampleTries) {
      throw DesignError(fmt::format(
          "the constraints allow {} of {} settings, too few for {} runs; widen them, or the "
          "factors' ranges",
          run, kMaxSampleTries, runs));
    }
    if (!allows_point(request, point)) continue;
    if (const auto place = there.find(place_of(point)); place != there.end() && place->second > 0) {
      --place->second;
      continue;
    }
    points.row(run++) = point.transpose();
  }
  return filling_design(request, points);
}

}  // namespace

Design sobol_design(const DesignRequest& request) {
  const int runs = points_to_place(request, "sobol");
  const auto k = static_cast<int>(request.factors.size());
  if (k > kSobolDimensions) {
    throw DesignError(
        fmt::format("sobol takes at most {} factors; space-filling takes more", kSobolDimensions));
  }
  const SobolSequence sequence(k, request.seed);
  std::uint64_t index = 0;
  Design design = drawn_design(request, runs, [&] {
    Eigen::VectorXd point = sequence.point(index++);
    for (int f = 0; f < k; ++f) point[f] = usable_setting(request.factors[f], point[f]);
    return point;
  });
  const auto all = static_cast<unsigned>(runs + request.existing.rows());
  if (!std::has_single_bit(all) && request.region.is_box()) {
    design.notes.push_back(fmt::format(
        "sobol points are most uniform if their number is a power of two: {} or {} runs",
        std::bit_floor(all), std::bit_ceil(all)));
  }
  return design;
}

Design random_design(const DesignRequest& request) {
  const int runs = points_to_place(request, "random");
  RandomStream random(request.seed, 0);
  return drawn_design(request, runs, [&] { return random_point(request.factors, random); });
}

}  // namespace doetune::doe
