// Means of truncated normal distributions, and processes with runs that were ended early.
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "surfaces/models/censored_runs.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::surfaces;

namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

/// By numerical integration (Boost), relative to the density at the end next to the mean so that
/// nothing underflows.
double integrated_mean(double mean, double deviation, double low, double high) {
  const double at = std::clamp(mean, low, high);
  const double from = std::max(low, at - 12 * deviation), to = std::min(high, at + 12 * deviation);
  const auto density = [&](double z) {
    return std::exp((std::pow(at - mean, 2) - std::pow(z - mean, 2)) / (2 * deviation * deviation));
  };
  const auto integral = [&](const auto& f) {
    double sum = 0;
    constexpr int kPieces = 200;  // a truncated density falls off within a small part of the range
    for (int i = 0; i < kPieces; ++i) {
      const double a = from + (to - from) * i / kPieces, b = from + (to - from) * (i + 1) / kPieces;
      sum += boost::math::quadrature::gauss_kronrod<double, 15>::integrate(f, a, b, 0);
    }
    return sum;
  };
  return integral([&](double z) { return z * density(z); }) / integral(density);
}

}  // namespace

TEST_CASE("The mean of a truncated normal distribution is that of its integral", "[censored]") {
  for (const double mean : {-3.0, 0.0, 250.0}) {
    for (const double deviation : {0.1, 2.0}) {
      for (const double end : {-8.0, -3.0, -0.5, 0.0, 1.0, 6.0}) {
        const double at = mean + end * deviation;
        for (const auto& [low, high] :
             {std::pair(-kNoEnd, at), std::pair(at, kNoEnd), std::pair(at, at + 0.7 * deviation)}) {
          CAPTURE(mean, deviation, low, high);
          CHECK(truncated_normal_mean(mean, deviation, low, high) ==
                Approx(integrated_mean(mean, deviation, low, high))
                    .epsilon(1e-8)
                    .margin(1e-8 * deviation));
        }
      }
    }
  }
}

TEST_CASE("A range without probability has its near end as the mean", "[censored]") {
  CHECK(truncated_normal_mean(0, 1, -kNoEnd, -60) == -60);
  CHECK(truncated_normal_mean(0, 1, 60, kNoEnd) == 60);
  CHECK(truncated_normal_mean(5, 2, -kNoEnd, kNoEnd) == 5);
}

TEST_CASE("Censored runs lower the process where they were made, and nothing else needs them",
          "[censored]") {
  // A response that rises with x; a run at x = 1 was ended as it would not have exceeded 2.
  const doe::Model mean = doe::Model::parse({"1"}, {doetune::tests::continuous("x", -1, 1)});
  Eigen::MatrixXd coded(6, 1);
  coded << -1, -0.8, -0.5, -0.2, 0, 0.3;
  const Eigen::VectorXd y = (3 + 2 * coded.col(0).array()).matrix();
  CensoredRuns censored{Eigen::MatrixXd::Ones(1, 1), {{-kNoEnd, 2}}};
  const GaussianProcess without = fit_gaussian_process(mean, coded, y);
  const GaussianProcess with = fit_gaussian_process(mean, coded, y, censored);
  const Eigen::VectorXd there = Eigen::VectorXd::Ones(1);
  CHECK(without.predict(there).response() > 3);
  CHECK(with.predict(there).response() < 2.1);
  CHECK(with.n == 7);
  CHECK(imputed(without, censored)[0] <= 2);
  // A range that says nothing new leaves the process as it is expected to be.
  censored.ranges = {{-kNoEnd, kNoEnd}};
  CHECK(imputed(without, censored)[0] == Approx(without.predict(there).response()));
  CHECK(fit_gaussian_process(mean, coded, y, {}, {}).weights == without.weights);
}

TEST_CASE("Censored runs are imputed on the scale of the transform, also a decreasing one",
          "[censored]") {
  const doe::Model mean = doe::Model::parse({"1"}, {doetune::tests::continuous("x", -1, 1)});
  Eigen::MatrixXd coded(6, 1);
  coded << -1, -0.8, -0.5, -0.2, 0, 0.3;
  const Eigen::VectorXd y = (coded.col(0).array() + 2).exp().matrix();
  for (const Transform transform : {Transform(Transform::kLog), Transform(Transform::kInverse)}) {
    const GaussianProcess process = fit_gaussian_process(mean, coded, y, {.transform = transform});
    const CensoredRuns slow{Eigen::MatrixXd::Constant(1, 1, -0.9), {{40, kNoEnd}}};
    CHECK(imputed(process, slow)[0] >= 40);
    const CensoredRuns fast{Eigen::MatrixXd::Constant(1, 1, 0.2), {{-kNoEnd, 1}}};
    CHECK(imputed(process, fast)[0] <= 1);
    CHECK(imputed(process, fast)[0] > 0);
  }
}

TEST_CASE("Censored runs have finite responses, also where the inverse of a response is normal",
          "[censored]") {
  // 1 / y of about 0.02 with a standard deviation of 0.015, of a run of at least 200: 1 / y <=
  // 0.005 has negative values as well, which are those of no response.
  const doe::Model mean = doe::Model::parse({"1"}, {doetune::tests::continuous("x", -1, 1)});
  Eigen::MatrixXd coded(8, 1);
  coded << -1, -0.8, -0.5, -0.2, 0, 0.3, 0.6, 1;
  Eigen::VectorXd y(8);
  y << 20, 160, 25, 200, 30, 180, 22, 150;
  const CensoredRuns slow{Eigen::MatrixXd::Constant(1, 1, 0.4), {{200, kNoEnd}}};
  for (const Transform transform : {Transform(Transform::kInverse), Transform::power(-2)}) {
    const GaussianProcessOptions options{.transform = transform, .with_nugget = true};
    const GaussianProcess process = fit_gaussian_process(mean, coded, y, options);
    CHECK(imputed(process, slow)[0] >= 200);
    CHECK(std::isfinite(imputed(process, slow)[0]));
    CHECK(fit_gaussian_process(mean, coded, y, slow, options).n == 9);
  }
}
