#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "surfaces/models/choose_surface.h"
#include "tests/surfaces/published_fccd.h"
#include "tests/surfaces/random_normal.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::choose_surface;
using surfaces::SurfaceCandidate;
using surfaces::SurfaceChoice;

namespace {

const SurfaceCandidate& candidate(const SurfaceChoice& choice, const std::string& name) {
  return *std::find_if(choice.candidates.begin(), choice.candidates.end(),
                       [&](const SurfaceCandidate& row) { return row.name == name; });
}

/// A 5 x 5 grid of two factors, with three replicates of its four corners and centre, and noise.
struct Grid {
  std::vector<doe::Factor> factors = unit_factors(2);
  Eigen::MatrixXd coded{40, 2};
  Eigen::VectorXd y{40};

  Grid(const std::function<double(double, double)>& truth, double noise, int seed) {
    RandomStream random(51, seed);
    const int repeated[] = {0, 4, 12, 20, 24};
    for (int i = 0; i < 40; ++i) {
      const int point = i < 25 ? i : repeated[i % 5];
      coded.row(i) << point % 5 / 2.0 - 1, point / 5 / 2.0 - 1;
      y[i] = truth(coded(i, 0), coded(i, 1)) + noise * random_normal(random);
    }
  }

  SurfaceChoice choice() const { return choose_surface(factors, coded, y); }
};

}  // namespace

TEST_CASE("The surface of the kind that made the runs is chosen", "[surfaces][choice]") {
  int linear = 0, interactions = 0, quadratic = 0;
  for (int seed = 0; seed < 20; ++seed) {
    linear += Grid([](double a, double b) { return 2 * a - b; }, 0.3, seed).choice().best().name ==
              "linear";
    interactions += Grid([](double a, double b) { return 2 * a - b + 2 * a * b; }, 0.3, seed)
                        .choice()
                        .best()
                        .name == "interactions";
    quadratic += Grid([](double a, double b) { return 2 * a - b - 2 * a * a + b * b; }, 0.3, seed)
                     .choice()
                     .best()
                     .name == "quadratic";
  }
  CHECK(linear >= 18);
  CHECK(interactions >= 18);
  CHECK(quadratic >= 18);
}

TEST_CASE("A Gaussian process is chosen where the quadratic lacks fit", "[surfaces][choice]") {
  const Grid grid([](double a, double b) { return std::tanh(4 * (a + 0.5 * b)); }, 0.03, 0);
  const SurfaceChoice choice = grid.choice();
  CHECK(choice.best().name == "Gaussian process");
  CHECK(*candidate(choice, "quadratic").lack_of_fit_p < 0.05);
  CHECK_THAT(choice.reason, Catch::Contains("Gaussian process predicts left-out runs best") &&
                                Catch::Contains("quadratic shows lack of fit"));
}

TEST_CASE("Without lack of fit a Gaussian process takes no part", "[surfaces][choice]") {
  // So noisy that the step rarely causes significant lack of fit of the quadratic.
  int without = 0, said = 0;
  for (int seed = 0; seed < 10; ++seed) {
    const SurfaceChoice choice =
        Grid([](double a, double b) { return std::tanh(4 * (a + 0.5 * b)); }, 0.8, seed).choice();
    if (*candidate(choice, "quadratic").lack_of_fit_p < 0.05) continue;
    ++without;
    CHECK(choice.best().name != "Gaussian process");
    const bool better = *candidate(choice, "Gaussian process").loo_rms < *choice.best().loo_rms;
    CHECK(better == (choice.reason.find("shows no lack of fit") != std::string::npos));
    said += better;
  }
  CHECK(without >= 5);
  CHECK(said >= 1);
}

TEST_CASE("Of few runs the surface that predicts best is chosen, also a Gaussian process",
          "[surfaces][choice]") {
  // A Latin hypercube of one run fewer than a quadratic has coefficients.
  const std::vector<doe::Factor> factors = unit_factors(2);
  Eigen::MatrixXd coded(5, 2);
  coded << -1, 0.5, -0.5, -0.5, 0, 1, 0.5, -1, 1, 0;
  const auto choice_of = [&](const std::function<double(double, double)>& truth, bool few_runs) {
    Eigen::VectorXd y(5);
    for (int i = 0; i < 5; ++i) y[i] = truth(coded(i, 0), coded(i, 1));
    return choose_surface(factors, coded, y, {.few_runs = few_runs});
  };
  const auto curved = [](double a, double b) { return std::exp(2 * a) + b; };
  const SurfaceChoice few = choice_of(curved, true);
  CHECK(few.best().name == "Gaussian process");
  CHECK(*few.best().loo_rms < *candidate(few, "linear").loo_rms);
  const SurfaceChoice usual = choice_of(curved, false);
  CHECK(*candidate(usual, "Gaussian process").loo_rms ==
        *candidate(few, "Gaussian process").loo_rms);  // it takes part there too
  const auto plane = [](double a, double b) { return 3 * a - b; };
  CHECK(choice_of(plane, true).best().name == "linear");
}

TEST_CASE("Candidates are compared by PRESS", "[surfaces][choice]") {
  const SurfaceChoice choice =
      choose_surface(published_factors(), published_points(), published_response(3));
  for (const char* name : {"linear", "interactions", "quadratic"}) {
    const surfaces::Fit fit = surfaces::fit_least_squares(
        doe::Model::named(name, published_factors()), published_points(), published_response(3));
    CHECK(*candidate(choice, name).loo_rms == Approx(std::sqrt(*fit.press / 20)));
    CHECK(*candidate(choice, name).predicted_r2 == Approx(*fit.predicted_r2));
  }
  REQUIRE(choice.candidates.size() == 4);
  CHECK(choice.candidates[3].loo_rms);
}

TEST_CASE("A parametric model is compared where it is asked for", "[surfaces][choice]") {
  // SPEC SDM91 (Gunther 2007), see test_parametric_model.cpp, and further runs from its published
  // model.
  const std::vector<doe::Factor> factors{continuous("users", 1, 216)};
  std::vector<double> users{1, 18, 36, 72, 108, 144, 216, 9, 27, 54, 90, 180};
  Eigen::MatrixXd coded(12, 1);
  Eigen::VectorXd y(12);
  y.head(7) << 64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2;
  const surfaces::ParametricModel& parametric =
      surfaces::parametric_model_named("universal-scalability");
  for (int i = 0; i < 12; ++i) {
    coded(i, 0) = factors[0].to_coded(users[i]);
    if (i >= 7) y[i] = parametric.value(users[i], Eigen::Vector3d(90, 0.0277, 0.0001044), nullptr);
  }
  surfaces::ChoiceOptions options;
  options.parametric_models.push_back({parametric, "users"});
  const SurfaceChoice with = choose_surface(factors, coded, y, options);
  CHECK(with.best().name == "universal-scalability");
  const SurfaceChoice without = choose_surface(factors, coded, y);
  CHECK(without.candidates.size() + 1 == with.candidates.size());

  // With a transform every residual, also the model's, is on its scale.
  options.fit.transform = surfaces::Transform::kLog;
  const SurfaceChoice logs = choose_surface(factors, coded, y, options);
  const surfaces::Fit line = surfaces::fit_least_squares(
      doe::Model::named("linear", factors), coded, y, {.transform = surfaces::Transform::kLog});
  CHECK(*candidate(logs, "linear").loo_rms == Approx(std::sqrt(*line.press / 12)));
  double sum = 0;
  for (int i = 0; i < 12; ++i) {
    std::vector<int> others;
    for (int j = 0; j < 12; ++j) {
      if (j != i) others.push_back(j);
    }
    const surfaces::ParametricFit fit =
        surfaces::fit_parametric_model(parametric, factors, "users", coded(others, Eigen::all),
                                       y(others), {}, surfaces::Transform::kLog);
    sum += std::pow(std::log(y[i] / fit.response(coded.row(i).transpose())), 2);
  }
  CHECK(*candidate(logs, parametric.name).loo_rms == Approx(std::sqrt(sum / 12)).epsilon(1e-6));
}

TEST_CASE("Exact runs get the simplest surface that is exact", "[surfaces][choice]") {
  const SurfaceChoice line = Grid([](double a, double b) { return 3 * a + b / 3; }, 0, 0).choice();
  CHECK(line.best().name == "linear");
  CHECK(*line.best().loo_rms == 0);
  CHECK(Grid([](double a, double b) { return a * a + b; }, 0, 0).choice().best().name ==
        "quadratic");
  const SurfaceChoice flat = Grid([](double, double) { return 0.1; }, 0, 0).choice();
  CHECK(flat.best().name == "linear");
  CHECK_THAT(candidate(flat, "Gaussian process").problem, Catch::Contains("does not vary"));
}

TEST_CASE("Candidates that cannot be compared say why", "[surfaces][choice]") {
  const Grid grid([](double a, double b) { return a + b; }, 0.1, 0);
  const auto choice_of = [&](int runs, const surfaces::FitOptions& fit) {
    return choose_surface(grid.factors, grid.coded.topRows(runs), grid.y.head(runs), {.fit = fit});
  };
  // The first row of the grid: the second factor does not vary.
  CHECK_THROWS_WITH(choice_of(5, {}),
                    Catch::Contains("no surface can be fitted") && Catch::Contains("linear: ") &&
                        Catch::Contains("factor 'b' has the value -1 in every run"));
  const SurfaceChoice few = choice_of(10, {});
  CHECK_THAT(candidate(few, "quadratic").problem, Catch::Contains("b^2 = -0.5 - 1.5 b"));
  std::vector<int> blocks(40, 1);
  std::fill(blocks.begin() + 20, blocks.end(), 2);
  const SurfaceChoice blocked = choice_of(40, {.blocks = blocks});
  CHECK_THAT(candidate(blocked, "Gaussian process").problem, Catch::Contains("blocks"));
  CHECK(blocked.best().name == "linear");

  // Three runs of two factors: a plane through them, and no basis for comparison.
  const Eigen::Matrix<double, 3, 2> corners{{-1, -1}, {1, -1}, {-1, 1}};
  const SurfaceChoice plane = choose_surface(grid.factors, corners, Eigen::Vector3d(1, 2, 4));
  CHECK(plane.best().name == "linear");
  CHECK_FALSE(plane.best().loo_rms);
  CHECK_THAT(plane.best().problem, Catch::Contains("is not determined"));
  CHECK_THAT(plane.reason, Catch::Contains("no runs are left"));
  CHECK(candidate(plane, "Gaussian process").problem == "it needs 4 runs for 2 factors");
}
