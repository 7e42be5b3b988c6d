#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.h"
#include "surfaces/models/feasibility.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Feasibility;
using surfaces::fit_feasibility;

namespace {

/// ln L(b) + ln |X'WX| / 2, as documented in feasibility.h.
double penalised_log_likelihood(const Eigen::MatrixXd& x, const std::vector<bool>& completed,
                                const Eigen::VectorXd& b) {
  double sum = 0;
  Eigen::VectorXd w(x.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const double p = 1 / (1 + std::exp(-x.row(i).dot(b)));
    sum += std::log(completed[i] ? p : 1 - p);
    w[i] = p * (1 - p);
  }
  return sum + 0.5 * std::log((x.transpose() * w.asDiagonal() * x).determinant());
}

/// `counts` completed and infeasible runs at -1, then at 1, of one factor.
Feasibility of_table(const std::vector<int>& counts) {
  std::vector<double> at;
  std::vector<bool> completed;
  for (int cell = 0; cell < 4; ++cell) {
    at.insert(at.end(), counts[cell], cell < 2 ? -1 : 1);
    completed.insert(completed.end(), counts[cell], cell % 2 == 0);
  }
  const auto coded = Eigen::MatrixXd::Map(at.data(), static_cast<Eigen::Index>(at.size()), 1);
  return fit_feasibility(unit_factors(1), coded, completed);
}

double log_odds(double p) { return std::log(p / (1 - p)); }

Eigen::VectorXd at(double x) { return Eigen::VectorXd::Constant(1, x); }

}  // namespace

TEST_CASE("Firth's estimates of a two by two table add one half to every cell",
          "[surfaces][feasibility]") {
  // Theory: Firth (1993), section 3.3: with as many parameters as groups the penalty equals half a
  // success and half a failure in each. The second table is from the endometrial cancer study
  // (Heinze & Schemper 2002): one cell is empty, and maximum likelihood has no estimate.
  for (const std::vector<int>& counts : {std::vector{7, 3, 2, 9}, std::vector{17, 49, 13, 0}}) {
    const Feasibility fit = of_table(counts);
    CHECK(fit.probability(at(-1)) == Approx((counts[0] + 0.5) / (counts[0] + counts[1] + 1)));
    CHECK(fit.probability(at(1)) == Approx((counts[2] + 0.5) / (counts[2] + counts[3] + 1)));
    const double slope = log_odds(fit.probability(at(1))) - log_odds(fit.probability(at(-1)));
    CHECK(2 * fit.beta[1] == Approx(slope));
    CHECK(fit.completed == counts[0] + counts[2]);
  }
}

TEST_CASE("Firth's estimates equal brglm2's", "[surfaces][feasibility]") {
  // R 4.2, brglm2 0.9: glm(y ~ a + b, binomial, method = "brglmFit", type = "AS_mean",
  // epsilon = 1e-12), which solves Firth's adjusted score equations.
  Eigen::MatrixXd coded(14, 2);
  coded.col(0) << -1, -1, -1, -1, 0, 0, 0, 1, 1, 1, 1, 0.5, -0.5, 0.25;
  coded.col(1) << -1, 1, 0, -0.5, 0, 1, -1, -1, 1, 0, 0.5, 0.75, 0.25, -0.25;
  const std::vector<bool> completed{true, true,  true,  true,  true,  false, true,
                                    true, false, false, false, false, true,  true};
  const Feasibility fit =
      fit_feasibility(doe::Model::named("linear", unit_factors(2)), coded, completed);
  const double estimates[] = {1.66230528795, -3.10136649916, -3.16952857895};
  const double errors[] = {1.17693722272, 1.74187323462, 1.80334175657};
  const double z[] = {1.41239928168, -1.78047772795, -1.75758619652};
  const double p[] = {0.1578324278605, 0.0749978111007, 0.0788179437045};
  for (int c = 0; c < 3; ++c) {
    CHECK(fit.coefficients[c].estimate == Approx(estimates[c]).epsilon(1e-9));
    CHECK(*fit.coefficients[c].std_error == Approx(errors[c]).epsilon(1e-9));
    CHECK(*fit.coefficients[c].t == Approx(z[c]).epsilon(1e-9));
    CHECK(*fit.coefficients[c].p == Approx(p[c]).epsilon(1e-8));
  }
}

TEST_CASE("No coefficients are likelier than Firth's", "[surfaces][feasibility]") {
  // Infeasible if and only if a + b > 0.3: complete separation, the likelihood has no maximum.
  const std::vector<doe::Factor> factors = unit_factors(2);
  RandomStream random(41, 0);
  Eigen::MatrixXd coded(25, 2);
  std::vector<bool> completed;
  for (int i = 0; i < 25; ++i) {
    coded.row(i) << 2 * random.uniform() - 1, 2 * random.uniform() - 1;
    completed.push_back(coded.row(i).sum() <= 0.3);
  }
  const doe::Model model = doe::Model::named("linear", factors);
  const Feasibility fit = fit_feasibility(model, coded, completed);
  const Eigen::MatrixXd x = model.matrix(coded);
  const double best = penalised_log_likelihood(x, completed, fit.beta);
  CHECK(fit.penalised_log_likelihood == Approx(best).epsilon(1e-12));
  for (int draw = 0; draw < 1000; ++draw) {
    const double size = std::pow(10, -4 * random.uniform() + 1);
    const Eigen::Vector3d step(random.uniform() - 0.5, random.uniform() - 0.5,
                               random.uniform() - 0.5);
    CHECK(penalised_log_likelihood(x, completed, fit.beta + size * step) <= best);
  }
  CHECK(fit.beta.allFinite());
  CHECK(fit.probability(Eigen::Vector2d(-1, -1)) > 0.95);
  CHECK(fit.probability(Eigen::Vector2d(1, 1)) < 0.05);
  const surfaces::Interval near = fit.interval(Eigen::Vector2d(0.15, 0.15));
  CHECK(near.low < 0.5);
  CHECK(near.high > 0.5);
  CHECK(fit.interval(Eigen::Vector2d(1, 1)).high <= 1);
}

TEST_CASE("Runs of one kind only give a plain answer", "[surfaces][feasibility]") {
  const Eigen::MatrixXd coded = Eigen::VectorXd::LinSpaced(9, -1, 1);
  const Feasibility all = fit_feasibility(unit_factors(1), coded, std::vector<bool>(9, true));
  CHECK(all.probability(at(1)) == Approx(9.5 / 10));
  CHECK_THAT(all.note, Catch::Contains("all 9 runs completed"));
  const Feasibility none = fit_feasibility(unit_factors(1), coded, std::vector<bool>(9, false));
  CHECK(none.probability(at(0)) == Approx(0.5 / 10));
  CHECK_THAT(none.note, Catch::Contains("none of 9 runs completed"));
}

TEST_CASE("The feasibility model is what the runs determine", "[surfaces][feasibility]") {
  const std::vector<doe::Factor> factors{continuous("a"), continuous("b"), continuous("stuck"),
                                         words("w", {"x", "y", "z"})};
  RandomStream random(42, 0);
  Eigen::MatrixXd coded(60, 4);
  std::vector<bool> completed;
  for (int i = 0; i < 60; ++i) {
    coded.row(i) << 2 * random.uniform() - 1, 2 * random.uniform() - 1, 1, i % 3;
    // Only large a combined with large b run out of memory.
    completed.push_back(coded(i, 0) * coded(i, 1) < 0.1 || coded(i, 0) < 0);
  }
  const Feasibility linear = fit_feasibility(factors, coded, completed);
  CHECK(linear.model.term_names() == std::vector<std::string>{"1", "a", "b", "w"});
  CHECK_THAT(linear.note, Catch::Contains("they say nothing about stuck"));
  const std::vector<doe::Factor> two{factors[0], factors[1]};
  const Feasibility interactions = fit_feasibility(two, coded.leftCols(2), completed);
  CHECK(interactions.model.term_names() == std::vector<std::string>{"1", "a", "b", "a*b"});

  CHECK_THROWS_WITH(fit_feasibility(two, Eigen::MatrixXd(0, 2), {}), Catch::Contains("no run"));
  CHECK_THROWS_WITH(fit_feasibility(doe::Model::named("linear", factors), coded, completed),
                    Catch::Contains("stuck aliased"));
  CHECK_THROWS_WITH(
      fit_feasibility(doe::Model::named("linear", two), coded.topLeftCorner(2, 2), {true, false}),
      Catch::Contains("2 runs do not determine the 3 terms"));
}

TEST_CASE("Intervals of the probability cover nearly as they say", "[surfaces][feasibility]") {
  const std::vector<doe::Factor> factors = unit_factors(1);
  int covered = 0;
  for (int study = 0; study < 400; ++study) {
    RandomStream random(43, study);
    Eigen::MatrixXd coded(40, 1);
    std::vector<bool> completed;
    for (int i = 0; i < 40; ++i) {
      coded(i, 0) = 2 * random.uniform() - 1;
      completed.push_back(random.uniform() < 1 / (1 + std::exp(-0.5 - 2 * coded(i, 0))));
    }
    const surfaces::Interval interval =
        fit_feasibility(factors, coded, completed).interval(at(0.4));
    const double truth = 1 / (1 + std::exp(-1.3));
    covered += interval.low <= truth && truth <= interval.high;
  }
  // Three binomial standard errors plus a margin for Wald's approximation.
  CHECK(covered / 400.0 == Approx(0.95).margin(0.045));
}
