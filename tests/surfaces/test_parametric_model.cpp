#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "surfaces/fit.h"
#include "surfaces/models/parametric_model.h"
#include "tests/surfaces/parametric_runs.h"
#include "tests/surfaces/random_normal.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::fit_parametric_model;
using surfaces::parametric_model_named;
using surfaces::ParametricFit;
using surfaces::Transform;

namespace {

/// The rates without puromycin.
const std::vector<double> kUntreated{67, 51, 84, 86, 98, 115, 131, 124, 144, 158, 160};

}  // namespace

TEST_CASE("Misra1a gives the certified parameters", "[surfaces][parametric]") {
  // NIST StRD nonlinear regression, Misra1a: y = b1 (1 - exp(-b2 x)).
  const ParametricRuns runs({77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3,
                             536.8, 593.1, 689.1, 760.0},
                            {10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05,
                             61.01, 66.40, 75.47, 81.78});
  const ParametricFit fit = runs.fit("exponential-approach");
  CHECK(fit.estimates[0].estimate == Approx(2.3894212918E+02).epsilon(1e-9));
  CHECK(*fit.estimates[0].std_error == Approx(2.7070075241E+00).epsilon(1e-7));
  CHECK(fit.estimates[1].estimate == Approx(5.5015643181E-04).epsilon(1e-9));
  CHECK(*fit.estimates[1].std_error == Approx(7.2668688436E-06).epsilon(1e-7));
  CHECK(*fit.sigma == Approx(1.0187876330E-01).epsilon(1e-9));
  CHECK(fit.df_residual == 12);
}

TEST_CASE("Puromycin's saturation equals R's", "[surfaces][parametric]") {
  // R 4.2: nls(rate ~ Vm * conc / (K + conc)), Bates & Watts (1988), p. 41: 212.7 and 0.0641.
  const ParametricFit fit = ParametricRuns(kConcentrations, kTreated).fit("saturation");
  CHECK(fit.estimates[0].estimate == Approx(212.683742).epsilon(1e-7));
  CHECK(*fit.estimates[0].std_error == Approx(6.94715507).epsilon(1e-6));
  CHECK(fit.estimates[1].estimate == Approx(0.06412128).epsilon(1e-6));
  CHECK(*fit.estimates[1].std_error == Approx(0.00828095).epsilon(1e-5));
  CHECK(*fit.estimates[1].t == Approx(7.743228).epsilon(1e-5));
  CHECK(*fit.sigma == Approx(10.9336582).epsilon(1e-8));
  // 2.228139 is the 95 % quantile of Student's t with 10 degrees of freedom.
  CHECK(fit.estimates[0].interval->low == Approx(212.683742 - 2.228139 * 6.94715507).epsilon(1e-6));
}

TEST_CASE("Levels have parameters of their own and share the error", "[surfaces][parametric]") {
  // R 4.2: nls(rate ~ Vm[state] * conc / (K[state] + conc), Puromycin).
  const std::vector<doe::Factor> factors{continuous("conc", 0.02, 1.1),
                                         words("state", {"treated", "untreated"})};
  Eigen::MatrixXd coded(23, 2);
  Eigen::VectorXd y(23);
  for (int i = 0; i < 23; ++i) {
    const int level = i % 2 == 0 || i == 23 ? 0 : 1;
    const int run = i / 2;
    coded.row(i) << factors[0].to_coded(kConcentrations[run]), level;
    y[i] = level == 0 ? kTreated[run] : kUntreated[run];
  }
  const ParametricFit fit = fit_parametric_model(parametric_model_named("saturation"), factors,
                                                 "conc", coded, y, "state");
  const double estimates[] = {212.683743, 0.06412128, 160.280048, 0.04770819};
  const double errors[] = {6.60809443, 0.00787679, 6.89601437, 0.00828116};
  REQUIRE(fit.estimates.size() == 4);
  for (int j = 0; j < 4; ++j) {
    CHECK(fit.estimates[j].estimate == Approx(estimates[j]).epsilon(1e-6));
    CHECK(*fit.estimates[j].std_error == Approx(errors[j]).epsilon(1e-5));
  }
  CHECK(fit.estimates[2].level == "untreated");
  CHECK(fit.df_residual == 19);
  CHECK(*fit.sigma == Approx(10.4000331685).epsilon(1e-9));
  CHECK(fit.response(Eigen::Vector2d(1, 1)) == Approx(160.280048 * 1.1 / (1.1 + 0.04770819)));
}

TEST_CASE("A published benchmark's peak of scalability is found", "[surfaces][parametric]") {
  // SPEC SDM91 throughput by users, Gunther (2007), ch. 5; R 4.2's nls on the same runs. The R
  // package usl prints contention 0.0277, coherency 0.0001044 and a peak at 96.52.
  const ParametricRuns runs({1, 18, 36, 72, 108, 144, 216},
                            {64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2});
  const ParametricFit fit = runs.fit("universal-scalability");
  const double estimates[] = {89.9952333, 0.0277284758, 0.000104365484};
  const double errors[] = {14.213490, 0.0091217325, 1.98752720e-05};
  for (int j = 0; j < 3; ++j) {
    CHECK(fit.estimates[j].estimate == Approx(estimates[j]).epsilon(1e-6));
    CHECK(*fit.estimates[j].std_error == Approx(errors[j]).epsilon(1e-5));
  }
  REQUIRE(fit.sizes.size() == 1);
  CHECK(fit.sizes[0].name == "peak");
  CHECK(fit.sizes[0].estimate == Approx(96.519561).epsilon(1e-6));
  CHECK(*fit.sizes[0].std_error == Approx(8.98795294).epsilon(1e-5));
}

TEST_CASE("Every parametric model gets the parameters back that made the runs under any transform",
          "[surfaces][parametric]") {
  const std::vector<double> powers{1, 2, 4, 8, 16, 32, 64};
  const struct {
    const char* parametric;
    std::vector<double> parameters;
  } cases[] = {{"amdahl", {120, 0.97}},
               {"amdahl", {3e-4, 0.4}},
               {"amdahl-time", {50, 0.8}},
               {"universal-scalability", {1000, 0.02, 5e-4}},
               {"universal-scalability", {1, 0.3, 1e-6}},
               {"saturation", {900, 7}},
               {"saturation", {0.99, 3}},
               {"saturation", {-3, 200}},
               {"exponential-approach", {5e6, 0.2}},
               {"exponential-approach", {0.9, 0.05}},
               {"fixed-plus-linear", {0.4, 0.03}},
               {"fixed-plus-linear", {0.4, 0.009}}};
  for (const auto& [parametric, parameters] : cases) {
    const Eigen::VectorXd truth =
        Eigen::VectorXd::Map(parameters.data(), static_cast<Eigen::Index>(parameters.size()));
    const ParametricRuns runs = runs_of(parametric, truth, powers);
    for (const Transform& transform : kTransforms) {
      const bool exists = std::all_of(runs.y.begin(), runs.y.end(),
                                      [&](double y) { return surfaces::has_value(transform, y); });
      if (!exists) continue;
      const ParametricFit fit = runs.fit(parametric, transform);
      INFO(parametric << " " << surfaces::transform_name(transform));
      for (std::size_t j = 0; j < parameters.size(); ++j) {
        CHECK(fit.estimates[j].estimate == Approx(parameters[j]).epsilon(1e-6));
      }
      CHECK(fit.notes.empty());
    }
  }
}

TEST_CASE("Gradients of parametric models and sizes equal finite differences",
          "[surfaces][parametric]") {
  for (const surfaces::ParametricModel& parametric : surfaces::parametric_models()) {
    const auto p = static_cast<Eigen::Index>(parametric.parameters.size());
    const Eigen::VectorXd at = Eigen::Vector3d(2.5, 0.3, 0.02).head(p);
    Eigen::VectorXd gradient, of_size;
    parametric.value(3, at, &gradient);
    for (Eigen::Index j = 0; j < p; ++j) {
      const Eigen::VectorXd step = 1e-6 * Eigen::VectorXd::Unit(p, j);
      const double slope =
          (parametric.value(3, at + step, nullptr) - parametric.value(3, at - step, nullptr)) /
          2e-6;
      CHECK(gradient[j] == Approx(slope).epsilon(1e-6).margin(1e-8));
      for (const surfaces::DerivedQuantity& size : parametric.sizes) {
        size.value(at, &of_size);
        const double change = size.value(at + step, nullptr) - size.value(at - step, nullptr);
        CHECK(of_size[j] == Approx(change / 2e-6).epsilon(1e-6).margin(1e-8));
      }
    }
  }
}

TEST_CASE("A linear parametric model is a least-squares line", "[surfaces][parametric]") {
  // Theory: for J = X a nonlinear fit equals the linear one.
  const ParametricRuns runs({1, 2, 3, 5, 8, 13}, {2.1, 2.9, 4.2, 5.8, 9.1, 13.8});
  const ParametricFit parametric = runs.fit("fixed-plus-linear");
  const surfaces::Fit line =
      surfaces::fit_least_squares(doe::Model::named("linear", runs.factors), runs.coded, runs.y);
  const Eigen::VectorXd x = Eigen::VectorXd::Constant(1, 0.3);
  CHECK(parametric.predict(x).mean == Approx(line.predict(x).mean).epsilon(1e-10));
  CHECK(parametric.predict(x).standard_error ==
        Approx(line.predict(x).standard_error).epsilon(1e-10));
  CHECK(parametric.predict(x).df == 4);
  CHECK(*parametric.sigma == Approx(*line.sigma).epsilon(1e-10));
  CHECK((parametric.mean_errors(runs.coded).of_runs - line.mean_errors(runs.coded).of_runs).norm() <
        1e-9);
  REQUIRE(parametric.loo_residuals);
  CHECK(parametric.loo_residuals->squaredNorm() == Approx(*line.press).epsilon(1e-9));
  CHECK(parametric.r2 == Approx(line.r2).epsilon(1e-10));
}

TEST_CASE("Intervals of a model's parameters and peak have nearly the stated coverage",
          "[surfaces][parametric]") {
  const Eigen::Vector3d truth(100, 0.03, 4e-4);
  const double peak = std::sqrt(0.97 / 4e-4);
  int of_parameter = 0, of_peak = 0;
  for (int study = 0; study < 200; ++study) {
    RandomStream random(31, study);
    ParametricRuns runs =
        runs_of("universal-scalability", truth, {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96});
    for (double& y : runs.y) y += 20 * random_normal(random);
    const ParametricFit fit = runs.fit("universal-scalability");
    REQUIRE(fit.sizes.size() == 1);
    of_parameter += covers(fit.estimates[1], 0.03);
    of_peak += covers(fit.sizes[0], peak);
  }
  // 0.95 within three binomial standard errors, 0.046, plus a margin for the linearisation.
  CHECK(of_parameter / 200.0 == Approx(0.95).margin(0.06));
  CHECK(of_peak / 200.0 == Approx(0.95).margin(0.06));
}

TEST_CASE("A parameter at the end of its range is said", "[surfaces][parametric]") {
  // Runs that increase more than proportionally: contention and coherency are 0.
  const ParametricFit fit =
      ParametricRuns({1, 2, 4, 8, 16}, {10, 20.5, 41, 84, 170}).fit("universal-scalability");
  CHECK(fit.estimates[1].at_bound);
  CHECK(fit.estimates[1].estimate == 0);
  CHECK_FALSE(fit.estimates[1].std_error);
  CHECK(fit.estimates[2].at_bound);
  CHECK(fit.estimates[0].std_error);
  CHECK(fit.sizes.empty());
  REQUIRE(fit.notes.size() == 3);
  CHECK_THAT(fit.notes[0], Catch::Contains("a lies at the end of its range, 0"));
  CHECK_THAT(fit.notes[2], Catch::Contains("there is no peak"));
}

TEST_CASE("Runs that do not identify a parametric model are refused by name",
          "[surfaces][parametric]") {
  const ParametricRuns two_settings({4, 4, 4, 8}, {1, 1.1, 0.9, 2});
  CHECK_THROWS_WITH(two_settings.fit("universal-scalability"),
                    Catch::Contains("at 2 settings of x do not identify the 3 parameters"));
  CHECK_THROWS_WITH(ParametricRuns({1, 2, 4}, {0, 0, 0}).fit("amdahl"),
                    Catch::Contains("do not identify p of the model amdahl"));
  const ParametricRuns all({1, 2, 4}, {1, 2, 3});
  CHECK_THROWS_WITH(ParametricRuns({1, 2}, {1, 2}).fit("universal-scalability"),
                    Catch::Contains("2 runs cannot determine the 3 parameters"));
  CHECK_THROWS_WITH(ParametricRuns({0, 2, 4}, {1, 2, 3}).fit("amdahl"),
                    Catch::Contains("has no value at x = 0"));
  CHECK_THROWS_WITH(
      fit_parametric_model(parametric_model_named("amdahl"), all.factors, "y", all.coded, all.y),
      Catch::Contains("there is no factor 'y'"));
  CHECK_THROWS_WITH(fit_parametric_model(parametric_model_named("amdahl"), {words("w", {"a", "b"})},
                                         "w", all.coded, all.y),
                    Catch::Contains("needs a numeric factor"));
  CHECK_THROWS_WITH(parametric_model_named("amdal"), Catch::Contains("did you mean 'amdahl'"));
  CHECK_THROWS_AS(ParametricRuns({1, 2, 4}, {1, std::nan(""), 3}).fit("amdahl"),
                  surfaces::FitError);
  // As many runs as parameters: estimates, but no standard errors.
  const ParametricFit exact = ParametricRuns({1, 4}, {1, 3}).fit("amdahl");
  CHECK_FALSE(exact.sigma);
  CHECK_FALSE(exact.estimates[0].std_error);
  CHECK_FALSE(exact.loo_residuals);
  // Without its run at x = 4 the second data set has only one setting left.
  CHECK_FALSE(ParametricRuns({1, 1, 1, 4}, {1, 1.1, 0.9, 3}).fit("amdahl").loo_residuals);
  CHECK_FALSE(exact.predict(Eigen::VectorXd::Zero(1)).confidence_interval());
}
