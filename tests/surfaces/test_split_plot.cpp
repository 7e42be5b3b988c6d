#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "base/random.h"
#include "surfaces/fit.h"
#include "tests/doe/factors.h"
#include "tests/surfaces/published_oats.h"
#include "tests/surfaces/random_normal.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Fit;
using surfaces::fit_least_squares;

namespace {

/// Compares with R: lme4 determines the variances to about six digits only.
Approx as_lme(double value) { return Approx(value).epsilon(2e-5); }

struct Runs {
  Eigen::MatrixXd coded;
  Eigen::VectorXd y;
  surfaces::FitOptions options;

  Fit fit(const doe::Model& model) const { return fit_least_squares(model, coded, y, options); }
  Fit ordinary_fit(const doe::Model& model) const { return fit_least_squares(model, coded, y); }
};

/// Factors: variety, and manure as four levels or as a number from -1 to 1. `without` lists runs to
/// omit, numbered from 1.
Runs oats(bool numeric, const std::set<int>& without = {}) {
  std::vector<std::array<double, 5>> rows;
  int run = 0;
  for (int plot = 0; plot < 18; ++plot) {
    for (int manure = 0; manure < 4; ++manure) {
      if (without.contains(++run)) continue;
      rows.push_back({static_cast<double>(kOatVarieties[plot % 3]),
                      numeric ? (2.0 * manure - 3) / 3 : manure, plot / 3 + 1.0,
                      static_cast<double>(plot), kOatYields[plot][manure]});
    }
  }
  Runs runs;
  runs.coded.resize(static_cast<Eigen::Index>(rows.size()), 2);
  runs.y.resize(runs.coded.rows());
  for (Eigen::Index i = 0; i < runs.y.size(); ++i) {
    const auto& row = rows[i];
    runs.coded.row(i) << row[0], row[1];
    runs.y[i] = row[4];
    runs.options.blocks.push_back(static_cast<int>(row[2]));
    runs.options.whole_plots.push_back(static_cast<int>(row[3]));
  }
  return runs;
}

doe::Factor variety() { return words("v", {"golden", "marvellous", "victory"}); }

const surfaces::PartTest& part_test(const Fit& fit, const std::string& source) {
  const auto& tests = fit.split_plot->tests;
  return *std::find_if(tests.begin(), tests.end(),
                       [&](const surfaces::PartTest& test) { return test.source == source; });
}

const surfaces::Coefficient& coefficient(const Fit& fit, const std::string& term) {
  return *std::find_if(fit.coefficients.begin(), fit.coefficients.end(),
                       [&](const surfaces::Coefficient& row) { return row.term == term; });
}

void check_coefficient(const Fit& fit, const std::string& term, double estimate, double std_error,
                       double df) {
  INFO(term);
  const surfaces::Coefficient& row = coefficient(fit, term);
  CHECK(row.estimate == as_lme(estimate));
  CHECK(*row.std_error == as_lme(std_error));
  CHECK(*row.df == as_lme(df));
}

void check_test(const Fit& fit, const std::string& source, double f, int df, double df_error,
                double p) {
  INFO(source);
  const surfaces::PartTest& test = part_test(fit, source);
  CHECK(test.f == as_lme(f));
  CHECK(test.df == df);
  CHECK(test.df_error == as_lme(df_error));
  CHECK(test.p == Approx(p).epsilon(1e-4));
}

/// A response surface: whole plot, z (constant in each), a, b, response.
constexpr double kSurfaceRuns[][5] = {
    {1, -1, 0, -0.5, 45.6}, {1, -1, 1, 0.5, 43.4},   {1, -1, 1, 1, 43.3},   {2, 0, 1, -0.5, 53.4},
    {2, 0, 0, -0.5, 52.8},  {2, 0, 1, -0.5, 53.9},   {2, 0, 0, 0, 51.6},    {3, 1, 0, -0.5, 54.5},
    {3, 1, 1, 1, 55.8},     {3, 1, 0, 0, 53.3},      {3, 1, 1, 1, 55.2},    {4, 1, 1, -1, 56.6},
    {4, 1, 0, 0.5, 49.5},   {5, -1, 1, -0.5, 44},    {5, -1, 0, -0.5, 45},  {5, -1, 1, 1, 40.4},
    {5, -1, 1, -0.5, 41.9}, {5, -1, 0, 1, 41.9},     {6, 0, 0, -1, 53.7},   {6, 0, 1, -1, 52.5},
    {6, 0, -1, 0.5, 41.7},  {6, 0, 1, 0.5, 51.6},    {7, 0, 0, -1, 56},     {7, 0, 0, 0, 52.7},
    {7, 0, 1, 1, 54.5},     {7, 0, 0, 0.5, 49.7},    {8, 1, 0, 0.5, 53.6},  {8, 1, 1, -0.5, 57.7},
    {8, 1, -1, -1, 47.2},   {9, -1, 1, -1, 44.7},    {9, -1, 0, -1, 48.2},  {9, -1, -1, 0.5, 36.3},
    {9, -1, 1, 0, 45},      {10, 1, -1, -0.5, 40.7}, {10, 1, -1, -1, 41.1}, {10, 1, -1, -0.5, 39.4},
    {10, 1, -1, -1, 43.1},  {10, 1, 0, -1, 53.2},    {11, 0, -1, 0, 42.4},  {11, 0, 1, -1, 52.9},
    {11, 0, -1, 0.5, 39.3}, {11, 0, 1, 0, 52.7}};

Runs surface_runs() {
  Runs runs;
  runs.coded.resize(std::size(kSurfaceRuns), 3);
  runs.y.resize(runs.coded.rows());
  for (Eigen::Index i = 0; i < runs.y.size(); ++i) {
    const double* row = kSurfaceRuns[i];
    runs.coded.row(i) << row[1], row[2], row[3];
    runs.y[i] = row[4];
    runs.options.whole_plots.push_back(static_cast<int>(row[0]));
  }
  return runs;
}

double normal_error(RandomStream& random) {
  return boost::math::quantile(boost::math::normal(), random.uniform() + 1e-17);
}

/// Eight whole plots of four runs: z is constant in each, a and b form a 2^2 factorial in each.
Runs factorial_runs(double whole_plot_error, double run_error, RandomStream& random) {
  Runs runs;
  runs.coded.resize(32, 3);
  runs.y.resize(32);
  for (int plot = 0; plot < 8; ++plot) {
    const double shared = whole_plot_error * normal_error(random);
    for (int i = 0; i < 4; ++i) {
      const int run = 4 * plot + i;
      runs.coded.row(run) << (plot % 2 == 0 ? -1 : 1), i % 2 * 2 - 1, i / 2 * 2 - 1;
      runs.y[run] = 10 + 2 * runs.coded(run, 0) - runs.coded(run, 1) + shared +
                    run_error * normal_error(random);
      runs.options.whole_plots.push_back(plot);
    }
  }
  return runs;
}

std::vector<doe::Factor> zab() { return {continuous("z"), continuous("a"), continuous("b")}; }

}  // namespace

TEST_CASE("A balanced split plot gives the classical analysis of variance",
          "[surfaces][split-plot]") {
  // Yates's analysis: mean squares of whole-plot error 6013.306 / 10 and of sub-plot error 7968.750
  // / 45, as printed by R's aov(Y ~ V * N + Error(B / V)) of MASS::oats.
  const double between = 6013.305555555556 / 10, within = 7968.75 / 45;
  const Runs runs = oats(false);
  const Fit fit = runs.fit(
      doe::Model::named("interactions", {variety(), words("n", {"0.0", "0.2", "0.4", "0.6"})}));
  REQUIRE(fit.split_plot);
  CHECK(fit.split_plot->whole_plots == 18);
  CHECK(fit.split_plot->run_variance == Approx(within).epsilon(1e-10));
  CHECK(fit.split_plot->whole_plot_variance == Approx((between - within) / 4).epsilon(1e-10));
  CHECK(*fit.sigma == Approx(std::sqrt(within + (between - within) / 4)).epsilon(1e-10));
  // From chi-squared mean squares: 2 s^4 / df, and for a difference their sum divided by 4^2.
  CHECK(fit.split_plot->run_std_error == Approx(within * std::sqrt(2.0 / 45)).epsilon(1e-9));
  CHECK(fit.split_plot->whole_plot_std_error ==
        Approx(std::sqrt(2 * between * between / 10 + 2 * within * within / 45) / 4).epsilon(1e-9));
  for (const surfaces::Coefficient& row : fit.coefficients) {
    const bool of_whole_plots = row.term == "1" || row.term.find("n[") == std::string::npos;
    INFO(row.term);
    CHECK(*row.df == Approx(of_whole_plots ? 10 : 45).epsilon(1e-9));
  }
  // Sum-to-zero contrasts of 3 varieties: the variance of a mean of 24 runs is between / 24, times
  // 2/3.
  CHECK(*coefficient(fit, "v[golden]").std_error ==
        Approx(std::sqrt(between / 24 * 2 / 3)).epsilon(1e-10));
  CHECK(*coefficient(fit, "n[0.0]").std_error ==
        Approx(std::sqrt(within / 18 * 3 / 4)).epsilon(1e-10));
  CHECK(part_test(fit, "blocks").f == Approx(15875.277777777778 / 5 / between).epsilon(1e-9));
  CHECK(part_test(fit, "blocks").df_error == Approx(10).epsilon(1e-9));
  CHECK(part_test(fit, "two-way interactions").f == Approx(321.75 / 6 / within).epsilon(1e-9));
  CHECK(part_test(fit, "two-way interactions").df_error == Approx(45).epsilon(1e-9));
  // A test that involves both errors: R's pbkrtest::KRmodcomp(lmer(Y ~ B + V * N + (1 | B:V)), L),
  // with the rows of L from the R of qr(X).
  check_test(fit, "first order", 22.27638346, 5, 28.81594552, 4.260730976e-09);
  check_test(fit, "model", 10.42105647, 11, 42.79237785, 6.464919104e-09);
  CHECK(fit.anova.empty());
  CHECK_FALSE(fit.lack_of_fit);
}

TEST_CASE("Unbalanced split plots give what lme4 and pbkrtest give", "[surfaces][split-plot]") {
  SECTION("oats without eight runs") {
    // R: m <- lmer(Y ~ B + V + x + I(x^2) + V:x + (1 | B:V), oats[-c(1, 6, 7, 30, 50, 51, 52,
    // 72),]) with contr.sum; summary(m, ddf = "Kenward-Roger") of lmerTest; AICc from update(m,
    // REML = FALSE); attr(vcovAdj(m), "W"); KRmodcomp(m, L); Lb_ddf(x, vcov(m), vcovAdj(m)).
    const Runs runs = oats(true, {1, 6, 7, 30, 50, 51, 52, 72});
    const Fit fit =
        runs.fit(doe::Model::parse({"1", "v", "x", "v*x", "x^2"}, {variety(), continuous("x")}));
    CHECK(fit.split_plot->whole_plot_variance == as_lme(131.3350821));
    CHECK(fit.split_plot->run_variance == as_lme(163.2706179));
    CHECK(fit.split_plot->whole_plot_std_error == as_lme(81.97806087));
    CHECK(fit.split_plot->run_std_error == as_lme(35.58360727));
    CHECK(*fit.aicc == Approx(553.4403766).epsilon(1e-8));
    check_coefficient(fit, "1", 105.7335776063, 3.85491779, 19.19302526);
    CHECK(coefficient(fit, "v[golden]").estimate == Approx(-0.0445988715).margin(2e-5));
    CHECK(*coefficient(fit, "v[golden]").df == as_lme(9.83992477));
    check_coefficient(fit, "v[marvellous]", 6.7146640175, 4.45828142, 9.53309935);
    check_coefficient(fit, "x", 21.8619550814, 2.16775409, 43.33858762);
    check_coefficient(fit, "x^2", -4.3613806989, 3.69550621, 43.55104758);
    check_coefficient(fit, "v[marvellous]*x", -2.0665008574, 3.04149539, 43.01062926);
    REQUIRE(fit.block_effects.size() == 5);
    CHECK(fit.block_effects[0].estimate == as_lme(3.9394116709));
    CHECK(*fit.block_effects[0].std_error == as_lme(6.95611581));
    CHECK(*fit.block_effects[0].df == as_lme(9.12780118));
    check_test(fit, "blocks", 5.222179996, 5, 9.605041206, 0.01398136388);
    check_test(fit, "first order", 34.3612906, 3, 16.07395489, 3.195435761e-07);
    check_test(fit, "two-way interactions", 0.2173713856, 2, 43.3291637, 0.80550318);
    check_test(fit, "pure quadratic", 1.392836442, 1, 43.55104758, 0.2443328555);
    check_test(fit, "model", 17.27035921, 6, 31.85241103, 8.931232639e-09);
    const surfaces::Prediction prediction = fit.predict(Eigen::Vector2d(1, 0.5));
    CHECK(prediction.mean == as_lme(121.2556236));
    CHECK(prediction.standard_error == as_lme(5.840776371));
    CHECK(prediction.df == as_lme(12.55079516));
  }
  SECTION("a response surface in whole plots of two to five runs") {
    // R: m <- lmer(y ~ z + a + b + z:a + z:b + a:b + I(z^2) + I(a^2) + I(b^2) + (1 | plot)), and as
    // above.
    const Fit fit = surface_runs().fit(doe::Model::named("quadratic", zab()));
    CHECK(fit.split_plot->whole_plot_variance == as_lme(1.739318798));
    CHECK(fit.split_plot->run_variance == as_lme(0.908606917));
    CHECK(fit.split_plot->whole_plot_std_error == as_lme(1.03513208));
    CHECK(fit.split_plot->run_std_error == as_lme(0.2621653794));
    CHECK(*fit.aicc == Approx(161.5057744).epsilon(1e-8));
    check_coefficient(fit, "1", 51.7922772204, 0.759351034, 9.72876018);
    check_coefficient(fit, "z", 3.7098725156, 0.560443553, 8.70505872);
    check_coefficient(fit, "a", 5.2200991925, 0.267040505, 27.03179317);
    check_coefficient(fit, "b", -2.4478544704, 0.327953972, 25.62428882);
    check_coefficient(fit, "z^2", -3.3699459249, 0.892797020, 7.59923610);
    check_coefficient(fit, "a^2", -4.0568908354, 0.394128005, 26.60798574);
    check_coefficient(fit, "z*a", 2.4892981189, 0.359227726, 25.18729043);
    check_coefficient(fit, "a*b", 1.6363127395, 0.431099226, 26.55640982);
    check_test(fit, "first order", 175.0978119, 3, 19.63703028, 2.435452586e-14);
    check_test(fit, "two-way interactions", 41.7361328, 3, 28.27434027, 1.62843646e-10);
    check_test(fit, "pure quadratic", 37.91504021, 3, 19.7045148, 2.23445217e-08);
    check_test(fit, "model", 73.51485963, 9, 23.73302431, 3.746425536e-15);
    const surfaces::Prediction prediction = fit.predict(Eigen::Vector3d(0.5, -1, 0.5));
    CHECK(prediction.mean == as_lme(40.22970123));
    CHECK(prediction.standard_error == as_lme(0.8666577817));
    CHECK(prediction.df == as_lme(22.89436558));
    REQUIRE(fit.stationary_point);
  }
}

TEST_CASE("Errors of predicted means of split plots give their standard errors",
          "[surfaces][split-plot]") {
  const Fit fit = surface_runs().fit(doe::Model::named("quadratic", zab()));
  Eigen::MatrixXd points(3, 3);
  points << 0, 0, 0, 1, -1, 0.5, -0.3, 0.2, 0.9;
  const surfaces::MeanErrors errors = fit.mean_errors(points);
  CHECK(errors.of_runs.cols() == fit.n);
  const Eigen::MatrixXd covariance =
      errors.of_runs * errors.of_runs.transpose() + errors.own * errors.own.transpose();
  for (int i = 0; i < 3; ++i) {
    CHECK(std::sqrt(covariance(i, i)) ==
          Approx(fit.predict(points.row(i).transpose()).standard_error).epsilon(1e-10));
  }
  const Eigen::VectorXd z = fit.fitted + fit.residuals;
  CHECK((fit.weights_of_runs * z - fit.beta).norm() < 1e-10 * fit.beta.norm());
}

TEST_CASE("Where whole plots do not differ the fit is the ordinary one", "[surfaces][split-plot]") {
  // The restricted likelihood decreases in d from 0 on if whole plots differ less than runs do.
  RandomStream random(11, 0);
  Runs runs = factorial_runs(0, 1, random);
  for (int plot = 0; plot < 8; ++plot) {
    runs.y.segment(4 * plot, 4).array() -= runs.y.segment(4 * plot, 4).mean();
  }
  const doe::Model model = doe::Model::named("linear", zab());
  const Fit fit = runs.fit(model), ordinary = runs.ordinary_fit(model);
  CHECK(fit.split_plot->whole_plot_variance == 0);
  CHECK_THAT(fit.split_plot->note, Catch::Contains("estimated to be 0"));
  CHECK((fit.beta - ordinary.beta).norm() < 1e-12);
  CHECK(*fit.sigma == Approx(*ordinary.sigma).epsilon(1e-12));
  CHECK((fit.leverage - ordinary.leverage).norm() < 1e-12);
  CHECK((fit.studentised_residuals - ordinary.studentised_residuals).norm() < 1e-10);
  CHECK(fit.r2 == Approx(ordinary.r2));
}

TEST_CASE("Intervals of split plots cover at their level, those of ordinary fits do not",
          "[surfaces][split-plot]") {
  const doe::Model model = doe::Model::parse({"1", "z", "a", "b", "z*a"}, zab());
  constexpr int kTrials = 500;
  int whole_plot = 0, run = 0, next = 0, ordinary_whole_plot = 0, ordinary_run = 0;
  const auto covers = [](const Fit& fit, int column, double truth) {
    const surfaces::Coefficient& row = fit.coefficients[column];
    return surfaces::Prediction{row.estimate, *row.std_error, 0, *row.df}
                   .confidence_interval()
                   ->low <= truth &&
           surfaces::Prediction{row.estimate, *row.std_error, 0, *row.df}
                   .confidence_interval()
                   ->high >= truth;
  };
  for (int trial = 0; trial < kTrials; ++trial) {
    RandomStream random(5, static_cast<std::uint64_t>(trial));
    const Runs runs = factorial_runs(2, 1, random);
    const Fit fit = runs.fit(model), ordinary = runs.ordinary_fit(model);
    whole_plot += covers(fit, 1, 2);
    run += covers(fit, 2, -1);
    ordinary_whole_plot += covers(ordinary, 1, 2);
    ordinary_run += covers(ordinary, 2, -1);
    const double y = 10 + 2 - 1 + 2 * normal_error(random) + normal_error(random);
    const surfaces::Interval interval =
        *fit.predict(Eigen::Vector3d(1, 1, 0)).prediction_interval();
    next += interval.low <= y && y <= interval.high;
  }
  // 95 %, with four standard errors of a proportion of 500 trials.
  CHECK(std::abs(whole_plot / 500.0 - 0.95) < 0.039);
  CHECK(std::abs(run / 500.0 - 0.95) < 0.039);
  CHECK(std::abs(next / 500.0 - 0.95) < 0.039);
  CHECK(ordinary_whole_plot < 375);
  CHECK(ordinary_run > 495);
}

TEST_CASE("Tests in few whole plots are tests, whatever their moments", "[surfaces][split-plot]") {
  // 24 runs in 8 whole plots of two factors, in which nothing matters: some F have no moments.
  constexpr int kStudies = 400;
  std::map<std::string, int> rejected;
  for (int study = 0; study < kStudies; ++study) {
    RandomStream random(7, static_cast<std::uint64_t>(study));
    Runs runs;
    runs.coded.resize(24, 3);
    runs.y.resize(24);
    constexpr double kPlots[8][2] = {{-1, -1}, {1, -1}, {-1, 1}, {1, 1},
                                     {0, 0},   {0, 1},  {1, 0},  {0, 0}};
    for (int run = 0; run < 24; ++run) {
      const double* plot = kPlots[run / 3];
      runs.coded.row(run) << plot[0], plot[1], static_cast<int>(random.below(3)) - 1;
      runs.y[run] = random_normal(random);
      runs.options.whole_plots.push_back(run / 3);
    }
    Fit fit;
    try {
      fit = runs.fit(doe::Model::named("quadratic", zab()));
    } catch (const surfaces::FitError&) {
      continue;  // these settings do not determine the quadratic
    }
    for (const surfaces::PartTest& test : fit.split_plot->tests) {
      REQUIRE(test.f >= 0);
      REQUIRE(test.df_error > 0);
      rejected[test.source] += test.p < 0.05 ? 1 : 0;
    }
  }
  // At most 5 % and four standard errors.
  REQUIRE(rejected.size() == 4);
  for (const auto& [source, count] : rejected) {
    INFO(source);
    CHECK(count < kStudies * 0.05 + 4 * std::sqrt(kStudies * 0.05 * 0.95));
  }
}

// By theory: the difference has no variance, and its interval is zero.
TEST_CASE("The difference of a setting from itself has degrees of freedom",
          "[surfaces][split-plot]") {
  RandomStream random(3, 0);
  const Runs runs = factorial_runs(1, 1, random);
  const Fit fit = runs.fit(doe::Model::named("linear", zab()));
  CHECK(fit.split_plot->errors.df(Eigen::RowVectorXd::Zero(fit.beta.size())) > 0);
}

TEST_CASE("Whole plots without freedom for both errors are refused", "[surfaces][split-plot]") {
  RandomStream random(3, 0);
  const Runs runs = factorial_runs(1, 1, random);
  const doe::Model linear = doe::Model::named("linear", zab());
  const auto fit = [&](std::vector<int> plots, const doe::Model& model) {
    return fit_least_squares(model, runs.coded, runs.y, {.whole_plots = std::move(plots)});
  };
  std::vector<int> two(32), each(32);
  for (int i = 0; i < 32; ++i) {
    two[i] = i / 4 % 2;
    each[i] = i;
  }
  CHECK_THROWS_WITH(fit(two, linear), Catch::Contains("distinguish all 2 whole plots"));
  CHECK_THROWS_WITH(fit(each, linear), Catch::Contains("error within whole plots cannot"));
  CHECK_THROWS_WITH(fit({1, 2}, linear), Catch::Contains("2 whole-plot numbers for 32 runs"));

  // Exact responses have no error.
  const Eigen::VectorXd exact = 1 + 2 * runs.coded.col(0).array() - runs.coded.col(1).array();
  const Fit flat = fit_least_squares(linear, runs.coded, exact, runs.options);
  CHECK(*flat.sigma == 0);
  CHECK(flat.split_plot->tests.empty());
  CHECK_FALSE(flat.coefficients[1].t);
  CHECK_FALSE(flat.aicc);
  // Runs of a whole plot agree exactly while the whole plots differ.
  Eigen::VectorXd shifted = exact;
  for (int i = 0; i < 32; ++i) shifted[i] += i / 4 % 3;
  CHECK_THROWS_WITH(fit_least_squares(linear, runs.coded, shifted, runs.options),
                    Catch::Contains("agree exactly"));
}
