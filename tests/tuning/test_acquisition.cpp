// The acquisition function and the models behind it.
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/tuning/systems.h"
#include "tuning/acquisition.h"

using namespace doetune;
using namespace doetune::tuning;

namespace {

/// Seven runs of the hill, none at its top.
std::vector<Observation> runs_of_hill() {
  std::vector<Observation> runs;
  for (const Settings& at : {Settings{0, 0}, {10, 0}, {0, 10}, {10, 10}, {5, 5}, {3, 1}, {8, 6}})
    runs.push_back({at, true, {{"y", 150 + hill(at)}}});
  return runs;
}

double normal_density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * M_PI); }

}  // namespace

TEST_CASE("the expected improvement of one goal is its integral, far into the tail") {
  for (const doe::GoalType goal : {doe::GoalType::kMaximize, doe::GoalType::kMinimize}) {
    for (const auto transform : {surfaces::Transform::kNone, surfaces::Transform::kLog}) {
      Problem problem = plane_problem();
      problem.objectives[0] = objective("y", goal);
      problem.objectives[0].transform = transform;
      const auto runs = runs_of_hill();
      const SurrogateModels models(problem, runs);
      const Utility utility(problem, runs);
      Eigen::MatrixXd coded(3, 2);
      coded << 0.4, -0.4, -0.9, -0.9, 0.1, 0;
      const Acquisition best(problem, models, utility, models.completed(), Draws::kLikeliest);
      const auto incumbent = best.incumbent();
      REQUIRE(incumbent);
      const Acquisition at(problem, models, utility, coded, Draws::kLikeliest);
      const Eigen::VectorXd worth = at.worth(incumbent, 1);
      const Means means = models.means(0, coded, Draws::kLikeliest);
      const double zero = utility.of(std::vector<double>{0});
      const double slope = utility.of(std::vector<double>{1}) - zero;
      const double best_response = (incumbent->utility[0] - zero) / slope;
      const bool is_log = transform == surfaces::Transform::kLog;
      const double best_z = is_log ? std::log(best_response) : best_response;
      const double unit = is_log ? best_response : 1;  // of the response, to first order
      for (Eigen::Index i = 0; i < coded.rows(); ++i) {
        const auto gain = [&](double z) {
          const double predicted = means.mean(i, 0) + z * means.learnt(i, 0);
          return std::max(0.0, slope * unit * (predicted - best_z)) * normal_density(z);
        };
        double integral = 0;
        for (int piece = -1200; piece < 1200; ++piece)
          integral += boost::math::quadrature::gauss_kronrod<double, 15>::integrate(
              gain, piece / 100.0, (piece + 1) / 100.0, 0);
        CAPTURE(i, is_log, slope);
        CHECK(worth[i] == Approx(integral).epsilon(1e-4).margin(1e-14));
        CHECK(worth[i] > 0);
      }
    }
  }
}

TEST_CASE("a run under way says nothing of what completes, and is no best run") {
  Problem problem = plane_problem();
  problem.infeasible_when.assign(2, doe::InfeasibleWhen::kHigher);
  std::vector<Observation> runs = runs_of_hill();
  for (Observation& run : runs)
    if (run.settings[0] + run.settings[1] > 9) run = {run.settings, false, {}};
  Eigen::MatrixXd coded(3, 2);
  coded << 0.6, 0.4, 0.2, 0.2, -0.5, 0;
  const SurrogateModels before(problem, runs);
  runs.push_back({{9, 7}, true, {{"y", 240}}});
  runs.back().pending = true;
  const SurrogateModels after(problem, runs);
  CHECK(after.completion(coded) == before.completion(coded));
  CHECK(after.completed() == before.completed());
}
