#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/random.h"
#include "surfaces/distributions.h"
#include "surfaces/fit.h"
#include "surfaces/optimum/joint_errors.h"
#include "surfaces/optimum/normal_box.h"
#include "tests/doe/factors.h"
#include "tests/surfaces/random_normal.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Goal;
using surfaces::GoalType;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Two responses of the same runs whose errors have the given correlation.
struct TwoResponses {
  surfaces::Fit first, second;

  TwoResponses(double correlation, int n, std::uint64_t seed) {
    RandomStream random(seed, 0);
    Eigen::MatrixXd coded(n, 2);
    Eigen::VectorXd a(n), b(n);
    for (int i = 0; i < n; ++i) {
      coded.row(i) << 2 * random.uniform() - 1, 2 * random.uniform() - 1;
      const double e = random_normal(random), u = random_normal(random);
      a[i] = 10 + coded(i, 0) + e;
      b[i] = 5 - coded(i, 1) + correlation * e + std::sqrt(1 - correlation * correlation) * u;
    }
    const doe::Model model = doe::Model::named("linear", unit_factors(2));
    first = surfaces::fit_least_squares(model, coded, a);
    second = surfaces::fit_least_squares(model, coded, b);
  }

  std::vector<surfaces::GoalResponse> responses(Goal goal_a, Goal goal_b) const {
    return {{"a", &first, goal_a}, {"b", &second, goal_b}};
  }
};

/// A fit seen only as a Surface, so that its errors are drawn run by run.
struct ByRuns final : surfaces::Surface {
  explicit ByRuns(const surfaces::Fit& of) : fit(of) {}

  surfaces::Prediction predict(const Eigen::Ref<const Eigen::VectorXd>& coded) const override {
    return fit.predict(coded);
  }
  surfaces::MeanErrors mean_errors(const Eigen::MatrixXd& coded) const override {
    return fit.mean_errors(coded);
  }
  Eigen::VectorXd run_residuals() const override { return fit.run_residuals(); }

  const surfaces::Fit& fit;
};

/// The fraction of draws in which the first point has less of the first response than the second
/// point and more of the second response than the third.
double fraction_of_first(const std::vector<surfaces::GoalResponse>& responses,
                         const Eigen::MatrixXd& at, int draws) {
  const surfaces::JointErrors joint(responses);
  const std::vector<Eigen::MatrixXd> drawn = surfaces::MeanDraws(joint, at).draw(draws, 0);
  int best = 0;
  for (int d = 0; d < draws; ++d) {
    best += drawn[0](0, d) < drawn[0](1, d) && drawn[1](0, d) > drawn[1](2, d);
  }
  return static_cast<double>(best) / draws;
}

}  // namespace

TEST_CASE("The probability of a normal box agrees with closed forms", "[surfaces][joint]") {
  // P(z1 > 0, z2 > 0) = 1/4 + asin(rho) / (2 pi); for three 1/8 + (sum of asin) / (4 pi).
  // Source: Stuart & Ord, Kendall's Advanced Theory of Statistics 1, 15.10.
  const Eigen::VectorXd zero2 = Eigen::VectorXd::Zero(2), zero3 = Eigen::VectorXd::Zero(3);
  const Eigen::VectorXd up2 = Eigen::VectorXd::Constant(2, kInfinity);
  const Eigen::VectorXd up3 = Eigen::VectorXd::Constant(3, kInfinity);
  for (const double rho : {-0.9, -0.4, 0.2, 0.7, 0.99}) {
    Eigen::Matrix2d two;
    two << 1, rho, rho, 1;
    CHECK(surfaces::normal_box_probability(two, zero2, up2) ==
          Approx(0.25 + std::asin(rho) / (2 * std::numbers::pi)).margin(2e-4));
  }
  Eigen::Matrix3d three;
  three << 1, 0.5, 0.3, 0.5, 1, -0.2, 0.3, -0.2, 1;
  CHECK(surfaces::normal_box_probability(three, zero3, up3) ==
        Approx(0.125 + (std::asin(0.5) + std::asin(0.3) + std::asin(-0.2)) / (4 * std::numbers::pi))
            .margin(2e-4));
  // Ten variables with pairwise correlation 1/2: P(all > 0) = 1/11.
  const Eigen::MatrixXd ten =
      (Eigen::MatrixXd::Identity(10, 10) + Eigen::MatrixXd::Ones(10, 10)) / 2;
  CHECK(surfaces::normal_box_probability(ten, Eigen::VectorXd::Zero(10),
                                         Eigen::VectorXd::Constant(10, kInfinity)) ==
        Approx(1.0 / 11).margin(1e-3));
  // One variable twice, and one with its negative.
  Eigen::Matrix2d same = Eigen::Matrix2d::Ones(), opposite = 2 * Eigen::Matrix2d::Identity() - same;
  const Eigen::Vector2d low(-1, -2), high(1, 0.5);
  CHECK(surfaces::normal_box_probability(same, low, high) ==
        Approx(surfaces::normal_probability(0.5) - surfaces::normal_probability(-1)).margin(2e-4));
  CHECK(surfaces::normal_box_probability(opposite, low, high) ==
        Approx(surfaces::normal_probability(1) - surfaces::normal_probability(-0.5)).margin(2e-4));
}

TEST_CASE("Without correlation the product rule comes out exactly", "[surfaces][joint]") {
  const TwoResponses two(0, 12, 3);
  const Eigen::Vector2d at(0.2, -0.4);
  const Goal least{GoalType::kAtLeast, 9.5}, within{GoalType::kWithin, 4, 6};
  auto responses = two.responses(least, within);
  // As if the responses had been measured in different runs.
  responses[1].runs = {21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
  const surfaces::JointErrors joint(responses);
  CHECK(joint.of_run()(0, 1) == 0);
  CHECK(*joint.all_limits_met(at) ==
        Approx(*two.first.predict(at).probability_within(9.5, kInfinity) *
               *two.second.predict(at).probability_within(4, 6))
            .epsilon(1e-12));
}

TEST_CASE("Each run has one number", "[surfaces][joint]") {
  const TwoResponses two(0, 12, 3);
  auto responses = two.responses({}, {});
  responses[1].runs = {1, 2, 3};
  CHECK_THROWS_WITH(surfaces::JointErrors(responses),
                    Catch::Contains("response 'b': 3 run numbers for 12 runs"));
}

TEST_CASE("One goal's joint probability is its own", "[surfaces][joint]") {
  const TwoResponses two(0.8, 10, 4);
  const Eigen::Vector2d at(0.2, -0.4);
  for (const double low : {7.0, 9.5, 10.5, 14.0}) {
    auto responses = two.responses({GoalType::kAtLeast, low}, {});
    responses[1].goal.reset();
    CHECK(*surfaces::JointErrors(responses).all_limits_met(at) ==
          Approx(*two.first.predict(at).probability_within(low, kInfinity)).epsilon(1e-9));
  }
}

TEST_CASE("The correlation of errors is found, and moves the joint probability",
          "[surfaces][joint]") {
  const Eigen::Vector2d at(0, 0);
  for (const double rho : {-0.9, 0.9}) {
    const TwoResponses two(rho, 400, 5);
    const surfaces::JointErrors joint(
        two.responses({GoalType::kAtLeast, 10}, {GoalType::kAtLeast, 5}));
    CHECK(joint.of_run()(0, 1) == Approx(rho).margin(0.04));
    CHECK(joint.of_next_run(at)(0, 1) == Approx(rho).margin(0.04));
    CHECK(*joint.all_limits_met(at) ==
          Approx(0.25 + std::asin(rho) / (2 * std::numbers::pi)).margin(0.04));
  }
}

TEST_CASE("In simulated studies all limits are met as often as was said", "[surfaces][joint]") {
  // 600 studies with correlated errors: the mean predicted probability equals the observed
  // fraction.
  const Eigen::Vector2d at(0.3, 0.3);
  RandomStream random(8, 0);
  double said = 0, met = 0;
  constexpr int kStudies = 600;
  for (int study = 0; study < kStudies; ++study) {
    const TwoResponses two(0.7, 14, static_cast<std::uint64_t>(100 + study));
    const surfaces::JointErrors joint(
        two.responses({GoalType::kAtLeast, 9.8}, {GoalType::kAtMost, 0, 5.2}));
    said += *joint.all_limits_met(at);
    const double e = random_normal(random), u = random_normal(random);
    met += 10.3 + e >= 9.8 && 4.7 + 0.7 * e + std::sqrt(0.51) * u <= 5.2;
  }
  CHECK(std::abs(said - met) / kStudies < 4 * std::sqrt(0.25 / kStudies));
}

TEST_CASE("Draws of means have the spread and the correlation of the errors", "[surfaces][joint]") {
  const TwoResponses two(0.8, 9, 6);
  const surfaces::JointErrors joint(two.responses({}, {}));
  Eigen::MatrixXd at(2, 2);
  at << 0.5, -0.5, -1, 1;
  constexpr int kDraws = 20'000;
  const std::vector<Eigen::MatrixXd> drawn = surfaces::MeanDraws(joint, at).draw(kDraws, 0);
  const auto covariance = [](const auto& x, const auto& y) {
    return ((x.array() - x.mean()) * (y.array() - y.mean())).mean();
  };
  const surfaces::Prediction prediction = two.first.predict(at.row(0).transpose());
  CHECK(drawn[0].row(0).mean() == Approx(prediction.mean).margin(0.02));
  // A Student variable's variance is df / (df - 2).
  CHECK(covariance(drawn[0].row(0), drawn[0].row(0)) ==
        Approx(std::pow(prediction.standard_error, 2) * 6 / 4).epsilon(0.08));
  const auto correlation = [&](const auto& x, const auto& y) {
    return covariance(x, y) / std::sqrt(covariance(x, x) * covariance(y, y));
  };
  CHECK(correlation(drawn[0].row(1), drawn[1].row(1)) == Approx(joint.of_run()(0, 1)).margin(0.03));
  // 90 % of the draws lie in the confidence interval.
  const surfaces::Interval interval = *prediction.confidence_interval(0.9);
  const auto row = drawn[0].row(0).array();
  const double inside = ((row > interval.low) && (row < interval.high)).cast<double>().mean();
  CHECK(inside == Approx(0.9).margin(0.01));
  CHECK(surfaces::MeanDraws(joint, at).draw(5, 7)[1] ==
        surfaces::MeanDraws(joint, at).draw(5, 7)[1]);
}

TEST_CASE("Draws of means of many runs have the covariance of the errors, point by point",
          "[surfaces][joint]") {
  // Enough runs that errors of combinations of runs are drawn; two models, so two combinations.
  TwoResponses two(0.8, 600, 6);
  two.second = surfaces::fit_least_squares(doe::Model::named("quadratic", unit_factors(2)),
                                           two.second.coded, two.second.observed);
  const surfaces::JointErrors joint(two.responses({}, {}));
  Eigen::MatrixXd at(3, 2);
  at << 0.2, -0.4, 1, 1, -0.7, 0.9;
  constexpr int kDraws = 40'000;
  const std::vector<Eigen::MatrixXd> drawn = surfaces::MeanDraws(joint, at).draw(kDraws, 0);
  const surfaces::Fit* fits[] = {&two.first, &two.second};
  for (int j = 0; j < 2; ++j) {
    for (int k = 0; k < 2; ++k) {
      const Eigen::MatrixXd errors_j = fits[j]->mean_errors(at).of_runs;
      const Eigen::MatrixXd errors_k = fits[k]->mean_errors(at).of_runs;
      const Eigen::MatrixXd expected = joint.of_run()(j, k) * errors_j * errors_k.transpose();
      const Eigen::MatrixXd about_j = drawn[j].colwise() - drawn[j].rowwise().mean();
      const Eigen::MatrixXd about_k = drawn[k].colwise() - drawn[k].rowwise().mean();
      const Eigen::MatrixXd found = about_j * about_k.transpose() / kDraws;
      for (int p = 0; p < 3; ++p) {
        for (int q = 0; q < 3; ++q) {
          const double scale = errors_j.row(p).norm() * errors_k.row(q).norm();
          CHECK(found(p, q) == Approx(expected(p, q)).margin(0.025 * scale));
        }
      }
    }
  }
}

TEST_CASE("Draws of combinations of runs decide as often as draws of the runs",
          "[surfaces][joint]") {
  const TwoResponses two(0.8, 600, 6);
  const ByRuns first(two.first), second(two.second);
  Eigen::MatrixXd at(3, 2);
  at << 0, 0, 0, 0.8, 0.8, 0;  // across the slopes, where nothing is certain
  constexpr int kDraws = 20'000;
  const double by_combinations = fraction_of_first(two.responses({}, {}), at, kDraws);
  const double by_runs =
      fraction_of_first({{"a", &first, Goal{}}, {"b", &second, Goal{}}}, at, kDraws);
  CHECK(by_runs > 0.05);
  CHECK(by_runs < 0.95);
  // Four standard errors of the difference of two proportions.
  CHECK(by_combinations == Approx(by_runs).margin(4 * std::sqrt(0.5 / kDraws)));
}
