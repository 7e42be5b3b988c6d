#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <stdexcept>

#include "base/random.h"
#include "surfaces/models/feasibility.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Feasibility;
using surfaces::fit_feasibility;

namespace {

Eigen::VectorXd at(double x) { return Eigen::VectorXd::Constant(1, x); }

/// E[1 / (1 + exp(-(b0 + b1 x)))] over the posterior of two coefficients with independent normal
/// priors of deviation 10, given runs at -1 and 1, by a sum over a grid.
double by_quadrature(const Eigen::VectorXd& coded, const std::vector<bool>& completed, double x) {
  const auto log_logistic = [](double eta) {
    return std::min(eta, 0.0) - std::log1p(std::exp(-std::abs(eta)));
  };
  double total = 0, sum = 0;
  for (double b0 = -50; b0 <= 50; b0 += 0.1) {
    for (double b1 = -50; b1 <= 50; b1 += 0.1) {
      double log_density = -(b0 * b0 + b1 * b1) / 200;
      for (std::size_t i = 0; i < completed.size(); ++i) {
        const double eta = b0 + b1 * coded[static_cast<Eigen::Index>(i)];
        log_density += log_logistic(completed[i] ? eta : -eta);
      }
      const double density = std::exp(log_density);
      total += density;
      sum += density / (1 + std::exp(-(b0 + b1 * x)));
    }
  }
  return sum / total;
}

/// Settings of two factors with `n` runs that complete if and only if a + b <= 0.3.
struct Boundary {
  explicit Boundary(int n, std::uint64_t stream = 0) : coded(n, 2) {
    RandomStream random(41, stream);
    for (int i = 0; i < n; ++i) {
      coded.row(i) << 2 * random.uniform() - 1, 2 * random.uniform() - 1;
      completed.push_back(coded.row(i).sum() <= 0.3);
    }
  }

  Eigen::MatrixXd coded;
  std::vector<bool> completed;
};

}  // namespace

TEST_CASE("The probability of completing is the posterior mean", "[surfaces][feasibility]") {
  // Theory: Bayes' theorem, summed over a grid. A factor of two levels has no square. The second
  // table is separated: maximum likelihood has no estimate.
  doe::Factor two_levels = continuous("a");
  two_levels.kind = doe::FactorKind::kDiscrete;
  two_levels.levels = {-1, 1};
  struct Case {
    std::vector<double> coded;
    std::vector<bool> completed;
  };
  for (const Case& one : {Case{{-1, -1, -1, 1, 1, 1}, {true, true, false, true, false, false}},
                          Case{{-1, -1, -1, 1, 1}, {true, true, true, false, false}}}) {
    const Eigen::VectorXd coded = Eigen::Map<const Eigen::VectorXd>(
        one.coded.data(), static_cast<Eigen::Index>(one.coded.size()));
    const Feasibility fit = fit_feasibility({two_levels}, coded, one.completed);
    REQUIRE(fit.model.column_count() == 2);
    for (const double x : {-1.0, 1.0}) {
      // Three standard errors of 256 draws with standard deviation of at most 0.3.
      CHECK(fit.probability(at(x)) == Approx(by_quadrature(coded, one.completed, x)).margin(0.06));
    }
  }
}

TEST_CASE("Runs that a boundary separates give probabilities near 0 and 1 away from it",
          "[surfaces][feasibility]") {
  const Boundary runs(25);
  const Feasibility fit = fit_feasibility(unit_factors(2), runs.coded, runs.completed);
  CHECK(fit.probability(Eigen::Vector2d(-1, -1)) > 0.99);
  CHECK(fit.probability(Eigen::Vector2d(1, 1)) < 0.01);
  const surfaces::Interval near = fit.interval(Eigen::Vector2d(0.15, 0.15));
  CHECK(near.low < 0.5);
  CHECK(near.high > 0.5);
  CHECK(fit.interval(Eigen::Vector2d(1, 1)).high <= 1);
  CHECK(fit.completed + fit.infeasible == 25);
  CHECK_THAT(fit.note, Catch::Contains("of 25 runs completed"));
  REQUIRE(fit.terms.size() == 6);
  CHECK(fit.terms[1].term == "a");
  CHECK(fit.terms[1].interval.high < 0);
  // Many points at once are the same points, one at a time.
  const Eigen::VectorXd many = fit.probabilities(runs.coded);
  for (int i = 0; i < 25; ++i) CHECK(many[i] == Approx(fit.probability(runs.coded.row(i))));
}

TEST_CASE("Settings said to complete do", "[surfaces][feasibility]") {
  // Of all settings with a probability of at least 0.95, over 40 boundaries of 16 runs, at most
  // one in twenty may be beyond the boundary; the furthest such setting is the hardest case.
  int chosen = 0, failed = 0;
  double area = 0, beyond = 0;
  for (std::uint64_t study = 0; study < 40; ++study) {
    const Boundary runs(16, study);
    if (std::count(runs.completed.begin(), runs.completed.end(), true) % 16 == 0) continue;
    const Feasibility fit = fit_feasibility(unit_factors(2), runs.coded, runs.completed);
    double furthest = -3;
    for (double a = -1; a <= 1; a += 0.1) {
      for (double b = -1; b <= 1; b += 0.1) {
        if (fit.probability(Eigen::Vector2d(a, b)) < 0.95) continue;
        ++area;
        beyond += a + b > 0.3 + 1e-9;
        furthest = std::max(furthest, a + b);
      }
    }
    if (furthest == -3) continue;
    ++chosen;
    failed += furthest > 0.3 + 1e-9;
  }
  REQUIRE(chosen > 30);
  CHECK(beyond / area < 0.05);
  CHECK(failed <= 6);  // 5 % of 40 and three binomial standard errors
}

TEST_CASE("A known direction of infeasibility holds everywhere", "[surfaces][feasibility]") {
  // All runs at high b completed by chance; it is known that they never become likelier to.
  Eigen::MatrixXd coded(8, 2);
  coded << -1, -1, 1, -1, -1, 1, 1, 1, 0, 0, 0.5, -0.5, -0.5, 0.5, 0.2, 0.8;
  const std::vector<bool> completed{true, false, true, true, true, false, true, true};
  const std::vector<doe::Factor> factors = unit_factors(2);
  const Feasibility free = fit_feasibility(factors, coded, completed);
  CHECK(free.probability(Eigen::Vector2d(1, 1)) > free.probability(Eigen::Vector2d(1, -1)));
  const Feasibility known =
      fit_feasibility(factors, coded, completed, {std::nullopt, doe::InfeasibleWhen::kHigher});
  for (double a = -1; a <= 1; a += 0.25) {
    for (double b = -1; b < 1; b += 0.25) {
      CHECK(known.probability(Eigen::Vector2d(a, b + 0.25)) <=
            known.probability(Eigen::Vector2d(a, b)) + 1e-12);
    }
  }
  const Feasibility lower =
      fit_feasibility(factors, coded, completed, {doe::InfeasibleWhen::kLower, std::nullopt});
  CHECK(lower.probability(Eigen::Vector2d(1, 0)) >= lower.probability(Eigen::Vector2d(-1, 0)));
}

TEST_CASE("Completed runs multiply the odds at their own settings by ten, each",
          "[surfaces][feasibility]") {
  Eigen::MatrixXd coded(8, 1);
  coded << -1, -0.5, -0.5, 0, 0.25, 0.5, 0.5, 1;
  const std::vector<bool> completed{true, true, true, true, false, true, false, false};
  const auto odds = [](double p) { return p / (1 - p); };
  const auto of_model = [](const Feasibility& fit, double x) {
    const Eigen::ArrayXd eta = (fit.model.row(at(x)) * fit.draws).array();
    return (1 + (-eta).exp()).inverse().mean();
  };
  const Feasibility fit = fit_feasibility(unit_factors(1), coded, completed);
  for (const auto& [x, ratio] : {std::pair(0.0, 10.0),
                                 {-0.5, 100.0},  // two runs
                                 {-0.25, 1.0},   // none
                                 {0.5, 1.0},     // one of two was infeasible
                                 {1.0, 1.0}}) {
    CHECK(odds(fit.probability(at(x))) == Approx(ratio * odds(of_model(fit, x))));
  }
  // Known to be harder where x is higher: a run at 0 speaks for all below.
  const Feasibility known =
      fit_feasibility(unit_factors(1), coded, completed, {doe::InfeasibleWhen::kHigher});
  CHECK(odds(known.probability(at(-0.25))) == Approx(10 * odds(of_model(known, -0.25))));
  CHECK(odds(known.probability(at(0.1))) == Approx(odds(of_model(known, 0.1))));
}

TEST_CASE("Runs of one kind only give a plain note", "[surfaces][feasibility]") {
  const Eigen::MatrixXd coded = Eigen::VectorXd::LinSpaced(9, -1, 1);
  const Feasibility all = fit_feasibility(unit_factors(1), coded, std::vector<bool>(9, true));
  CHECK(all.probability(at(0)) > 0.9);
  CHECK_THAT(all.note, Catch::Contains("all 9 runs completed"));
  const Feasibility none = fit_feasibility(unit_factors(1), coded, std::vector<bool>(9, false));
  CHECK(none.probability(at(0)) < 0.1);
  CHECK_THAT(none.note, Catch::Contains("none of 9 runs completed"));
  CHECK_THROWS_AS(fit_feasibility(unit_factors(1), Eigen::MatrixXd(0, 1), {}),
                  std::invalid_argument);
}

TEST_CASE("The completion model needs not be determined by the runs", "[surfaces][feasibility]") {
  // A factor that never moved, a categorical one, and more columns than runs.
  const std::vector<doe::Factor> factors{continuous("a"), continuous("b"), continuous("stuck"),
                                         words("w", {"x", "y", "z"})};
  RandomStream random(42, 0);
  Eigen::MatrixXd coded(12, 4);
  std::vector<bool> completed;
  for (int i = 0; i < 12; ++i) {
    coded.row(i) << 2 * random.uniform() - 1, 2 * random.uniform() - 1, 1, i % 3;
    completed.push_back(coded(i, 0) + coded(i, 1) < 0.1);
  }
  const Feasibility fit = fit_feasibility(factors, coded, completed);
  CHECK(fit.model.column_count() > 12);
  for (int i = 0; i < 12; ++i) {
    CHECK((fit.probability(coded.row(i)) > 0.5) == completed[static_cast<std::size_t>(i)]);
  }
  // Beyond 100 columns the model is linear.
  const std::vector<doe::Factor> many = numbered_factors(20);
  const Feasibility linear =
      fit_feasibility(many, Eigen::MatrixXd::Random(30, 20), std::vector<bool>(30, true));
  CHECK(linear.model.column_count() == 21);
}
