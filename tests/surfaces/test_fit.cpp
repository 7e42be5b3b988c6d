#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>

#include "base/random.h"
#include "surfaces/fit.h"
#include "tests/surfaces/published_fccd.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Fit;
using surfaces::fit_least_squares;
using surfaces::Transform;

namespace {

Fit published_fit(int column) {
  return fit_least_squares(doe::Model::named("quadratic", published_factors()), published_points(),
                           published_response(column));
}

const surfaces::AnovaRow& anova_row(const Fit& fit, const std::string& source) {
  return *std::find_if(fit.anova.begin(), fit.anova.end(),
                       [&](const surfaces::AnovaRow& row) { return row.source == source; });
}

/// 10 digits relative to the size of the value.
Approx ten_digits(double value) { return Approx(value).epsilon(1e-10).margin(1e-12); }

}  // namespace

TEST_CASE("The published FCCD's coefficients equal an independent fit to 10 digits",
          "[surfaces][fit]") {
  // Reference: normal equations in 60-digit arithmetic (Python's mpmath) over the same table.
  struct Reference {
    int column;
    std::vector<double> beta;
    double linear_error, interaction_error, square_error;
    double r2, adjusted, predicted, sigma, lack_f, lack_p, aicc;
  };
  const Reference references[] = {
      {3,
       {2507.8909090909091, 569.8, -56.3, 499.7, -82.375, 285.875, 71.375, -424.72727272727273,
        192.77272727272727, -489.22727272727273},
       39.049477647536523,
       43.658643252875119,
       74.464432133016109,
       0.98333638582467428,
       0.96833913306688114,
       0.89658912371976382,
       123.48529080604923,
       10.063083708915027,
       0.012075293497011404,
       290.53947956457622},
      {4,
       {2.1190909090909091, -0.946, -0.015, 1.867, 0.09, -0.7775, -0.0825, 0.77727272727272727,
        -0.18772727272727273, 0.10227272727272727},
       0.058442668099133312,
       0.065340889328060252,
       0.11144579529644085,
       0.99341145961658416,
       0.98748177327150991,
       0.95354250067533701,
       0.18481194373052448,
       50.75068870523416,
       0.0002761577397461272,
       30.35793806552449}};
  for (const Reference& reference : references) {
    const Fit fit = published_fit(reference.column);
    for (int c = 0; c < 10; ++c)
      CHECK(fit.coefficients[c].estimate == ten_digits(reference.beta[c]));
    CHECK(*fit.coefficients[1].std_error == ten_digits(reference.linear_error));
    CHECK(*fit.coefficients[4].std_error == ten_digits(reference.interaction_error));
    CHECK(*fit.coefficients[9].std_error == ten_digits(reference.square_error));
    CHECK(fit.r2 == ten_digits(reference.r2));
    CHECK(*fit.adjusted_r2 == ten_digits(reference.adjusted));
    CHECK(*fit.predicted_r2 == ten_digits(reference.predicted));
    CHECK(*fit.sigma == ten_digits(reference.sigma));
    REQUIRE(fit.lack_of_fit);
    CHECK(fit.lack_of_fit->df == 5);
    CHECK(fit.lack_of_fit->df_pure_error == 5);
    CHECK(fit.lack_of_fit->f == ten_digits(reference.lack_f));
    CHECK(fit.lack_of_fit->p == ten_digits(reference.lack_p));
    CHECK(*fit.aicc == ten_digits(reference.aicc));
  }
}

TEST_CASE("A fit recovers the polynomial that made the data", "[surfaces][fit]") {
  const std::vector<doe::Factor> factors{continuous("a"), powers_of_two("b", {1, 2, 4, 8, 16}),
                                         words("w", {"x", "y", "z"})};
  const doe::Model model = doe::Model::named("quadratic", factors);
  RandomStream random(3, 0);
  Eigen::VectorXd beta(model.column_count());
  for (double& b : beta) b = 10 * random.uniform() - 5;
  Eigen::MatrixXd coded(60, 3);
  for (int i = 0; i < 60; ++i) {
    coded.row(i) << 2 * random.uniform() - 1, 2 * random.uniform() - 1,
        static_cast<double>(random.below(3));
  }
  const Fit fit = fit_least_squares(model, coded, model.matrix(coded) * beta);
  CHECK((fit.beta - beta).cwiseAbs().maxCoeff() < 1e-12);
  CHECK(fit.r2 == Approx(1).epsilon(1e-12));
}

TEST_CASE("Natural coefficients predict what coded ones do", "[surfaces][fit]") {
  const Fit fit = published_fit(3);
  for (const auto& run : kPublishedRuns) {
    const double e = run[0], b = run[1], r = run[2];
    double natural = 0;
    for (const surfaces::NaturalCoefficient& c : fit.natural_coefficients) {
      const std::map<std::string, double> values{{"1", 1},
                                                 {"executors_per_gpu", e},
                                                 {"batch_size", b},
                                                 {"decode_rate", r},
                                                 {"executors_per_gpu*batch_size", e * b},
                                                 {"executors_per_gpu*decode_rate", e * r},
                                                 {"batch_size*decode_rate", b * r},
                                                 {"executors_per_gpu^2", e * e},
                                                 {"batch_size^2", b * b},
                                                 {"decode_rate^2", r * r}};
      natural += c.estimate * values.at(c.term);
    }
    CHECK(
        natural ==
        Approx(fit.predict(doe::coded_point(published_factors(), {e, b, r})).mean).epsilon(1e-12));
  }
}

TEST_CASE("Sums of squares add up", "[surfaces][anova]") {
  for (const int column : {3, 4}) {
    const Fit fit = published_fit(column);
    const auto ss = [&](const char* source) { return anova_row(fit, source).sum_of_squares; };
    CHECK(ss("model") + ss("residual") == Approx(ss("total")).epsilon(1e-12));
    CHECK(ss("first order") + ss("two-way interactions") + ss("pure quadratic") ==
          Approx(ss("model")).epsilon(1e-12));
    CHECK(ss("lack of fit") + ss("pure error") == Approx(ss("residual")).epsilon(1e-12));
    CHECK(anova_row(fit, "model").df == 9);
    CHECK(anova_row(fit, "residual").df == 10);
  }
}

TEST_CASE("The stationary point of a known quadratic is found and named", "[surfaces][shape]") {
  const std::vector<doe::Factor> factors{continuous("a", 0, 10), continuous("b", 0, 10)};
  const doe::Model model = doe::Model::named("quadratic", factors);
  Eigen::MatrixXd coded(9, 2);
  for (int i = 0; i < 9; ++i) coded.row(i) << i % 3 - 1, i / 3 - 1;
  const auto fit_of = [&](double aa, double bb) {
    Eigen::VectorXd y(9);
    for (int i = 0; i < 9; ++i) {
      y[i] = 7 + aa * std::pow(coded(i, 0) - 0.2, 2) + bb * std::pow(coded(i, 1) + 0.4, 2);
    }
    return fit_least_squares(model, coded, y);
  };
  const Fit hill = fit_of(-2, -3);
  REQUIRE(hill.stationary_point);
  CHECK(hill.stationary_point->kind == "maximum");
  CHECK(hill.stationary_point->settings[0] == Approx(6));
  CHECK(hill.stationary_point->settings[1] == Approx(3));
  CHECK(hill.stationary_point->value == Approx(7));
  CHECK(hill.stationary_point->inside_region);
  CHECK(hill.stationary_point->eigenvalues[0] == Approx(-3));
  CHECK(fit_of(2, 3).stationary_point->kind == "minimum");
  CHECK(fit_of(-2, 3).stationary_point->kind == "saddle");
}

TEST_CASE("The stationary point is named by the response, not by its inverse",
          "[surfaces][shape]") {
  const std::vector<doe::Factor> factors{continuous("a"), continuous("b")};
  Eigen::MatrixXd coded(9, 2);
  for (int i = 0; i < 9; ++i) coded.row(i) << i % 3 - 1, i / 3 - 1;
  const Eigen::ArrayXd bowl =
      1 + 0.5 * (coded.col(0).array() - 0.2).square() + (coded.col(1).array() + 0.4).square();
  const Fit fit = fit_least_squares(doe::Model::named("quadratic", factors), coded,
                                    bowl.inverse().matrix(), {.transform = Transform::kInverse});
  REQUIRE(fit.stationary_point);
  CHECK(fit.stationary_point->kind == "maximum");  // 1 is the maximum of 1 / bowl
  CHECK(fit.stationary_point->value == Approx(1));
  CHECK(fit.stationary_point->eigenvalues[0] == Approx(0.5));  // of the bowl
}

TEST_CASE("Rounding of exact data is no error and no curvature", "[surfaces][fit]") {
  const std::vector<doe::Factor> factors{continuous("a"), continuous("b")};
  const doe::Model quadratic = doe::Model::named("quadratic", factors);
  Eigen::MatrixXd coded(22, 2);
  for (int i = 0; i < 18; ++i) coded.row(i) << i % 3 - 1, i / 3 % 3 - 1;
  coded.bottomRows(4) << 0.3, 0.7, -0.1, 0.9, 0.3, 0.7, 0.6, -0.7;
  const auto exact = [&](double bb) -> Eigen::VectorXd {
    const auto a = coded.col(0).array(), b = coded.col(1).array();
    return 1000.1 + 3.3 * a + 0.7 * b + 0.1 * a * b - 1.7 * a * a + bb * b * b;
  };
  const Fit fit = fit_least_squares(quadratic, coded, exact(-0.9));
  CHECK_FALSE(fit.lack_of_fit);
  CHECK(fit.lack_of_fit_problem == "replicated runs agree exactly");
  CHECK(*fit.sigma == 0);
  CHECK(anova_row(fit, "residual").sum_of_squares == 0);
  CHECK_FALSE(anova_row(fit, "two-way interactions").f);
  CHECK(fit.stationary_point->kind == "maximum");

  const Eigen::VectorXd plane = 1000.1 + 3.3 * coded.col(0).array() + 0.7 * coded.col(1).array();
  const Fit flat = fit_least_squares(quadratic, coded, plane);
  CHECK(anova_row(flat, "two-way interactions").sum_of_squares == 0);
  CHECK(anova_row(flat, "pure quadratic").sum_of_squares == 0);
  CHECK_FALSE(flat.stationary_point);

  const Fit constant = fit_least_squares(quadratic, coded, Eigen::VectorXd::Constant(22, 1.0 / 3));
  for (const surfaces::AnovaRow& row : constant.anova) {
    CHECK(row.sum_of_squares == 0);
    CHECK_FALSE(row.f);
  }
  CHECK(constant.r2 == 0);
  CHECK_FALSE(constant.stationary_point);
}

TEST_CASE("The reason why lack of fit cannot be tested is the right one", "[surfaces][fit]") {
  const std::vector<doe::Factor> factors{continuous("a")};
  const doe::Model line = doe::Model::named("linear", factors);
  const Fit single = fit_least_squares(line, Eigen::Vector3d(-1, 0, 1), Eigen::Vector3d(1, 2, 4));
  CHECK(single.lack_of_fit_problem == "no replicated runs");
  const Fit ends =
      fit_least_squares(line, Eigen::Vector4d(-1, -1, 1, 1), Eigen::Vector4d(1, 2, 4, 3));
  CHECK(ends.lack_of_fit_problem == "no residual degrees of freedom beyond replicated runs");
  const Fit agreeing =
      fit_least_squares(line, Eigen::Vector4d(-1, 0, 0, 1), Eigen::Vector4d(1, 2, 2, 4));
  CHECK(agreeing.lack_of_fit_problem == "replicated runs agree exactly");
  CHECK(*agreeing.sigma > 0);
  const Fit tested =
      fit_least_squares(line, Eigen::Vector4d(-1, 0, 0, 1), Eigen::Vector4d(1, 2, 3, 4));
  CHECK(tested.lack_of_fit);
  CHECK(tested.lack_of_fit_problem.empty());
}

TEST_CASE("Blocks take their differences out of the error", "[surfaces][fit]") {
  const doe::Model line = doe::Model::named("linear", {continuous("a")});
  Eigen::VectorXd x(9), y(9);
  x << -1, 0, 0, 1, -1, 0, 0, 1, 1;
  const std::vector<int> blocks{1, 1, 1, 1, 2, 2, 2, 2, 2};
  const double noise[] = {0.1, -0.1, 0.05, 0, -0.05, 0.1, -0.1, 0.02, -0.02};
  for (int i = 0; i < 9; ++i) y[i] = 10 + 3 * x[i] + (blocks[i] == 1 ? -5 : 5) + noise[i];
  const Fit fit = fit_least_squares(line, x, y, {.blocks = blocks});
  CHECK(fit.df_residual == 6);
  CHECK(*fit.sigma < 0.15);
  REQUIRE(fit.block_effects.size() == 1);
  CHECK(fit.block_effects[0].term == "block[2]");
  CHECK(fit.block_effects[0].estimate == Approx(5).margin(0.1));
  // The average of the blocks, although one block has more runs.
  CHECK(fit.predict(Eigen::VectorXd::Zero(1)).mean == Approx(10).margin(0.1));
  CHECK(anova_row(fit, "blocks").df == 1);
  const auto ss = [&](const char* source) { return anova_row(fit, source).sum_of_squares; };
  CHECK(ss("blocks") + ss("model") + ss("residual") == Approx(ss("total")).epsilon(1e-12));
  CHECK(fit.r2 == Approx(ss("model") / (ss("model") + ss("residual"))).epsilon(1e-12));
  // Runs at the same point in different blocks are not replicates: 1 + 1 + 1 within blocks are.
  CHECK(anova_row(fit, "pure error").df == 3);
  CHECK(ss("lack of fit") + ss("pure error") == Approx(ss("residual")).epsilon(1e-12));
  // Without block numbers the difference counts as error.
  CHECK(*fit_least_squares(line, x, y).sigma > 4);
  const std::vector<int> confounded{1, 3, 3, 2, 1, 3, 3, 2, 2};
  CHECK_THROWS_WITH(fit_least_squares(line, x, y, {.blocks = confounded}),
                    Catch::Contains("blocks are confounded"));
  CHECK_THROWS_WITH(fit_least_squares(line, x, y, {.blocks = {1, 2}}),
                    Catch::Contains("2 block numbers for 9 runs"));
}

TEST_CASE("What does not exist is empty, never zero", "[surfaces][fit]") {
  const std::vector<doe::Factor> factors{continuous("a")};
  const doe::Model model = doe::Model::named("quadratic", factors);
  const Eigen::MatrixXd three = Eigen::Vector3d(-1, 0, 1);
  const Fit saturated = fit_least_squares(model, three, Eigen::Vector3d(1, 4, 2));
  CHECK_FALSE(saturated.sigma);
  CHECK_FALSE(saturated.adjusted_r2);
  CHECK_FALSE(saturated.press);
  CHECK_FALSE(saturated.lack_of_fit);
  CHECK_FALSE(saturated.coefficients[0].std_error);
  CHECK_FALSE(saturated.predict(Eigen::VectorXd::Zero(1)).confidence_interval());
  const Fit constant =
      fit_least_squares(doe::Model::named("linear", factors), Eigen::Vector4d(-1, 0, 0, 1),
                        Eigen::Vector4d::Constant(5));
  CHECK(constant.r2 == 0);
  CHECK_FALSE(constant.adjusted_r2);
}

TEST_CASE("Runs that cannot support the model are refused by name", "[surfaces][fit]") {
  const std::vector<doe::Factor> factors{continuous("a"), continuous("b"), continuous("c", 0, 6)};
  const doe::Model quadratic = doe::Model::parse({"1", "a", "b", "a*b", "a^2", "b^2"}, factors);
  Eigen::MatrixXd corners(8, 3);
  corners << -1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0, -1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0;
  const Eigen::VectorXd y = Eigen::VectorXd::LinSpaced(8, 1, 2);
  CHECK_THROWS_WITH(fit_least_squares(quadratic, corners, y),
                    Catch::Contains("aliased: a^2 = 1, b^2 = 1. Add runs"));
  CHECK_THROWS_WITH(fit_least_squares(quadratic, corners.topRows(4), y.head(4)),
                    Catch::Contains("4 runs cannot determine 6 model terms: a^2 = 1, b^2 = 1. Add "
                                    "at least 2 runs"));
  const doe::Model line = doe::Model::parse({"1", "a", "b", "c"}, factors);
  CHECK_THROWS_WITH(
      fit_least_squares(line, corners, y),
      Catch::Contains("factor 'c' has the value 3 in every run: vary it or remove its "
                      "terms from the model"));
  corners.col(2) = 0.25 * corners.col(0) - 2 * corners.col(1);
  CHECK_THROWS_WITH(fit_least_squares(line, corners, y), Catch::Contains("c = 0.25 a - 2 b."));
  corners.col(2) = corners.col(0).cwiseProduct(corners.col(1));
  CHECK_THROWS_WITH(
      fit_least_squares(doe::Model::parse({"1", "a", "b", "c", "a*b"}, factors), corners, y),
      Catch::Contains("a*b = c."));
  CHECK_THROWS_WITH(fit_least_squares(line, corners, y, {.blocks = {1, 2, 1, 2, 1, 2, 1, 2}}),
                    Catch::Contains("blocks are confounded with terms of the model: a = block[2]"));
  CHECK_THROWS_AS(fit_least_squares(line, Eigen::MatrixXd(0, 3), Eigen::VectorXd(0)),
                  surfaces::FitError);

  const doe::Model level = doe::Model::named("linear", {words("w", {"x", "y", "z"})});
  CHECK_THROWS_WITH(fit_least_squares(level, Eigen::Vector4d(0, 0, 2, 2), y.head(4)),
                    Catch::Contains("factor 'w' has the level 'y' in no run"));
}

TEST_CASE("Responses that cannot be fitted are refused with a remedy", "[surfaces][fit]") {
  const doe::Model line = doe::Model::named("linear", {continuous("a")});
  const Eigen::Vector4d x(-1, 0, 0, 1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(fit_least_squares(line, x, Eigen::Vector4d(1, 2, std::nan(""), 3)),
                    Catch::Contains("response of run 3 of 4 is nan, not a finite number"));
  CHECK_THROWS_WITH(fit_least_squares(line, x, Eigen::Vector4d(1, kInfinity, 2, 3)),
                    Catch::Contains("response of run 2 of 4 is inf, not a finite number"));
  CHECK_THROWS_WITH(
      fit_least_squares(line, x, Eigen::Vector4d(1, 2, 3, -1), {.transform = Transform::kLog}),
      Catch::Contains("'log' is not defined for a response of -1"));
  const Eigen::Vector4d weights(1, 1, 0, 1);
  CHECK_THROWS_WITH(fit_least_squares(line, x, x, {.weights = weights}),
                    Catch::Contains("a weight is 0: weights must be finite and above 0"));
  const Fit constant = fit_least_squares(line, x, Eigen::Vector4d::Constant(5));
  REQUIRE(constant.notes.size() == 1);
  CHECK(constant.notes[0].substr(0, 23) == "all responses are equal");
  CHECK(fit_least_squares(line, x, x).notes.empty());
}
