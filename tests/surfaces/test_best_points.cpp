#include <algorithm>
#include <catch2/catch.hpp>

#include "base/random.h"
#include "doe/design.h"
#include "surfaces/fit.h"
#include "surfaces/optimum/best_points.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Goal;
using surfaces::GoalType;
using surfaces::Scored;

namespace {

surfaces::Fit random_quadratic(const std::vector<doe::Factor>& factors, std::uint64_t seed) {
  RandomStream random(seed, 0);
  Eigen::MatrixXd coded(40, 3);
  Eigen::VectorXd y(40);
  for (int i = 0; i < 40; ++i) {
    coded.row(i) << 2 * random.uniform() - 1, 2 * random.uniform() - 1,
        static_cast<double>(random.below(3));
    y[i] = 3 * random.uniform() + coded(i, 0) * coded(i, 1) - coded(i, 1) + coded(i, 2);
  }
  return surfaces::fit_least_squares(doe::Model::named("quadratic", factors), coded, y);
}

/// A direct implementation of the definition, one setting after another.
std::vector<Scored> by_definition(const surfaces::OptimumRequest& request,
                                  const surfaces::SettingsSearch& search, std::size_t most) {
  const surfaces::Scorer scorer(request);
  const surfaces::Block all = search.all_points();
  std::vector<Scored> points;
  for (Eigen::Index i = 0; i < all.size(); ++i) {
    points.push_back({all.settings(i), scorer.best_of(all.coded.row(i)).score});
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const Scored& a, const Scored& b) { return better(a.score, b.score); });
  std::vector<Scored> chosen;
  for (const Scored& point : points) {
    const bool is_new = std::all_of(chosen.begin(), chosen.end(), [&](const Scored& other) {
      return surfaces::differ(request.factors, point.settings, other.settings);
    });
    if (is_new && chosen.size() < most) chosen.push_back(point);
  }
  return chosen;
}

}  // namespace

TEST_CASE("The best points are those of the definition", "[surfaces][optimum]") {
  // 3,267 usable settings, i.e. several blocks; with limits only, probabilities decide.
  const std::vector<doe::Factor> factors{whole("a", -16, 16), whole("b", -16, 16),
                                         words("c", {"x", "y", "z"})};
  const surfaces::Fit first = random_quadratic(factors, 1), second = random_quadratic(factors, 2);
  const Goal ramp{GoalType::kMaximize, 0, 6}, limit{GoalType::kAtMost, 0, 4};
  const Goal floor{GoalType::kAtLeast, 1};
  const std::pair<Goal, Goal> goals[] = {{ramp, limit}, {ramp, ramp}, {floor, limit}};
  for (const auto& [of_first, of_second] : goals) {
    surfaces::OptimumRequest request;
    request.factors = factors;
    request.responses = {{"first", &first, of_first}, {"second", &second, of_second}};
    const surfaces::SettingsSearch search(factors, request.region, {}, 10'000);
    constexpr std::size_t kMax = 40;
    const std::vector<Scored> found = best_points(request, search, kMax);
    const std::vector<Scored> expected = by_definition(request, search, kMax);
    REQUIRE(found.size() == expected.size());
    CHECK(found.size() > 10);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      CHECK(found[i].settings == expected[i].settings);
    }
  }
}
