#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "base/parallel.h"
#include "doe/space_filling/latin_distances.h"
#include "doe/space_filling/maximin_latin.h"
#include "doe/space_filling/point_search.h"

using namespace doetune;
using doe::SpaceFillingCriterion;

namespace {

/// The largest minimum distance of all n x k Latin hypercubes, with the first column sorted.
int exhaustive_maximin(int n, int k) {
  std::vector<Eigen::VectorXi> permutations;
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  do {
    permutations.push_back(Eigen::VectorXi::Map(order.data(), n));
  } while (std::next_permutation(order.begin(), order.end()));
  Eigen::MatrixXi levels(n, k);
  levels.col(0) = permutations.front();
  int best = 0;
  std::vector<std::size_t> choice(k, 0);
  for (;;) {
    for (int c = 1; c < k; ++c) levels.col(c) = permutations[choice[c]];
    best = std::max(best, doe::LatinDistances(levels).min_distance());
    int c = 1;
    while (c < k && ++choice[c] == permutations.size()) choice[c++] = 0;
    if (c == k) return best;
  }
}

doe::SearchEffort effort(int starts, int threads = 0) { return {starts, {}, 5, threads}; }

doe::SpaceFillingTask latin_task(SpaceFillingCriterion criterion, int n, int k) {
  doe::SpaceFillingTask task;
  task.criterion = criterion;
  task.columns.resize(k);
  const Eigen::VectorXd cells = (Eigen::VectorXd::LinSpaced(n, 0, n - 1).array() + 0.5) / n;
  task.settings = cells.replicate(1, k);
  return task;
}

}  // namespace

TEST_CASE("Jobs in parallel all run, and the first failure is thrown", "[doe][parallel]") {
  for (const int threads : {0, 1, 2, 5}) {
    std::vector<int> done(40, 0);
    parallel_for(40, threads, [&](int i) { done[i] = i + 1; });
    for (int i = 0; i < 40; ++i) CHECK(done[i] == i + 1);
    CHECK_THROWS_WITH(parallel_for(9, threads,
                                   [](int i) {
                                     if (i > 2) throw std::runtime_error(std::to_string(i));
                                   }),
                      "3");
  }
  parallel_for(0, 0, [](int) { FAIL("nothing to do"); });
}

TEST_CASE("Maximin search reaches the optimum that enumeration finds", "[doe][filling]") {
  for (const auto& [n, k] : {std::pair{4, 2}, {5, 2}, {6, 2}, {4, 3}, {5, 3}}) {
    INFO(n << " runs, " << k << " factors");
    CHECK(doe::maximin_latin(n, k, effort(2)).squared_distance == exhaustive_maximin(n, k));
  }
}

TEST_CASE("Maximin search reaches the best known distances", "[doe][filling]") {
  // spacefillingdesigns.nl, squared distances on 1 .. n; optimality for k = 2 is proven there.
  CHECK(doe::maximin_latin(10, 2, effort(2)).squared_distance == 10);
  CHECK(doe::maximin_latin(16, 3, effort(8)).squared_distance >= 50);
  CHECK(doe::maximin_latin(12, 3, effort(8)).squared_distance >= 36);
  CHECK(doe::maximin_latin(25, 3, effort(1)).squared_distance >= 91);
}

TEST_CASE("A maximin search reports itself", "[doe][filling]") {
  const doe::MaximinLatin found = doe::maximin_latin(7, 2, effort(8));
  CHECK(doe::LatinDistances(found.levels).min_distance() == found.squared_distance);
  CHECK(found.search.best == Approx(std::sqrt(found.squared_distance) / 6));
  REQUIRE(found.search.bound);
  CHECK(*found.search.bound == Approx(std::sqrt(18) / 6));  // floor(7 * 8 * 2 / 6)
  CHECK(found.search.starts == 8);
  CHECK(found.search.best_found >= 1);
  CHECK_FALSE(found.search.stopped_by_time);
  const doe::MaximinLatin hurried = doe::maximin_latin(60, 8, {64, 0.0, 5, 0});
  CHECK(hurried.search.stopped_by_time);
  CHECK(hurried.squared_distance > 0);
}

TEST_CASE("Searches find the same design on any number of threads", "[doe][filling]") {
  const Eigen::MatrixXi one = doe::maximin_latin(9, 3, effort(9, 1)).levels;
  for (const int threads : {2, 3}) {
    CHECK(doe::maximin_latin(9, 3, effort(9, threads)).levels == one);
  }
  for (const SpaceFillingCriterion criterion :
       {SpaceFillingCriterion::kMaximin, SpaceFillingCriterion::kMaxPro,
        SpaceFillingCriterion::kCenteredL2}) {
    const doe::SpaceFillingTask task = latin_task(criterion, 8, 3);
    const Eigen::MatrixXd points = doe::fill_space(task, effort(3, 1)).points;
    CHECK(doe::fill_space(task, effort(3, 2)).points == points);
    CHECK(doe::fill_space(task, effort(3, 3)).points == points);
  }
}

TEST_CASE("Centred L2 and MaxPro searches reach the best known values", "[doe][filling]") {
  // Cell-centred Latin hypercubes; best known CD2 from the R package UniDOE, MaxPro from the R
  // package MaxPro.
  const doe::Filled uniform =
      doe::fill_space(latin_task(SpaceFillingCriterion::kCenteredL2, 10, 2), effort(4));
  CHECK(doe::centered_l2(uniform.points) < 0.054345);
  CHECK(uniform.search.best == Approx(doe::centered_l2(uniform.points)));
  const doe::SpaceFillingTask task = latin_task(SpaceFillingCriterion::kMaxPro, 10, 2);
  const doe::Filled projected = doe::fill_space(task, effort(4));
  CHECK(doe::maxpro({projected.points, task.columns}) < 16.84985);
  CHECK(projected.search.best == Approx(doe::maxpro({projected.points, task.columns})));
}
