#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <memory>

#include "base/random.h"
#include "doe/combinations.h"
#include "doe/design.h"
#include "doe/evaluation/max_variance.h"
#include "doe/optimal/variance_peaks.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

/// Factors with a resolution of 1/20,000 of the range.
std::vector<doe::Factor> fine_factors(int k) {
  std::vector<doe::Factor> factors = numbered_factors(k);
  for (doe::Factor& factor : factors) factor.step = 1e-4;
  return factors;
}

doe::DesignRequest request(std::vector<doe::Factor> factors, const std::string& model, int runs,
                           int starts) {
  doe::DesignRequest request;
  request.factors = std::move(factors);
  request.region = doe::Region(request.factors, {}, {});
  request.model = doe::Model::named(model, request.factors);
  request.options.runs = runs;
  request.options.starts = starts;
  request.options.time_limit_s = 1000;  // so that results depend only on the starts
  request.seed = 1;
  return request;
}

void constrain(doe::DesignRequest& request, const std::string& constraint) {
  std::vector<std::string> names;
  for (const doe::Factor& factor : request.factors) names.push_back(factor.name);
  request.region = doe::Region(request.factors,
                               {std::make_shared<const doe::Expression>(constraint, names)}, {});
}

double efficiency(const doe::DesignRequest& request) {
  const doe::Design design = doe::build_design("g-optimal", request);
  REQUIRE(design.search);
  return design.search->best;
}

Eigen::MatrixXd inverse_information(const doe::Model& model, const Eigen::MatrixXd& coded) {
  const Eigen::MatrixXd x = model.matrix(coded);
  return (x.transpose() * x).inverse();
}

Eigen::MatrixXd random_points(int runs, int factors, RandomStream& random) {
  Eigen::MatrixXd coded(runs, factors);
  for (double& value : coded.reshaped()) value = 2 * random.uniform() - 1;
  return coded;
}

}  // namespace

TEST_CASE("G-optimal designs reach the limit where theory has a design that does",
          "[doe][g-optimal]") {
  // Guest (1958): for a quadratic on [-1, 1] one third of the runs each at -1, 0 and 1.
  CHECK(efficiency(request(numbered_factors(1), "quadratic", 3, 8)) == Approx(100).epsilon(1e-5));
  CHECK(efficiency(request(numbered_factors(1), "quadratic", 6, 20)) == Approx(100).epsilon(1e-5));
  // Orthogonal two-level plans have d = p / n at every corner.
  CHECK(efficiency(request(numbered_factors(2), "interactions", 4, 8)) ==
        Approx(100).epsilon(1e-5));
  CHECK(efficiency(request(numbered_factors(3), "linear", 4, 20)) == Approx(100).epsilon(1e-5));
  // For a cubic on [-1, 1] the zeros of (1 - x^2) P_3'(x): +-1 and +-1 / sqrt(5) (Guest 1958).
  doe::DesignRequest cubic = request(fine_factors(1), "quadratic", 4, 8);
  cubic.model = doe::Model::parse({"1", "x0", "x0^2", "x0^3"}, cubic.factors);
  const Eigen::MatrixXd x = doe::build_design("g-optimal", cubic).coded();
  CAPTURE(x);
  CHECK(x.isApprox(Eigen::Vector4d(-1, -1 / std::sqrt(5.0), 1 / std::sqrt(5.0), 1), 1e-3));
}

TEST_CASE("G-optimal designs pass the best published ones", "[doe][g-optimal]") {
  // Quadratic model on the square: G-efficiencies of published designs, from their proven maximum
  // variance (for 6, 9 and 10 runs from another search, which are higher).
  const std::pair<int, double> square[] = {
      {6, 74.83}, {8, 87.94}, {9, 85.95}, {10, 87.14}, {12, 88.11}};
  for (const auto& [runs, published] : square) {
    CHECK(efficiency(request(fine_factors(2), "quadratic", runs, 32)) > published);
  }
  CHECK(efficiency(request(fine_factors(3), "quadratic", 10, 8)) > 70.38);
}

TEST_CASE("The reported G-efficiency is that of the proven maximum", "[doe][g-optimal]") {
  const doe::DesignRequest wanted = request(numbered_factors(2), "quadratic", 7, 8);
  const doe::Design design = doe::build_design("g-optimal", wanted);
  const doe::MaxVariance largest = doe::max_variance(
      wanted.model, wanted.region, inverse_information(wanted.model, design.coded()));
  REQUIRE(largest.proven);
  CHECK(design.search->best == Approx(100 * 6 / (7 * largest.value)).epsilon(2e-6));
  CHECK(design.search->best <= 100 * 6 / (7 * largest.value));
  CHECK(design.search->bound == 100);
  CHECK(design.search->starts == 8);
  CHECK(design.notes.empty());
}

TEST_CASE("G-optimal designs predict their worst better than D-optimal ones", "[doe][g-optimal]") {
  RandomStream random(7, 0);
  for (int trial = 0; trial < 3; ++trial) {
    std::vector<doe::Factor> factors = numbered_factors(1 + static_cast<int>(random.below(2)));
    if (random.below(2) == 0) factors.push_back(whole("n", 0, 3));
    if (random.below(2) == 0) factors.push_back(words("w", {"p", "q", "r"}));
    doe::DesignRequest wanted = request(factors, "quadratic", 1, 6);
    if (random.below(2) == 0) constrain(wanted, "x0 < 0.6");
    wanted.options.runs = wanted.model.column_count() + static_cast<int>(random.below(4));
    const auto worst = [&](const char* type) {
      const Eigen::MatrixXd coded = doe::build_design(type, wanted).coded();
      return doe::max_variance(wanted.model, wanted.region,
                               inverse_information(wanted.model, coded))
          .value;
    };
    const double ours = worst("g-optimal");
    CHECK(ours <= worst("d-optimal") * (1 + 1e-6));
  }
}

TEST_CASE("Over few levels the best of all designs is found", "[doe][g-optimal]") {
  doe::DesignRequest wanted = request({whole("a", 0, 2), whole("b", 0, 2)}, "quadratic", 7, 30);
  const std::vector<Eigen::VectorXd> points = doe::combinations({{-1, 0, 1}, {-1, 0, 1}});
  Eigen::MatrixXd rows(9, 6);
  for (int i = 0; i < 9; ++i) rows.row(i) = wanted.model.row(points[i]);
  double least = 1e9;
  std::vector<int> chosen(7, 0);
  const std::function<void(int, int)> choose = [&](int position, int first) {
    if (position == 7) {
      Eigen::MatrixXd x(7, 6);
      for (int i = 0; i < 7; ++i) x.row(i) = rows.row(chosen[i]);
      const Eigen::FullPivLU<Eigen::MatrixXd> information(x.transpose() * x);
      if (!information.isInvertible()) return;
      least = std::min(least, (rows * information.solve(rows.transpose())).diagonal().maxCoeff());
      return;
    }
    for (int i = first; i < 9; ++i) {
      chosen[position] = i;
      choose(position + 1, i);
    }
  };
  choose(0, 0);
  CHECK(efficiency(wanted) == Approx(100 * 6 / (7 * least)).epsilon(1e-5));
}

TEST_CASE("Words are balanced where that is best", "[doe][g-optimal]") {
  // Nine runs of two three-level categorical factors: the 3^2 factorial, d = p / n everywhere.
  const std::vector<std::string> levels{"p", "q", "r"};
  CHECK(efficiency(request({words("a", levels), words("b", levels)}, "linear", 9, 20)) ==
        Approx(100).epsilon(1e-5));
}

TEST_CASE("G-optimal designs keep to constraints and to usable settings", "[doe][g-optimal]") {
  doe::DesignRequest wanted = request({continuous("a", 0, 10), whole("b", 1, 5),
                                       powers_of_two("c", {1, 2, 4, 8}), words("d", {"x", "y"})},
                                      "interactions", 14, 4);
  constrain(wanted, "a + b <= 11");
  const doe::Design design = doe::build_design("g-optimal", wanted);
  REQUIRE(design.points.size() == 14);  // none had to be dropped
  for (const doe::DesignPoint& point : design.points) {
    const auto natural = doe::natural_settings(wanted.factors, point.coded);
    CHECK(wanted.region.allows(natural));
    for (std::size_t f = 0; f < natural.size(); ++f) {
      CHECK(wanted.factors[f].snap(natural[f]) == natural[f]);
    }
  }
}

TEST_CASE("On constrained regions the limit is found as well", "[doe][g-optimal]") {
  // A straight line over -1 <= x <= 0.5: half the runs at each end.
  doe::DesignRequest line = request(numbered_factors(1), "linear", 4, 8);
  constrain(line, "x0 <= 0.5");
  CHECK(efficiency(line) == Approx(100).epsilon(1e-3));
  // A plane over a triangle in three runs: its corners, where d = 1.
  doe::DesignRequest triangle = request(numbered_factors(2), "linear", 3, 8);
  constrain(triangle, "x0 + x1 <= 0");
  CHECK(efficiency(triangle) > 99);
}

TEST_CASE("The same seed gives the same G-optimal design on any number of threads",
          "[doe][g-optimal]") {
  doe::DesignRequest wanted = request(numbered_factors(2), "quadratic", 7, 20);
  wanted.threads = 1;
  const Eigen::MatrixXd one = doe::build_design("g-optimal", wanted).coded();
  wanted.threads = 3;
  CHECK(doe::build_design("g-optimal", wanted).coded() == one);
}

TEST_CASE("G-optimal runs complement those that are there", "[doe][g-optimal]") {
  // Three corners of a square exist; the run to add for a plane with interaction is the fourth.
  doe::DesignRequest wanted = request(numbered_factors(2), "interactions", 1, 8);
  wanted.existing.resize(3, 2);
  wanted.existing << -1, -1, 1, -1, -1, 1;
  const doe::Design design = doe::build_design("g-optimal", wanted);
  REQUIRE(design.points.size() == 1);
  CHECK(design.points[0].coded.isApprox(Eigen::Vector2d(1, 1), 1e-6));
  CHECK(design.search->best == Approx(100).epsilon(1e-5));
  CHECK_FALSE(design.search->bound);
}

TEST_CASE("Centre runs are part of a G-optimal design", "[doe][g-optimal]") {
  doe::DesignRequest wanted = request(numbered_factors(2), "quadratic", 9, 8);
  wanted.options.center_runs = 2;
  const doe::Design design = doe::build_design("g-optimal", wanted);
  REQUIRE(design.points.size() == 9);
  CHECK(std::ranges::count(design.points, doe::PointType::kCenter, &doe::DesignPoint::type) == 2);
}

TEST_CASE("A search for a G-optimal design that cannot succeed says why", "[doe][g-optimal]") {
  CHECK_THROWS_WITH(doe::build_design("g-optimal", request(numbered_factors(3), "quadratic", 9, 1)),
                    Catch::Contains("9 runs cannot determine 10 coefficients"));
  doe::DesignRequest nothing = request(numbered_factors(1), "quadratic", 3, 1);
  nothing.model = {};
  CHECK_THROWS_WITH(doe::build_design("g-optimal", nothing), Catch::Contains("no terms"));
  doe::DesignRequest singular = request({whole("a", 0, 1), continuous("b")}, "linear", 8, 4);
  singular.model = doe::Model::parse({"1", "a", "a^2"}, singular.factors);
  CHECK_THROWS_WITH(doe::build_design("g-optimal", singular),
                    Catch::Contains("no design with 8 runs that determines the model"));
}

TEST_CASE("A time limit gives the best G-optimal design so far", "[doe][g-optimal]") {
  doe::DesignRequest wanted = request(numbered_factors(5), "quadratic", 30, 1000);
  wanted.options.time_limit_s = 0.05;
  const doe::Design design = doe::build_design("g-optimal", wanted);
  CHECK(design.points.size() == 30);
  CHECK(design.search->stopped_by_time);
}

TEST_CASE("The highest peak found is the proven maximum", "[doe][g-optimal]") {
  RandomStream random(3, 0);
  for (int k = 1; k <= 4; ++k) {
    doe::DesignRequest wanted = request(numbered_factors(k), "quadratic", 0, 1);
    if (k == 2) wanted.factors.push_back(words("w", {"p", "q", "r"}));
    wanted.model = doe::Model::named("quadratic", wanted.factors);
    wanted.region = doe::Region(wanted.factors, {}, {});
    const doe::PeakFinder finder{doe::SearchSpace(wanted)};
    for (int trial = 0; trial < 5; ++trial) {
      Eigen::MatrixXd coded = random_points(wanted.model.column_count() + 8,
                                            static_cast<int>(wanted.factors.size()), random);
      for (int i = 0; k == 2 && i < coded.rows(); ++i) coded(i, 2) = i % 3;
      const Eigen::MatrixXd inverse = inverse_information(wanted.model, coded);
      const doe::Peaks peaks = finder.peaks(inverse, 0.5, 1e-7);
      CHECK(peaks.value[0] ==
            Approx(doe::max_variance(wanted.model, wanted.region, inverse).value).epsilon(1e-6));
      CHECK(std::ranges::is_sorted(peaks.value, std::ranges::greater{}));
      for (Eigen::Index j = 0; j < peaks.value.size(); ++j) {
        const Eigen::RowVectorXd f = wanted.model.row(peaks.at.col(j));
        CHECK(peaks.value[j] == Approx(f * inverse * f.transpose()));
      }
    }
  }
}

TEST_CASE("Derivatives of the model's row are its slopes", "[doe][g-optimal]") {
  doe::DesignRequest wanted =
      request({continuous("a"), continuous("b"), words("w", {"p", "q", "r"})}, "cubic", 0, 1);
  const doe::SearchSpace space(wanted);
  const Eigen::Vector3d x(0.3, -0.7, 1);
  const Eigen::MatrixXd derivatives = doe::row_derivatives(space, x);
  constexpr double kStep = 1e-5;
  for (int c = 0; c < 2; ++c) {
    const Eigen::Vector3d step = kStep * Eigen::Vector3d::Unit(c);
    const Eigen::RowVectorXd slope = (space.row(x + step) - space.row(x - step)) / (2 * kStep);
    CHECK((derivatives.row(c) - slope).cwiseAbs().maxCoeff() < 1e-8);
  }
  CHECK(derivatives.row(2).isZero());
}

TEST_CASE("More settings than one step can move are refused, with a way out", "[doe][g-optimal]") {
  doe::DesignRequest wanted;
  wanted.factors = numbered_factors(3);
  wanted.model = doe::Model::named("quadratic", wanted.factors);
  wanted.options.runs = 20'000;
  CHECK_THROWS_WITH(doe::build_design("g-optimal", wanted),
                    Catch::Contains("60000") && Catch::Contains("i-optimal takes more"));
}
