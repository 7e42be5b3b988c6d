#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "base/random.h"
#include "surfaces/fit.h"
#include "surfaces/optimum.h"
#include "surfaces/optimum/pareto.h"
#include "surfaces/optimum/robustness.h"
#include "surfaces/optimum/settings_search.h"
#include "tests/surfaces/published_fccd.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Goal;
using surfaces::GoalType;
using surfaces::Settings;

namespace {

/// An exactly known surface: value = f(coded), with the given error.
class Known final : public surfaces::Surface {
 public:
  Known(double (*f)(const Eigen::VectorXd&), double sigma) : f_(f), sigma_(sigma) {}
  surfaces::Prediction predict(const Eigen::Ref<const Eigen::VectorXd>& coded) const override {
    return {f_(coded), 0, sigma_, 100};
  }
  surfaces::MeanErrors mean_errors(const Eigen::MatrixXd& coded) const override {
    return {Eigen::MatrixXd(coded.rows(), 0), Eigen::MatrixXd(coded.rows(), 0)};
  }

 private:
  double (*f_)(const Eigen::VectorXd&);
  double sigma_;
};

double hill(const Eigen::VectorXd& c) {
  return 10 - std::pow(c[0] - 0.3, 2) - 2 * std::pow(c[1] + 0.5, 2);
}
double rising(const Eigen::VectorXd& c) { return c[0]; }
double falling(const Eigen::VectorXd& c) { return -c[1]; }
double plain(const Eigen::VectorXd& c) { return c[0] + 2 * c[1]; }
/// The maximum is at 0.377 in natural units of factors from 0 to 1.
double fine_hill(const Eigen::VectorXd& c) { return 5 - (c.array() + 0.246).square().sum(); }
/// A steep ridge along c0 = c1 that falls off slowly from its maximum at c0 = c1 = 0.6.
double ridge(const Eigen::VectorXd& c) {
  return -100 * std::pow(c[0] - c[1], 2) - std::pow(c[0] + c[1] - 1.2, 2) -
         c.tail(c.size() - 2).squaredNorm();
}
double many_hills(const Eigen::VectorXd& c) { return -(c.array() - 0.25).square().sum(); }

}  // namespace

TEST_CASE("The best usable setting is found, not one between settings", "[surfaces][optimum]") {
  const Known surface(hill, 0.1);
  surfaces::OptimumRequest request;
  request.factors = {whole("n", 0, 10), continuous("x", 0, 100)};
  request.responses = {{"y", &surface, Goal{GoalType::kMaximize, 0, 10}}};
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  // The top of the hill is at n = 6.5, x = 25; 6 and 7 are equally far from it.
  CHECK((optimum.best.settings[0] == 6 || optimum.best.settings[0] == 7));
  CHECK(optimum.best.settings[1] == 25);
  CHECK(optimum.global);
  CHECK(optimum.feasible);
  CHECK(optimum.at_bound.empty());
  CHECK(optimum.best.predictions[0].mean == Approx(10 - 0.01));
}

TEST_CASE("The settings to choose from may be listed", "[surfaces][optimum]") {
  const Known up(rising, 0.01);
  const Known top(hill, 0.1);
  surfaces::OptimumRequest request;
  request.factors = {continuous("a"), continuous("b")};
  request.responses = {{"y", &top, Goal{GoalType::kMaximize, 0, 10}}};
  request.only = {{-1, 1}, {0.51234, -0.4}, {0.9, -0.9}, {0.5, 0.25}};
  surfaces::Optimum optimum = surfaces::find_optimum(request);
  CHECK(optimum.best.settings == Settings{0.51234, -0.4});
  CHECK(optimum.global);  // of those
  REQUIRE(optimum.alternatives.size() == 3);
  CHECK(optimum.alternatives.front().settings == Settings{0.9, -0.9});
  request.responses.push_back({"cost", &up, Goal{GoalType::kAtMost, -1, 0.505}});
  optimum = surfaces::find_optimum(request);
  CHECK(optimum.feasible);
  CHECK(optimum.best.settings == Settings{0.5, 0.25});
  request.region = request.region.without({0.5, 0.25});
  CHECK(surfaces::find_optimum(request).best.settings == Settings{-1, 1});
}

TEST_CASE("No usable setting beats the optimum", "[surfaces][optimum]") {
  const Known surface(hill, 0.1);
  surfaces::OptimumRequest request;
  request.factors = {continuous("a"), continuous("b")};
  request.responses = {{"y", &surface, Goal{GoalType::kMaximize, 0, 10}}};
  const double best = surfaces::find_optimum(request).best.predictions[0].mean;
  RandomStream random(5, 0);
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
  CHECK(optimum.best.settings[0] == Approx(0.2));  // the centre of the wanted range
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
  CHECK_FALSE(optimum.best.predictions[0].goal_met);
  CHECK(*optimum.best.predictions[0].goal_met_probability < 0.01);
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
  CHECK(optimum.baseline->predictions[0].mean == Approx(10 - 0.09 - 0.5));
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
  for (const surfaces::ResponsePrediction& predicted : optimum.best.predictions)
    CHECK(predicted.goal_met);
}

TEST_CASE("Thirty factors are searched in bounded time", "[surfaces][optimum]") {
  const Known surface(many_hills, 0.01);
  surfaces::OptimumRequest request;
  for (int f = 0; f < 30; ++f) request.factors.push_back(continuous("x" + std::to_string(f)));
  request.responses = {{"y", &surface, Goal{GoalType::kMaximize, -100, 0}}};
  const surfaces::Interval range = surfaces::predicted_ranges(request).front();
  CHECK(range.high == Approx(0).margin(1e-12));
  CHECK(range.low == Approx(-30 * 1.25 * 1.25));
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  CHECK_FALSE(optimum.global);
  for (const double x : optimum.best.settings) CHECK(x == Approx(0.25));
  // A region with half of the settings is respected during the search.
  std::vector<std::string> names;
  for (const doe::Factor& factor : request.factors) names.push_back(factor.name);
  const auto constraint = std::make_shared<const doe::Expression>("x0 + x1 <= 0", names);
  request.region = doe::Region(request.factors, {constraint}, {});
  const Settings best = surfaces::find_optimum(request).best.settings;
  CHECK(best[0] + best[1] == Approx(0).margin(1e-12));
  CHECK(best[0] == Approx(0));
}

TEST_CASE("Natural ends of ramps do not hide the finest settings", "[surfaces][optimum]") {
  const Known surface(fine_hill, 0.01);
  surfaces::OptimumRequest request;
  for (const char* name : {"a", "b", "c", "d"}) request.factors.push_back(continuous(name, 0, 1));
  request.responses = {{"y", &surface, Goal{GoalType::kMaximize}}};
  const surfaces::Interval range = surfaces::predicted_ranges(request).front();
  CHECK(range.high == Approx(5 - 4 * 0.006 * 0.006).epsilon(1e-12));
  request.responses[0].goal = Goal{GoalType::kMaximize, range.low, range.high};
  surfaces::Optimum optimum = surfaces::find_optimum(request);
  CHECK_FALSE(optimum.global);
  for (const double x : optimum.best.settings) CHECK(x == Approx(0.38));
  // Nor does a ramp whose upper end is exceeded on a plateau of settings.
  request.responses[0].goal = Goal{GoalType::kMaximize, range.low, range.high - 0.5};
  optimum = surfaces::find_optimum(request);
  for (const double x : optimum.best.settings) CHECK(x == Approx(0.38));
}

TEST_CASE("A ridge across two factors does not stop the search", "[surfaces][optimum]") {
  const Known surface(ridge, 0.01);
  surfaces::OptimumRequest request;
  for (const char* name : {"a", "b", "c", "d"}) request.factors.push_back(continuous(name));
  request.responses = {{"y", &surface, Goal{GoalType::kMaximize, -500, 0}}};
  CHECK(surfaces::predicted_ranges(request).front().high == Approx(0).margin(1e-12));
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  CHECK(optimum.best.settings[0] == Approx(0.6));
  CHECK(optimum.best.settings[1] == Approx(0.6));
}

TEST_CASE("Where every prediction is worthless the nearest settings are best",
          "[surfaces][optimum]") {
  const Known top(hill, 0.1);
  surfaces::OptimumRequest request;
  request.factors = {continuous("a"), continuous("b")};
  request.responses = {{"y", &top, Goal{GoalType::kMaximize, 50, 60}}};
  surfaces::Optimum optimum = surfaces::find_optimum(request);
  CHECK(optimum.best.desirability == 0);
  CHECK(optimum.best.settings[0] == Approx(0.3));
  CHECK(optimum.best.settings[1] == Approx(-0.5));
  CHECK_FALSE(optimum.best.predictions[0].goal_met);
  // If one ramp is out of reach, the other ramp still decides the factors the first ignores.
  const Known first(rising, 0.1), second(falling, 0.1);
  request.responses = {{"dead", &first, Goal{GoalType::kMaximize, 10, 20}},
                       {"alive", &second, Goal{GoalType::kMaximize, -1, 1}}};
  optimum = surfaces::find_optimum(request);
  CHECK(optimum.best.settings[0] == 1);
  CHECK(optimum.best.settings[1] == -1);
}

TEST_CASE("Alternatives are found all over the settings", "[surfaces][optimum]") {
  // The 5,000 best of a million settings are all neighbours.
  const Known surface(plain, 0.1);
  surfaces::OptimumRequest request;
  request.factors = {whole("a", 0, 999), whole("b", 0, 999)};
  request.responses = {{"y", &surface, Goal{GoalType::kMaximize, -3, 3}}};
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  CHECK(optimum.global);
  REQUIRE(optimum.alternatives.size() == 3);
  double last = optimum.best.desirability;
  for (const surfaces::Candidate& other : optimum.alternatives) {
    CHECK(other.desirability <= last);
    last = other.desirability;
  }
  // A quarter of the range of a costs 0.5 in y, of b 1.
  CHECK(optimum.alternatives[0].predictions[0].mean == Approx(2.5).epsilon(0.01));
}

TEST_CASE("A baseline needs a setting of every factor", "[surfaces][optimum]") {
  std::vector<doe::Factor> factors{continuous("a"), continuous("b")};
  factors[0].baseline = 0.5;
  CHECK_FALSE(surfaces::baseline_of(factors));
  factors[1].baseline = -0.5;
  CHECK(surfaces::baseline_of(factors) == Settings{0.5, -0.5});
}

namespace {

/// A quadratic of three factors, one of them categorical, fitted to random responses.
surfaces::Fit noisy_fit(const std::vector<doe::Factor>& factors, surfaces::Transform transform,
                        std::uint64_t seed) {
  RandomStream random(seed, 0);
  Eigen::MatrixXd coded(30, 3);
  Eigen::VectorXd y(30);
  for (int i = 0; i < 30; ++i) {
    coded.row(i) << 2 * random.uniform() - 1, 2 * random.uniform() - 1,
        static_cast<double>(random.below(3));
    y[i] = 5 + random.uniform() + coded(i, 0) - coded(i, 1) * coded(i, 1) + coded(i, 2);
  }
  return surfaces::fit_least_squares(doe::Model::named("quadratic", factors), coded, y,
                                     {.transform = transform});
}

}  // namespace

TEST_CASE("Many points at once are predicted as one at a time", "[surfaces][optimum]") {
  const std::vector<doe::Factor> factors{continuous("a"), continuous("b"),
                                         words("c", {"x", "y", "z"})};
  for (const auto transform : {surfaces::Transform::kNone, surfaces::Transform::kLog}) {
    const surfaces::Fit fit = noisy_fit(factors, transform, 3);
    Eigen::MatrixXd points(4, 3);
    points << 0, 0, 0, 0.3, -0.8, 1, -1, 1, 2, 0.7, 0.1, 2;
    const Eigen::VectorXd responses = fit.responses(points);
    const std::vector<surfaces::Prediction> predictions = fit.predictions(points);
    for (int i = 0; i < 4; ++i) {
      const Eigen::VectorXd point = points.row(i);
      const surfaces::Prediction one = fit.predict(point);
      CHECK(responses[i] == Approx(one.response()).epsilon(1e-13));
      CHECK(predictions[i].mean == Approx(one.mean).epsilon(1e-13));
      CHECK(predictions[i].standard_error == Approx(one.standard_error).epsilon(1e-10));
      CHECK(predictions[i].df == one.df);
      // As a quadratic of the numeric factors it is the same surface.
      CHECK(fit.quadratic(point)->value(point) == Approx(one.mean).epsilon(1e-12));
    }
  }
}

TEST_CASE("The optimum is the same on any number of threads", "[surfaces][optimum]") {
  const std::vector<doe::Factor> factors{whole("a", -20, 20), whole("b", -20, 20),
                                         words("c", {"x", "y", "z"})};
  const surfaces::Fit first = noisy_fit(factors, surfaces::Transform::kNone, 1);
  const surfaces::Fit second = noisy_fit(factors, surfaces::Transform::kLog, 2);
  surfaces::OptimumRequest request;
  request.factors = factors;
  request.region = doe::Region(factors,
                               {std::make_shared<const doe::Expression>(
                                   "a + b < 18", std::vector<std::string>{"a", "b", "c"})},
                               {});
  // Limits that half of the settings meet: the probabilities decide.
  request.responses = {{"first", &first, Goal{GoalType::kAtLeast, 6}},
                       {"second", &second, Goal{GoalType::kWithin, 5, 8}}};
  request.threads = 1;
  const surfaces::Optimum one = surfaces::find_optimum(request);
  request.threads = 5;
  const surfaces::Optimum five = surfaces::find_optimum(request);
  CHECK(one.best.settings == five.best.settings);
  REQUIRE(one.alternatives.size() == five.alternatives.size());
  for (std::size_t i = 0; i < one.alternatives.size(); ++i) {
    CHECK(one.alternatives[i].settings == five.alternatives[i].settings);
  }
  // No usable settings are more likely to meet both.
  double most = 0;
  for (const double a : factors[0].usable_settings()) {
    for (const double b : factors[1].usable_settings()) {
      if (!request.region.allows({a, b, 0})) continue;
      for (const double level : {0.0, 1.0, 2.0}) {
        const Eigen::Vector3d point(a / 20, b / 20, level);
        most = std::max(most, *first.predict(point).probability_within(6, 1e9) *
                                  *second.predict(point).probability_within(5, 8));
      }
    }
  }
  CHECK(one.best.predictions[0].goal_met_probability.value() *
            one.best.predictions[1].goal_met_probability.value() ==
        Approx(most).epsilon(1e-8));
}

TEST_CASE("Settings that cannot run are a limit that is missed", "[surfaces][optimum]") {
  const Known up(rising, 0.1);
  surfaces::OptimumRequest request;
  request.factors = {continuous("a")};
  request.responses = {{"y", &up, Goal{GoalType::kMaximize, -1, 1}}};
  request.feasibility = [](const Eigen::MatrixXd& coded) -> Eigen::VectorXd {
    return (coded.col(0).array() > 0.405).select(Eigen::VectorXd::Constant(coded.rows(), 0.2), 0.9);
  };
  request.min_feasibility = 0.5;
  CHECK(surfaces::find_optimum(request).best.settings[0] == Approx(0.4));
  request.min_feasibility = 0.95;
  const surfaces::Optimum none = surfaces::find_optimum(request);
  CHECK_FALSE(none.feasible);
  CHECK(none.best.violation == Approx(0.05));
  CHECK(*none.best.feasibility == 0.9);
}

TEST_CASE("Limits are met with the confidence wanted", "[surfaces][optimum]") {
  // z = a with a standard deviation of 0.1 and 100 degrees of freedom, whose Student quantiles are
  // 1.290 (0.9) and 1.660 (0.95, both ends of 0.9).
  const Known up(rising, 0.1);
  surfaces::OptimumRequest request;
  request.factors = {continuous("a")};
  request.responses = {{"latency", &up, Goal{GoalType::kAtMost, -9, 0.5}},
                       {"rate", &up, Goal{GoalType::kMaximize, -1, 1}}};
  Goal& limit = *request.responses[0].goal;
  const auto best = [&] { return surfaces::find_optimum(request).best; };
  CHECK(best().settings[0] == Approx(0.5));
  limit.confidence = 0.9;
  CHECK(best().settings[0] == Approx(0.37));
  CHECK(best().doubt == 0);
  CHECK(*best().predictions[0].goal_met_probability >= 0.9);
  CHECK_FALSE(best().predictions[0].mean_met_probability);
  limit.of = doe::LimitOf::kMean;  // known exactly
  CHECK(best().settings[0] == Approx(0.5));
  CHECK(*best().predictions[0].mean_met_probability == 1);
  CHECK(*best().predictions[0].goal_met_probability == Approx(0.5));
  limit.of = doe::LimitOf::kRun;
  limit.type = GoalType::kWithin;
  CHECK(best().settings[0] == Approx(0.33));
  // Out of reach with this confidence: the surest of the settings whose mean meets the limit.
  limit.type = GoalType::kAtMost;
  limit.high = -0.9;
  const surfaces::Optimum surest = surfaces::find_optimum(request);
  CHECK(surest.feasible);
  CHECK(surest.best.settings[0] == Approx(-1));
  CHECK(surest.best.doubt == Approx(1.290 - 1).margin(0.001));
}

TEST_CASE("Nothing that is proposed is unlikely to complete", "[surfaces][optimum][pareto]") {
  const Known up(rising, 0.1), down(falling, 0.1);
  surfaces::OptimumRequest request;
  request.factors = {continuous("a"), continuous("b")};
  request.responses = {{"y", &up, Goal{GoalType::kMaximize, -1, 1}},
                       {"z", &down, Goal{GoalType::kMaximize, -1, 1}}};
  request.feasibility = [](const Eigen::MatrixXd& coded) -> Eigen::VectorXd {
    return (coded.col(0).array() > 0.205).select(Eigen::VectorXd::Zero(coded.rows()), 1);
  };
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  for (const surfaces::Candidate& candidate : optimum.alternatives) {
    CHECK(candidate.settings[0] <= 0.2);
  }
  for (const surfaces::ParetoPoint& point : surfaces::pareto_front(request).points) {
    CHECK(point.candidate.settings[0] <= 0.2);
  }
  // A ramp ends where the best settings that complete are.
  CHECK(surfaces::predicted_ranges(request)[0].high == Approx(0.2));
  CHECK(surfaces::robustness(request, {0.2, 0}).min_feasibility == 0.0);
  CHECK(surfaces::robustness(request, {0.1, 0}).min_feasibility == 1.0);  // a step is 0.1
}

double sum(const Eigen::VectorXd& c) { return c[0] + c[1]; }
double nearly_first(const Eigen::VectorXd& c) { return c[0] + 1e-4 * c[1]; }

TEST_CASE("Next to no gain in one goal does not pay for a loss in another",
          "[surfaces][optimum][pareto]") {
  // The settings of b differ in z by less than 0.1 % of its range, in y by far more.
  const Known y(sum, 0.1), z(nearly_first, 0.1);
  surfaces::OptimumRequest request;
  request.factors = {whole("a", 0, 5), whole("b", -1, 1)};
  request.responses = {{"y", &y, Goal{GoalType::kMaximize, -1, 1}},
                       {"z", &z, Goal{GoalType::kMinimize, -1, 1}}};
  const auto points = surfaces::pareto_front(request).points;
  CHECK(points.size() == 6);
  for (const surfaces::ParetoPoint& point : points) CHECK(point.candidate.settings[1] == 1);
}

TEST_CASE("Constraints that leave nothing are named", "[surfaces][optimum]") {
  const Known up(rising, 0.1);
  surfaces::OptimumRequest request;
  request.factors = {continuous("a"), continuous("b")};
  request.responses = {{"y", &up, Goal{GoalType::kMaximize, -1, 1}}};
  const std::vector<std::string> names{"a", "b"};
  request.region = doe::Region(request.factors,
                               {std::make_shared<const doe::Expression>("a > 0.9", names),
                                std::make_shared<const doe::Expression>("a + b > 3", names)},
                               {});
  CHECK_THROWS_WITH(surfaces::find_optimum(request),
                    Catch::Contains("'a > 0.9' excludes more than any other"));
}
