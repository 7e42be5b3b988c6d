#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "base/random.h"
#include "doe/design.h"
#include "doe/evaluation/max_variance.h"
#include "doe/evaluation/polynomial_maximum.h"
#include "doe/evaluation/region_sample.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

Eigen::MatrixXd inverse_information_of(const doe::Model& model, const Eigen::MatrixXd& coded) {
  const Eigen::MatrixXd x = model.matrix(coded);
  return (x.transpose() * x).inverse();
}

double variance(const doe::Model& model, const Eigen::MatrixXd& inverse, const Eigen::VectorXd& x) {
  const Eigen::RowVectorXd f = model.row(x);
  return f * inverse * f.transpose();
}

double random_setting(const doe::Factor& factor, RandomStream& random) {
  const std::vector<double> settings = doe::coded_settings(factor);
  return settings.empty() ? 2 * random.uniform() - 1 : settings[random.below(settings.size())];
}

Eigen::MatrixXd random_design(const std::vector<doe::Factor>& factors, int runs,
                              RandomStream& random) {
  Eigen::MatrixXd coded(runs, factors.size());
  for (Eigen::Index i = 0; i < coded.rows(); ++i) {
    for (Eigen::Index f = 0; f < coded.cols(); ++f) {
      coded(i, f) = random_setting(factors[f], random);
    }
  }
  return coded;
}

/// (X'X)^-1 of a well-conditioned random design.
Eigen::MatrixXd random_inverse(const doe::Model& model, int runs, RandomStream& random) {
  while (true) {
    const Eigen::MatrixXd x = model.matrix(random_design(model.factors(), runs, random));
    const Eigen::LDLT<Eigen::MatrixXd> ldlt(x.transpose() * x);
    if (ldlt.rcond() > 1e-6) return ldlt.solve(Eigen::MatrixXd::Identity(x.cols(), x.cols()));
  }
}

Eigen::MatrixXd three_level_factorial(int k) {
  const auto runs = static_cast<int>(std::lround(std::pow(3, k)));
  Eigen::MatrixXd x(runs, k);
  for (int i = 0; i < runs; ++i) {
    for (int f = 0, rest = i; f < k; ++f, rest /= 3) x(i, f) = rest % 3 - 1;
  }
  return x;
}

/// An independent estimate of the maximum: random points, the best of them improved by ever smaller
/// steps in one factor.
double searched_maximum(const doe::Model& model, const Eigen::MatrixXd& inverse,
                        RandomStream& random, int points) {
  std::vector<std::pair<double, Eigen::VectorXd>> found;
  for (int i = 0; i < points; ++i) {
    const Eigen::VectorXd x = random_design(model.factors(), 1, random).row(0).transpose();
    found.emplace_back(variance(model, inverse, x), x);
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  double best = 0;
  for (int start = 0; start < 5; ++start) {
    auto [value, x] = found[start];
    for (double step = 0.25; step > 1e-7; step /= 2) {
      for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t f = 0; f < model.factors().size(); ++f) {
          std::vector<double> moves = doe::coded_settings(model.factors()[f]);
          if (moves.empty()) moves = {std::max(-1.0, x[f] - step), std::min(1.0, x[f] + step)};
          for (const double move : moves) {
            Eigen::VectorXd next = x;
            next[f] = move;
            const double at_next = variance(model, inverse, next);
            if (at_next <= value * (1 + 1e-14)) continue;
            value = at_next;
            x = next;
            moved = true;
          }
        }
      }
    }
    best = std::max(best, value);
  }
  return best;
}

void check_certified(const doe::Model& model, int runs, std::uint64_t seed) {
  RandomStream random(seed, 7);
  const Eigen::MatrixXd inverse = random_inverse(model, runs, random);
  const doe::MaxVariance found = doe::max_variance(model, {}, inverse);
  const double searched = searched_maximum(model, inverse, random, 300);
  CHECK(found.proven);
  CHECK(found.value == Approx(variance(model, inverse, found.at)).epsilon(1e-7));
  CHECK(found.upper_bound >= searched * (1 - 1e-12));
  CHECK(found.value >= searched * (1 - 2e-6));
  CHECK(found.upper_bound <= found.value * (1 + 1e-6));
}

}  // namespace

TEST_CASE("The largest variance of the 3^2 factorial is 29/36, at the corners", "[doe][variance]") {
  // By hand: at a corner 5/9 + 1/6 + 1/6 + 1/4 + ... = 29/36 for the quadratic model.
  const doe::Model model = doe::Model::named("quadratic", unit_factors(2));
  const doe::MaxVariance found =
      doe::max_variance(model, {}, inverse_information_of(model, three_level_factorial(2)));
  CHECK(found.value == Approx(29.0 / 36).epsilon(1e-9));
  CHECK(found.at.cwiseAbs() == Eigen::Vector2d(1, 1));
  CHECK(found.proven);
}

TEST_CASE("A parabola through its three D-optimal points has largest variance 1",
          "[doe][variance]") {
  // Kiefer & Wolfowitz (1960): a saturated D-optimal design is G-optimal, max d = p / n = 1.
  const doe::Model model = doe::Model::named("quadratic", unit_factors(1));
  const doe::MaxVariance found =
      doe::max_variance(model, {}, inverse_information_of(model, three_level_factorial(1)));
  CHECK(found.value == Approx(1).epsilon(1e-9));
  CHECK(found.proven);
}

TEST_CASE("Continuous D-optimal cubics have max d = p", "[doe][variance]") {
  // Guest (1958): support -1, -1/sqrt(5), 1/sqrt(5), 1 with equal weights.
  const doe::Model model = doe::Model::named("cubic", unit_factors(1));
  Eigen::MatrixXd points(4, 1);
  points << -1, -std::sqrt(0.2), std::sqrt(0.2), 1;
  const doe::MaxVariance found =
      doe::max_variance(model, {}, inverse_information_of(model, points));
  CHECK(found.value == Approx(1).epsilon(1e-9));
  CHECK(found.proven);
}

TEST_CASE("The proven maximum of random designs is no less than a search finds, and no more",
          "[doe][variance]") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    check_certified(doe::Model::named("quadratic", unit_factors(2)), 8, seed);
    check_certified(doe::Model::named("quadratic", unit_factors(3)), 13, seed);
    check_certified(doe::Model::named("cubic", unit_factors(2)), 14, seed);
  }
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    INFO("seed " << seed);
    check_certified(doe::Model::named("cubic", unit_factors(3)), 26, seed);
    check_certified(doe::Model::named("quadratic", unit_factors(5)), 26, seed);
  }
}

TEST_CASE("The proven maximum holds with settings and levels", "[doe][variance]") {
  const std::vector<doe::Factor> mixed{continuous("a"), whole("n", 1, 5),
                                       powers_of_two("b", {1, 2, 4, 32}),
                                       words("w", {"x", "y", "z"})};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    check_certified(doe::Model::named("quadratic", mixed), 24, seed);
    check_certified(doe::Model::named("interactions", {mixed[1], mixed[2], mixed[3]}), 20, seed);
    check_certified(doe::Model::named("linear", {mixed[3]}), 7, seed);
  }
}

TEST_CASE("A variance with many equal maxima is proven too", "[doe][variance]") {
  // By symmetry every corner of the 3^k factorial is a maximum.
  for (const int k : {3, 4, 5}) {
    const doe::Model model = doe::Model::named("quadratic", unit_factors(k));
    const Eigen::MatrixXd inverse = inverse_information_of(model, three_level_factorial(k));
    const doe::MaxVariance found = doe::max_variance(model, {}, inverse);
    CHECK(found.proven);
    CHECK(found.value == Approx(variance(model, inverse, Eigen::VectorXd::Ones(k))));
  }
}

TEST_CASE("A constant polynomial and one without variables are their own maximum",
          "[doe][variance]") {
  const doe::Model mean = doe::Model::parse({"1"}, unit_factors(3));
  const doe::MaxVariance found = doe::max_variance(mean, {}, Eigen::MatrixXd::Constant(1, 1, 0.25));
  CHECK(found.value == 0.25);
  CHECK(found.proven);
}

TEST_CASE("Constraints leave a bracket, proven where the maximum is allowed", "[doe][variance]") {
  const std::vector<doe::Factor> factors = unit_factors(2);
  const auto region = [&](const char* text) {
    const std::vector<std::string> names{"a", "b"};
    return doe::Region(factors, {std::make_shared<const doe::Expression>(text, names)}, {});
  };
  const doe::Model model = doe::Model::named("linear", factors);
  const Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(3, 3);  // d = 1 + a^2 + b^2
  const doe::MaxVariance corner_left = doe::max_variance(model, region("a + b < 1.5"), inverse);
  CHECK(corner_left.proven);
  CHECK(corner_left.value == Approx(3));
  // On |a| + |b| <= 1 the largest distance from the centre is 1: d = 2, versus 3 on the box.
  const doe::MaxVariance diamond =
      doe::max_variance(model, region("abs(a) + abs(b) <= 1"), inverse);
  CHECK_FALSE(diamond.proven);
  CHECK(diamond.value == Approx(2).epsilon(1e-6));
  CHECK(diamond.upper_bound == Approx(3));
  const std::vector<doe::Factor> whole_numbers{whole("a", -2, 2), whole("b", -2, 2)};
  const doe::Region few(whole_numbers,
                        {std::make_shared<const doe::Expression>(
                            "abs(a) + abs(b) <= 2", std::vector<std::string>{"a", "b"})},
                        {});
  const doe::MaxVariance tried =
      doe::max_variance(doe::Model::named("linear", whole_numbers), few, inverse);
  CHECK(tried.proven);
  CHECK(tried.value == Approx(2));
}

TEST_CASE("Without time the bracket still holds the maximum", "[doe][variance]") {
  const doe::Model model = doe::Model::named("quadratic", unit_factors(4));
  const Eigen::MatrixXd inverse = inverse_information_of(model, three_level_factorial(4));
  const doe::MaxVariance proven = doe::max_variance(model, {}, inverse);
  const doe::MaxVariance hurried = doe::max_variance(model, {}, inverse, 1e-6, 0);
  CHECK(hurried.upper_bound >= proven.value);
  CHECK(hurried.value <= proven.upper_bound);
  CHECK_FALSE(hurried.proven);
}

TEST_CASE("A model too large to expand has a bound all the same", "[doe][variance]") {
  std::vector<doe::Factor> factors;
  for (int f = 0; f < 25; ++f) factors.push_back(continuous("x" + std::to_string(f)));
  const doe::Model model = doe::Model::named("quadratic", factors);
  const int p = model.column_count();
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(p, p);
  inverse(0, p - 1) = inverse(p - 1, 0) = -0.5;  // a square is never negative
  const doe::MaxVariance found = doe::max_variance(model, {}, inverse);
  CHECK_FALSE(found.proven);
  CHECK(found.upper_bound == Approx(p + 1));
  CHECK(found.value <= p);
}

TEST_CASE("Polynomials: shifted, scaled, differentiated", "[doe][variance]") {
  // a = 1 + 2 x y - 3 x^2 y + y^3.
  const doe::Monomials monomials(2, {{2, 1}, {0, 3}});
  Eigen::VectorXd a = Eigen::VectorXd::Zero(monomials.size());
  a[monomials.find({0, 0})] = 1;
  a[monomials.find({1, 1})] = 2;
  a[monomials.find({2, 1})] = -3;
  a[monomials.find({0, 3})] = 1;
  const Eigen::Vector2d x(0.3, -0.7);
  CHECK(monomials.value(a, x) == Approx(1 - 0.42 + 0.189 - 0.343));
  CHECK(monomials.gradient(a, x).isApprox(
      Eigen::Vector2d(2 * -0.7 - 6 * 0.3 * -0.7, 0.6 - 3 * 0.09 + 3 * 0.49)));
  Eigen::VectorXd b = a;
  const Eigen::Vector2d center(0.1, -0.5), half(0.5, 0.25);
  monomials.recenter(b, center, half);
  CHECK(monomials.value(b, Eigen::Vector2d(0.4, -0.8)) == Approx(monomials.value(a, x)));
  CHECK(doe::largest_at(Eigen::Vector4d(0, 1, 0, -1), -1, 1) == Approx(1 / std::sqrt(3)));
  CHECK(monomials.find({3, 0}) == -1);
}

TEST_CASE("With too many combinations of levels to list, steps in the levels find the maximum",
          "[doe][variance]") {
  // Covariances between neighbours only: the variance is largest where all contrasts agree in sign,
  // at 2 of 2^30 combinations, and attains the sum of all absolute values.
  std::vector<doe::Factor> factors;
  for (int f = 0; f < 30; ++f) factors.push_back(words("w" + std::to_string(f), {"off", "on"}));
  const doe::Model model = doe::Model::named("linear", factors);
  const int p = model.column_count();
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(p, p);
  for (int c = 1; c < p; ++c) inverse(c - 1, c) = inverse(c, c - 1) = 0.25;
  const doe::MaxVariance most =
      doe::max_variance(model, doe::Region(factors, {}, {}), inverse, 1e-6, 60);
  CHECK(most.value == Approx(p + 0.5 * (p - 1)).epsilon(1e-12));
  CHECK(most.proven);
}
