#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.h"
#include "surfaces/fit.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Fit;
using surfaces::Loss;

namespace {

/// Brownlee's stack-loss data (1965): air flow, water temperature, acid concentration, stack loss.
constexpr double kStackLoss[21][4] = {
    {80, 27, 89, 42}, {80, 27, 88, 37}, {75, 25, 90, 37}, {62, 24, 87, 28}, {62, 22, 87, 18},
    {62, 23, 87, 18}, {62, 24, 93, 19}, {62, 24, 93, 20}, {58, 23, 87, 15}, {58, 18, 80, 14},
    {58, 18, 89, 14}, {58, 17, 88, 13}, {58, 18, 82, 11}, {58, 19, 93, 12}, {50, 18, 89, 8},
    {50, 18, 86, 7},  {50, 19, 72, 8},  {50, 19, 79, 8},  {50, 20, 80, 9},  {56, 20, 82, 15},
    {70, 20, 91, 15}};

Fit stack_loss(Loss loss, const Eigen::VectorXd& weights = {}) {
  const std::vector<doe::Factor> factors{continuous("air", 50, 80), continuous("water", 17, 27),
                                         continuous("acid", 72, 93)};
  Eigen::MatrixXd coded(21, 3);
  Eigen::VectorXd y(21);
  for (int i = 0; i < 21; ++i) {
    for (int f = 0; f < 3; ++f) coded(i, f) = factors[f].to_coded(kStackLoss[i][f]);
    y[i] = kStackLoss[i][3];
  }
  return surfaces::fit_least_squares(doe::Model::named("linear", factors), coded, y,
                                     {.weights = weights, .loss = loss});
}

/// Belgian telephone calls (Rousseeuw & Leroy 1987); in 1964 to 1969 another unit was recorded.
Fit telephone_calls(Loss loss) {
  const double calls[] = {4.4,  4.7,  4.7,  5.9,  6.6, 7.3, 8.1, 8.8, 10.6, 12.0, 13.5, 14.9,
                          16.1, 21.2, 119., 124., 142, 159, 182, 212, 43.0, 24.0, 27.0, 29.0};
  const std::vector<doe::Factor> factors{continuous("year", 50, 73)};
  Eigen::MatrixXd coded(24, 1);
  Eigen::VectorXd y(24);
  for (int i = 0; i < 24; ++i) {
    coded(i, 0) = factors[0].to_coded(50 + i);
    y[i] = calls[i];
  }
  return surfaces::fit_least_squares(doe::Model::named("linear", factors), coded, y,
                                     {.loss = loss});
}

void check_natural(const Fit& fit, std::vector<double> estimates, std::vector<double> errors) {
  for (std::size_t c = 0; c < estimates.size(); ++c) {
    CHECK(fit.natural_coefficients[c].estimate == Approx(estimates[c]).epsilon(1e-6));
    CHECK(*fit.natural_coefficients[c].std_error == Approx(errors[c]).epsilon(1e-6));
  }
}

}  // namespace

TEST_CASE("Robust fits are those of MASS::rlm", "[surfaces][robust]") {
  // Reference: R 4.2, MASS 7.3, r <- rlm(..., psi = psi.huber or psi.bisquare, maxit = 2000,
  // acc = 1e-14): summary(r)$coefficients, r$s, r$w.
  const Fit huber = stack_loss(Loss::kHuber);
  check_natural(huber,
                {-41.026485373295053, 0.829385770253855, 0.926059415548606, -0.127846317965416},
                {9.806872294353093, 0.111174962319926, 0.303393403349554, 0.128846345686811});
  CHECK(*huber.sigma == Approx(2.44048904599281).epsilon(1e-6));
  CHECK(huber.counts[20] == Approx(0.368083781777657).epsilon(1e-6));
  CHECK(huber.counts[0] == 1);

  const Fit tukey = stack_loss(Loss::kTukey);
  check_natural(tukey,
                {-42.285321536491125, 0.927558992802420, 0.650711198390211, -0.112333123035659},
                {9.531385661489509, 0.108051926237781, 0.294870724088203, 0.125226899561213});
  CHECK(*tukey.sigma == Approx(2.28185331456693).epsilon(1e-6));
  CHECK(tukey.counts[20] == Approx(0.0022178553165362).epsilon(1e-5));

  check_natural(telephone_calls(Loss::kHuber), {-102.52963811809346, 2.03960046572059},
                {26.546160807801218, 0.428936382421174});
  const Fit calls = telephone_calls(Loss::kTukey);
  check_natural(calls, {-52.30251068224003, 1.09804648483074},
                {2.7534575266292864, 0.0444907314158829});
  CHECK(*calls.sigma == Approx(1.65545571377125).epsilon(1e-6));
  CHECK(calls.counts.segment(14, 6).maxCoeff() == 0);
}

TEST_CASE("A robust fit uses the weights of the runs", "[surfaces][robust]") {
  // Reference: R 4.2, MASS 7.3, rlm(stack.loss ~ ., weights = rep(c(1, 2, 0.5), 7), psi.huber).
  Eigen::VectorXd weights(21);
  for (int i = 0; i < 21; ++i) weights[i] = i % 3 == 0 ? 1 : (i % 3 == 1 ? 2 : 0.5);
  const Fit fit = stack_loss(Loss::kHuber, weights);
  check_natural(fit,
                {-39.720507236201065, 0.810350628314133, 0.859115438133251, -0.115421509393698},
                {7.730290464725552, 0.108962729934848, 0.296838987267998, 0.100376316609342});
  CHECK(*fit.sigma == Approx(2.10864826682625).epsilon(1e-6));
}

TEST_CASE("A robust fit has no statistics of sums of squares", "[surfaces][robust]") {
  const Fit fit = stack_loss(Loss::kTukey);
  CHECK(fit.anova.empty());
  CHECK_FALSE(fit.press);
  CHECK_FALSE(fit.aicc);
  CHECK_FALSE(fit.lack_of_fit);
  CHECK(fit.lack_of_fit_problem == "not tested with a robust loss");
  CHECK(fit.r2 > 0.9);
  const Eigen::Vector3d at(0.2, -0.5, 0.1);
  CHECK(fit.mean_errors(at.transpose()).of_runs.norm() ==
        Approx(fit.predict(at).standard_error).epsilon(1e-12));
}

TEST_CASE("One outlying run moves least squares but not Tukey's fit", "[surfaces][robust]") {
  const doe::Model line = doe::Model::named("linear", {continuous("a")});
  RandomStream random(5, 0);
  Eigen::MatrixXd x(20, 1);
  Eigen::VectorXd y(20);
  for (int i = 0; i < 20; ++i) {
    x(i, 0) = -1 + i / 9.5;
    y[i] = 3 + 2 * x(i, 0) + 0.1 * (random.uniform() - 0.5);
  }
  const Fit before = surfaces::fit_least_squares(line, x, y, {.loss = Loss::kTukey});
  y[18] = 1000;
  const Fit after = surfaces::fit_least_squares(line, x, y, {.loss = Loss::kTukey});
  CHECK((before.beta - after.beta).norm() < 0.02);
  CHECK(after.counts[18] == 0);
  CHECK((surfaces::fit_least_squares(line, x, y).beta - before.beta).norm() > 10);
}

TEST_CASE("A robust fit without a scale says so", "[surfaces][robust]") {
  const doe::Model line = doe::Model::named("linear", {continuous("a")});
  Eigen::VectorXd x(5);
  x << -1, -0.5, 0, 0.5, 1;
  CHECK_THROWS_WITH(surfaces::fit_least_squares(line, x, x, {.loss = Loss::kHuber}),
                    Catch::Contains("cannot estimate the scale of the errors"));
}

TEST_CASE("Inflation is of the columns, whatever the loss", "[surfaces][robust]") {
  const Fit plain = stack_loss(Loss::kSquares), robust = stack_loss(Loss::kHuber);
  for (std::size_t c = 1; c < plain.coefficients.size(); ++c) {
    CHECK(*robust.coefficients[c].vif == *plain.coefficients[c].vif);
  }
}
