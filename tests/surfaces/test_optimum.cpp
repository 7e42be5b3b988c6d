#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "doe/random.h"
#include "surfaces/fit.h"
#include "surfaces/optimum.h"
#include "tests/surfaces/published_fccd.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Goal;
using surfaces::GoalType;

namespace {

/// A surface known exactly: value = f(coded), with the given error.
class Known final : public surfaces::Surface {
 public:
  Known(double (*f)(const Eigen::VectorXd&), double sigma) : f_(f), sigma_(sigma) {}
  surfaces::Prediction predict(const Eigen::Ref<const Eigen::VectorXd>& coded) const override {
    return {f_(coded), 0, sigma_, 100};
  }

 private:
  double (*f_)(const Eigen::VectorXd&);
  double sigma_;
};

double hill(const Eigen::VectorXd& c) {
  return 10 - std::pow(c[0] - 0.3, 2) - 2 * std::pow(c[1] + 0.5, 2);
}
double rising(const Eigen::VectorXd& c) { return c[0]; }
double many_hills(const Eigen::VectorXd& c) { return -(c.array() - 0.25).square().sum(); }

}  // namespace

TEST_CASE("The best usable setting is found, not one between settings", "[surfaces][optimum]") {
  const Known surface(hill, 0.1);
  surfaces::OptimumRequest request;
  request.factors = {whole("n", 0, 10), continuous("x", 0, 100)};
  request.responses = {{"y", &surface, Goal{GoalType::kMaximize, 0, 10}}};
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  // The hill's top lies at n = 6.5, x = 25; both 6 and 7 are as far from it.
  CHECK((optimum.best.settings[0] == 6 || optimum.best.settings[0] == 7));
  CHECK(optimum.best.settings[1] == 25);
  CHECK(optimum.global);
  CHECK(optimum.feasible);
  CHECK(optimum.at_bound.empty());
  CHECK(optimum.best.outlooks[0].mean == Approx(10 - 0.01));
}

TEST_CASE("No usable setting beats the optimum", "[surfaces][optimum]") {
  const Known surface(hill, 0.1);
  surfaces::OptimumRequest request;
  request.factors = {continuous("a"), continuous("b")};
  request.responses = {{"y", &surface, Goal{GoalType::kMaximize, 0, 10}}};
  const double best = surfaces::find_optimum(request).best.outlooks[0].mean;
  doe::RandomStream random(5, 0);
  for (int i = 0; i < 100000; ++i) {
    Eigen::VectorXd point(2);
    for (int f = 0; f < 2; ++f) {
      point[f] = request.factors[f].snap(2 * random.uniform() - 1);
    }
    REQUIRE(surface.predict(point).mean <= best);
  }
}

TEST_CASE("Limits come before ramps, and constraints before both", "[surfaces][optimum]") {
  const Known up(rising, 0.01);
  const Known top(hill, 0.01);
  surfaces::OptimumRequest request;
  request.factors = {continuous("a"), continuous("b")};
  request.responses = {{"cost", &up, Goal{GoalType::kAtMost, -1, -0.2}},
                       {"y", &top, Goal{GoalType::kMaximize, 0, 10}}};
  surfaces::Optimum optimum = surfaces::find_optimum(request);
  CHECK(optimum.feasible);
  CHECK(optimum.best.settings[0] == Approx(-0.2));
  CHECK(optimum.best.settings[1] == Approx(-0.5));
  const auto constraint =
      std::make_shared<const doe::Expression>("a <= -0.6", std::vector<std::string>{"a", "b"});
  request.region = doe::Region(request.factors, {constraint}, {});
  optimum = surfaces::find_optimum(request);
  CHECK(optimum.best.settings[0] == Approx(-0.6));
  request.region = doe::Region(
      request.factors,
      {std::make_shared<const doe::Expression>("a > 2", std::vector<std::string>{"a", "b"})}, {});
  CHECK_THROWS_WITH(surfaces::find_optimum(request), Catch::Contains("no usable settings"));
}

TEST_CASE("Where every goal is met the likeliest settings win", "[surfaces][optimum]") {
  const Known up(rising, 0.2);
  surfaces::OptimumRequest request;
  request.factors = {continuous("a")};
  request.responses = {{"y", &up, Goal{GoalType::kWithin, -0.5, 0.9}}};
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  CHECK(optimum.best.settings[0] == Approx(0.2));  // the middle of the wanted range
  CHECK(*optimum.best.all_goals_met_probability > 0.99);
}

TEST_CASE("Goals that cannot be met give the nearest settings and say so", "[surfaces][optimum]") {
  const Known up(rising, 0.2);
  surfaces::OptimumRequest request;
  request.factors = {continuous("a")};
  request.responses = {{"y", &up, Goal{GoalType::kAtLeast, 3}}};
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  CHECK_FALSE(optimum.feasible);
  CHECK(optimum.best.settings[0] == 1);
  CHECK(optimum.at_bound == std::vector<std::string>{"a"});
  CHECK_FALSE(optimum.best.outlooks[0].goal_met);
  CHECK(*optimum.best.outlooks[0].goal_met_probability < 0.01);
}

TEST_CASE("More settings than can be enumerated are searched and said to be",
          "[surfaces][optimum]") {
  const Known surface(many_hills, 0.01);
  surfaces::OptimumRequest request;
  for (int f = 0; f < 6; ++f) request.factors.push_back(continuous(std::string(1, char('a' + f))));
  request.responses = {{"y", &surface, Goal{GoalType::kMaximize, -10, 0}}};
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  CHECK_FALSE(optimum.global);
  for (const double x : optimum.best.settings) CHECK(x == Approx(0.25));
}

TEST_CASE("Held factors stay, alternatives differ, the baseline is predicted",
          "[surfaces][optimum]") {
  const Known surface(hill, 0.1);
  surfaces::OptimumRequest request;
  request.factors = {continuous("a"), continuous("b")};
  request.factors[0].baseline = 0;
  request.factors[1].baseline = 0;
  request.responses = {{"y", &surface, Goal{GoalType::kMaximize, 0, 10}}};
  request.hold = {{"a", -1}};
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  CHECK(optimum.best.settings[0] == -1);
  CHECK(optimum.best.settings[1] == Approx(-0.5));
  REQUIRE(optimum.baseline);
  CHECK(optimum.baseline->outlooks[0].mean == Approx(10 - 0.09 - 0.5));
  for (const surfaces::Candidate& other : optimum.alternatives) {
    CHECK(std::abs(other.settings[1] - optimum.best.settings[1]) >= 0.5);
    CHECK(other.desirability <= optimum.best.desirability);
  }
}

TEST_CASE("The published study's goals are met by its own surfaces", "[surfaces][optimum]") {
  // GTC 2019: 1800 <= throughput <= 2500 images/s, 0.5 <= processing time <= 1.0 s.
  const doe::Model model = doe::Model::named("quadratic", published_factors());
  const surfaces::Fit throughput =
      surfaces::fit_least_squares(model, published_points(), published_response(3));
  const surfaces::Fit time =
      surfaces::fit_least_squares(model, published_points(), published_response(4));
  surfaces::OptimumRequest request;
  request.factors = published_factors();
  request.responses = {{"throughput", &throughput, Goal{GoalType::kWithin, 1800, 2500}},
                       {"processing_time", &time, Goal{GoalType::kWithin, 0.5, 1.0}}};
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  CHECK(optimum.feasible);
  CHECK(optimum.global);
  for (const surfaces::Outlook& outlook : optimum.best.outlooks) CHECK(outlook.goal_met);
}
