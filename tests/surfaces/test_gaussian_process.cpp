#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "surfaces/models/gaussian_process.h"
#include "surfaces/models/kriging.h"
#include "surfaces/models/limit_slack.h"
#include "tests/doe/factors.h"
#include "tests/surfaces/random_normal.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::fit_gaussian_process;
using surfaces::GaussianProcess;
using surfaces::GaussianProcessParameters;

namespace {

doe::Model constant_mean(const std::vector<doe::Factor>& factors) {
  return doe::Model::parse({"1"}, factors);
}

Eigen::MatrixXd uniform_points(int n, int k, RandomStream& random) {
  return Eigen::MatrixXd::NullaryExpr(n, k, [&] { return 2 * random.uniform() - 1; });
}

/// Twelve runs of two factors, five of them at two points.
struct MeasuredRuns {
  Eigen::MatrixXd coded{12, 2};
  Eigen::VectorXd y{12};

  MeasuredRuns() {
    coded << -1, -1, 1, -1, -1, 1, 1, 1, 0, 0, 0, 0, 0, 0, -0.5, 0.25, 0.25, -0.75, 0.75, 0.5, 0.75,
        0.5, -0.25, 0.75;
    y << 3.1, 4.7, 2.2, 6.9, 5.0, 5.2, 4.9, 3.6, 4.4, 6.6, 6.3, 3.9;
  }
};

GaussianProcess with_given_parameters(const Eigen::MatrixXd& coded, const Eigen::VectorXd& y) {
  return fit_gaussian_process(constant_mean(unit_factors(2)), coded, y,
                              {.parameters = GaussianProcessParameters{{0.8, 1.7}, 0.05}});
}

/// Two numeric factors and one with three levels; 20 runs at 14 points.
struct MixedRuns {
  std::vector<doe::Factor> factors{continuous("a"), continuous("b"), words("w", {"x", "y", "z"})};
  doe::Model model = doe::Model::named("linear", factors);
  Eigen::MatrixXd coded{20, 3};
  Eigen::VectorXd y{20};
  GaussianProcessParameters parameters{{0.7, 1.9, 0.4}, 0.02};

  MixedRuns() {
    RandomStream random(11, 0);
    for (int i = 0; i < 20; ++i) {
      if (i < 14) coded.row(i) << 2 * random.uniform() - 1, 2 * random.uniform() - 1, i % 3;
      if (i >= 14) coded.row(i) = coded.row(i % 4);
      y[i] = std::sin(2 * coded(i, 0)) + coded(i, 1) + (coded(i, 2) == 1) +
             0.1 * random_normal(random);
    }
  }
};

/// The correlation as documented in correlation.h, for two points.
double stated_correlation(const MixedRuns& runs, const Eigen::RowVectorXd& p,
                          const Eigen::RowVectorXd& q) {
  const std::vector<double>& l = runs.parameters.correlations;
  const double s =
      std::sqrt(5 * (std::pow((p[0] - q[0]) / l[0], 2) + std::pow((p[1] - q[1]) / l[1], 2)));
  return (1 + s + s * s / 3) * std::exp(-s) * (p[2] == q[2] ? 1 : l[2]);
}

Eigen::MatrixXd stated_correlations(const MixedRuns& runs, const Eigen::MatrixXd& p,
                                    const Eigen::MatrixXd& q) {
  Eigen::MatrixXd r(p.rows(), q.rows());
  for (int i = 0; i < p.rows(); ++i) {
    for (int j = 0; j < q.rows(); ++j) r(i, j) = stated_correlation(runs, p.row(i), q.row(j));
  }
  return r;
}

surfaces::GroupedRuns grouped_by_hand(const MixedRuns& runs) {
  surfaces::GroupedRuns groups;
  groups.factors = runs.factors;
  groups.n = 20;
  groups.points = runs.coded.topRows(14);
  groups.mean_terms = runs.model.matrix(groups.points);
  groups.runs_at = Eigen::VectorXi::Ones(14);
  groups.responses = runs.y.head(14);
  for (int i = 0; i < 20; ++i) groups.point_of_run.push_back(i < 14 ? i : i % 4);
  for (int i = 14; i < 20; ++i) {
    ++groups.runs_at[i % 4];
    groups.responses[i % 4] += runs.y[i];
  }
  groups.responses.array() /= groups.runs_at.cast<double>().array();
  groups.pure_error = (runs.y - groups.responses(groups.point_of_run)).squaredNorm();
  return groups;
}

}  // namespace

TEST_CASE("Likelihood and predictions equal scikit-learn's", "[surfaces][gp]") {
  // scikit-learn 1.9.1: GaussianProcessRegressor(ConstantKernel(s2) * Matern([0.8, 1.7], nu=2.5) +
  // ConstantKernel(1e7) + WhiteKernel(0.05 s2), optimizer=None, alpha=0): the large constant is
  // a flat prior of the mean. Log likelihood: log_marginal_likelihood + ln(2 pi 1e7) / 2. Standard
  // errors: predict(return_std=True) less the white noise. s2 = y'Py / 11 by numpy.
  const MeasuredRuns runs;
  const GaussianProcess fit = with_given_parameters(runs.coded, runs.y);
  CHECK(fit.points.rows() == 9);
  CHECK(fit.process_sigma == Approx(1.2439839761170928).epsilon(1e-12));
  CHECK(fit.log_likelihood == Approx(-11.83979996).margin(3e-6));
  const double at[3][2] = {{0.3, -0.2}, {-0.8, 0.6}, {1.0, 0.0}};
  const double means[] = {5.2111934, 2.6470007, 5.9847667};
  const double errors[] = {0.29522354, 0.32267649, 0.44163828};
  for (int i = 0; i < 3; ++i) {
    const surfaces::Prediction p = fit.predict(Eigen::Vector2d(at[i][0], at[i][1]));
    CHECK(p.mean == Approx(means[i]).epsilon(2e-7));
    CHECK(p.standard_error == Approx(errors[i]).epsilon(2e-7));
    CHECK(p.df == 11);
    CHECK(fit.response(Eigen::Vector2d(at[i][0], at[i][1])) == p.mean);
  }
  // The same with each run left out in turn.
  const double left_out[] = {-0.54261358, -0.19449848, -1.15588029, 0.74679291,
                             0.04751359,  0.33092925,  -0.09419424, 0.16879676,
                             -0.70349854, 0.29040488,  -0.24262387, -0.52201986};
  const double deviations[] = {1.10772422, 1.00791397, 0.96960771, 0.69207663,
                               0.33112861, 0.33112861, 0.33112861, 0.56096612,
                               0.65641956, 0.37077845, 0.37077845, 0.58226808};
  for (int i = 0; i < 12; ++i) {
    CHECK(fit.loo_residuals[i] == Approx(left_out[i]).epsilon(1e-5));
    CHECK(fit.standardised_loo_residuals[i] == Approx(left_out[i] / deviations[i]).epsilon(1e-5));
  }
}

TEST_CASE("Grouped runs give what the formulas over all runs give", "[surfaces][gp]") {
  const MixedRuns runs;
  const GaussianProcess fit =
      fit_gaussian_process(runs.model, runs.coded, runs.y, {.parameters = runs.parameters});
  const Eigen::MatrixXd f = runs.model.matrix(runs.coded);
  const Eigen::MatrixXd v = stated_correlations(runs, runs.coded, runs.coded) +
                            runs.parameters.noise_ratio * Eigen::MatrixXd::Identity(20, 20);
  const Eigen::MatrixXd v_inverse = v.inverse();
  const Eigen::MatrixXd information = f.transpose() * v_inverse * f;
  const Eigen::MatrixXd projection =
      v_inverse - v_inverse * f * information.inverse() * f.transpose() * v_inverse;
  const double variance = runs.y.dot(projection * runs.y) / (20 - 5);
  CHECK(fit.process_sigma == Approx(std::sqrt(variance)).epsilon(1e-10));
  const double two_log = 15 * (std::log(2 * std::numbers::pi * variance) + 1) +
                         std::log(v.determinant()) + std::log(information.determinant());
  CHECK(fit.log_likelihood == Approx(-0.5 * two_log).epsilon(1e-10));
  CHECK(fit.points.rows() == 14);

  RandomStream random(12, 0);
  Eigen::MatrixXd at = uniform_points(6, 3, random);
  at.col(2) << 0, 1, 2, 0, 1, 2;
  const Eigen::MatrixXd r = stated_correlations(runs, runs.coded, at);
  const Eigen::MatrixXd gap = runs.model.matrix(at).transpose() - f.transpose() * v_inverse * r;
  const Eigen::VectorXd means =
      runs.model.matrix(at) * information.inverse() * f.transpose() * v_inverse * runs.y +
      r.transpose() * projection * runs.y;
  const Eigen::MatrixXd covariance =
      variance * (stated_correlations(runs, at, at) - r.transpose() * v_inverse * r +
                  gap.transpose() * information.inverse() * gap);
  for (int i = 0; i < 6; ++i) {
    const surfaces::Prediction p = fit.predict(at.row(i).transpose());
    CHECK(p.mean == Approx(means[i]).epsilon(1e-9));
    CHECK(p.standard_error == Approx(std::sqrt(covariance(i, i))).epsilon(1e-9));
  }
  const surfaces::MeanErrors errors = fit.mean_errors(at);
  const Eigen::MatrixXd joint =
      errors.of_runs * errors.of_runs.transpose() + errors.own * errors.own.transpose();
  CHECK((joint - covariance).norm() < 1e-10 * covariance.norm());
  // of_runs is the change of the mean when a run changes by one standard deviation.
  Eigen::VectorXd moved = runs.y;
  moved[15] += fit.sigma;
  const GaussianProcess other =
      fit_gaussian_process(runs.model, runs.coded, moved, {.parameters = runs.parameters});
  for (int i = 0; i < 6; ++i) {
    CHECK(other.response(at.row(i).transpose()) - means[i] ==
          Approx(errors.of_runs(i, 15)).epsilon(1e-7).margin(1e-10));
  }
}

TEST_CASE("Leave-one-out residuals equal those of fits without the run", "[surfaces][gp]") {
  const MixedRuns runs;
  const GaussianProcess fit =
      fit_gaussian_process(runs.model, runs.coded, runs.y, {.parameters = runs.parameters});
  for (int left_out = 0; left_out < 20; ++left_out) {
    std::vector<int> kept;
    for (int i = 0; i < 20; ++i) {
      if (i != left_out) kept.push_back(i);
    }
    const GaussianProcess rest = fit_gaussian_process(
        runs.model, runs.coded(kept, Eigen::all), runs.y(kept), {.parameters = runs.parameters});
    const surfaces::Prediction p = rest.predict(runs.coded.row(left_out).transpose());
    const double residual = runs.y[left_out] - p.mean;
    CHECK(fit.loo_residuals[left_out] == Approx(residual).epsilon(1e-8));
    const double deviation =
        std::hypot(p.standard_error, p.sigma) * fit.process_sigma / rest.process_sigma;
    CHECK(fit.standardised_loo_residuals[left_out] == Approx(residual / deviation).epsilon(1e-8));
  }
}

TEST_CASE("The likelihood's gradient equals its finite differences", "[surfaces][gp]") {
  const MixedRuns mixed;
  const surfaces::GroupedRuns runs = grouped_by_hand(mixed);
  for (const double shift : {-0.8, 0.0, 1.1}) {
    Eigen::VectorXd at(4);
    at << shift - 0.4, shift + 0.6, shift, shift - 3;
    const Eigen::VectorXd gradient =
        surfaces::likelihood_gradient(runs, *surfaces::solve_kriging(runs, at), at);
    for (int i = 0; i < 4; ++i) {
      const double h = 1e-5;
      Eigen::VectorXd up = at, down = at;
      up[i] += h;
      down[i] -= h;
      const double slope = (surfaces::solve_kriging(runs, up)->log_likelihood -
                            surfaces::solve_kriging(runs, down)->log_likelihood) /
                           (2 * h);
      CHECK(gradient[i] == Approx(slope).epsilon(1e-6).margin(1e-6));
    }
  }
}

TEST_CASE("No random parameters are likelier than the estimated ones", "[surfaces][gp]") {
  const MixedRuns mixed;
  const surfaces::GroupedRuns runs = grouped_by_hand(mixed);
  // Likelihood times the priors documented at fit_gaussian_process, two numeric factors.
  const auto posterior = [&](const Eigen::Vector4d& p) {
    const Eigen::Vector4d centre(std::log(2 * std::sqrt(2)), std::log(2 * std::sqrt(2)),
                                 std::log(std::numbers::ln2), std::log(0.01));
    const Eigen::Vector4d scores = (p - centre).cwiseQuotient(Eigen::Vector4d(1.5, 1.5, 1.5, 3));
    const auto solved = surfaces::solve_kriging(runs, p);
    return solved ? solved->log_likelihood - 0.5 * scores.squaredNorm() : -1e300;
  };
  const GaussianProcess fit = fit_gaussian_process(mixed.model, mixed.coded, mixed.y);
  const std::vector<double>& c = fit.parameters.correlations;
  const double best = posterior({std::log(c[0]), std::log(c[1]), std::log(-std::log(c[2])),
                                 std::log(fit.parameters.noise_ratio)});
  RandomStream random(13, 0);
  for (int draw = 0; draw < 500; ++draw) {
    const Eigen::Vector4d p(4 * random.uniform() - 1, 4 * random.uniform() - 1,
                            5 * random.uniform() - 3, 10 * random.uniform() - 9);
    CHECK(posterior(p) < best + 1e-6);
  }
}

TEST_CASE("The likelihood with a nugget changes as its gradient says", "[surfaces][gp]") {
  const MixedRuns mixed;
  const surfaces::GroupedRuns runs = grouped_by_hand(mixed);
  for (const double shift : {-0.8, 0.0, 1.1}) {
    Eigen::VectorXd at(5);
    at << shift - 0.4, shift + 0.6, shift, 2 * shift, shift - 3;
    const Eigen::VectorXd gradient =
        surfaces::likelihood_gradient(runs, *surfaces::solve_kriging(runs, at), at);
    for (int i = 0; i < 5; ++i) {
      const double h = 1e-5;
      Eigen::VectorXd up = at, down = at;
      up[i] += h;
      down[i] -= h;
      const double slope = (surfaces::solve_kriging(runs, up)->log_likelihood -
                            surfaces::solve_kriging(runs, down)->log_likelihood) /
                           (2 * h);
      CHECK(gradient[i] == Approx(slope).epsilon(1e-6).margin(1e-6));
    }
  }
}

TEST_CASE("With a nugget a process has a value of its own at the points of its runs",
          "[surfaces][gp]") {
  // Theory: universal kriging with covariance R + h [x = x'], computed over all runs.
  const MixedRuns runs;
  GaussianProcessParameters parameters = runs.parameters;
  parameters.nugget = 0.3;
  const GaussianProcess fit =
      fit_gaussian_process(runs.model, runs.coded, runs.y, {.parameters = parameters});
  const auto with_own = [](Eigen::MatrixXd r, const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      for (Eigen::Index j = 0; j < b.rows(); ++j) r(i, j) += a.row(i) == b.row(j) ? 0.3 : 0;
    }
    return r;
  };
  const Eigen::MatrixXd f = runs.model.matrix(runs.coded);
  const Eigen::MatrixXd v =
      with_own(stated_correlations(runs, runs.coded, runs.coded), runs.coded, runs.coded) +
      parameters.noise_ratio * Eigen::MatrixXd::Identity(20, 20);
  const Eigen::MatrixXd v_inverse = v.inverse();
  const Eigen::MatrixXd information = f.transpose() * v_inverse * f;
  const Eigen::MatrixXd projection =
      v_inverse - v_inverse * f * information.inverse() * f.transpose() * v_inverse;
  const double sigma = std::sqrt(runs.y.dot(projection * runs.y) / (20 - 5));
  CHECK(fit.process_sigma == Approx(sigma).epsilon(1e-10));

  Eigen::MatrixXd at = runs.coded.topRows(4);  // two of runs, two that are nowhere else
  at.bottomRows(2).leftCols(2).array() += 0.01;
  const Eigen::MatrixXd smooth = stated_correlations(runs, runs.coded, at);
  const auto agrees = [&](const GaussianProcess& process, const Eigen::MatrixXd& r, double own) {
    const Eigen::MatrixXd gap = runs.model.matrix(at).transpose() - f.transpose() * v_inverse * r;
    const Eigen::VectorXd means =
        runs.model.matrix(at) * information.inverse() * f.transpose() * v_inverse * runs.y +
        r.transpose() * projection * runs.y;
    const Eigen::MatrixXd explained = r.transpose() * v_inverse * r;
    const Eigen::MatrixXd of_mean = gap.transpose() * information.inverse() * gap;
    const surfaces::MeanErrors errors = process.mean_errors(at);
    const Eigen::MatrixXd covariance =
        errors.of_runs * errors.of_runs.transpose() + errors.own * errors.own.transpose();
    for (int i = 0; i < 4; ++i) {
      const surfaces::Prediction p = process.predict(at.row(i).transpose());
      const double error = sigma * std::sqrt(1 + own - explained(i, i) + of_mean(i, i));
      CHECK(p.mean == Approx(means[i]).epsilon(1e-9));
      CHECK(p.standard_error == Approx(error).epsilon(1e-9));
      CHECK(std::sqrt(covariance(i, i)) == Approx(error).epsilon(1e-7));
    }
  };
  agrees(fit, with_own(smooth, runs.coded, at), 0.3);
  agrees(fit.smooth(), smooth, 0);
}

TEST_CASE("A covariance has a root, also where it is singular or rounded", "[surfaces][gp]") {
  // The definition: root root' = covariance.
  RandomStream random(3, 0);
  const Eigen::MatrixXd half = uniform_points(60, 5, random);
  const Eigen::MatrixXd singular = half * half.transpose();
  const auto misses = [](const Eigen::MatrixXd& covariance) {
    const Eigen::MatrixXd root = surfaces::covariance_root(covariance);
    return (root * root.transpose() - covariance).cwiseAbs().maxCoeff();
  };
  const double largest = singular.diagonal().maxCoeff();
  CHECK(misses(singular) < 2e-11 * largest);
  CHECK(misses(singular + Eigen::MatrixXd::Identity(60, 60)) < 2e-11 * (largest + 1));
  // No covariance, by more than what is added to the variances: as near as there is one.
  CHECK(misses(singular - 1e-6 * largest * Eigen::MatrixXd::Identity(60, 60)) < 1e-4 * largest);
  CHECK(surfaces::covariance_root(Eigen::MatrixXd::Zero(3, 3)).isZero(0));
}

TEST_CASE("Replicates tell a nugget from noise", "[surfaces][gp]") {
  // Simulation: at 40 points, four times each, a slope plus errors of the points or of the runs.
  const std::vector<doe::Factor> factors = unit_factors(2);
  RandomStream random(16, 0);
  const Eigen::MatrixXd points = uniform_points(40, 2, random);
  const Eigen::MatrixXd coded = points.replicate(4, 1);
  for (const bool with_nugget : {true, false}) {
    const double of_points = with_nugget ? 0.5 : 0.05, of_runs = with_nugget ? 0.05 : 0.5;
    Eigen::VectorXd y(160);
    for (int i = 0; i < 40; ++i) {
      const double own = of_points * random_normal(random);
      for (const int run : {i, i + 40, i + 80, i + 120}) {
        y[run] = 3 * points(i, 0) + own + of_runs * random_normal(random);
      }
    }
    const GaussianProcess fit =
        fit_gaussian_process(constant_mean(factors), coded, y, {.with_nugget = true});
    const double own = fit.process_sigma * std::sqrt(fit.parameters.nugget);
    CHECK(fit.sigma == Approx(of_runs).epsilon(0.25));
    if (with_nugget) {
      CHECK(own == Approx(of_points).epsilon(0.25));
    } else {
      CHECK(own < 0.2);
    }
  }
}

TEST_CASE("Without noise a Gaussian process passes through the runs", "[surfaces][gp]") {
  const std::vector<doe::Factor> factors = unit_factors(2);
  RandomStream random(14, 0);
  const Eigen::MatrixXd coded = uniform_points(40, 2, random);
  const auto truth = [](double a, double b) { return std::sin(2 * a) * std::exp(b / 2) + 10; };
  Eigen::VectorXd y(40);
  for (int i = 0; i < 40; ++i) y[i] = truth(coded(i, 0), coded(i, 1));
  const GaussianProcess fit = fit_gaussian_process(constant_mean(factors), coded, y);
  for (int i = 0; i < 40; ++i) {
    const surfaces::Prediction p = fit.predict(coded.row(i).transpose());
    CHECK(p.mean == Approx(y[i]).margin(1e-3));
    CHECK(p.standard_error < 2e-3);
  }
  CHECK(fit.response(Eigen::Vector2d(0.3, -0.4)) == Approx(truth(0.3, -0.4)).margin(0.02));
}

TEST_CASE("Intervals of a process with known parameters cover as they say", "[surfaces][gp]") {
  // Theory: with known correlation, (Z - mean) / error is exactly Student's t with n - q degrees of
  // freedom.
  const std::vector<doe::Factor> factors = unit_factors(1);
  const GaussianProcessParameters parameters{{0.6}, 0.1};
  RandomStream random(15, 0);
  const Eigen::VectorXd coded = uniform_points(7, 1, random);
  const Eigen::MatrixXd r =
      surfaces::Correlation(factors, Eigen::VectorXd::Constant(1, std::log(0.6)))
          .matrix(coded, coded);
  const Eigen::MatrixXd root = Eigen::LLT<Eigen::MatrixXd>(r).matrixL();
  int surface = 0, run = 0;
  const int draws = 2000;
  for (int draw = 0; draw < draws; ++draw) {
    Eigen::VectorXd u(7), e(7);
    for (int i = 0; i < 7; ++i)
      u[i] = random_normal(random), e[i] = std::sqrt(0.1) * random_normal(random);
    const Eigen::VectorXd truth = root * u;
    const GaussianProcess fit = fit_gaussian_process(
        constant_mean(factors), coded.head(6), (truth + e).head(6), {.parameters = parameters});
    const surfaces::Prediction p = fit.predict(coded.tail(1));
    surface += std::abs(truth[6] - p.mean) <= p.confidence_interval(0.9)->high - p.mean;
    run += std::abs(truth[6] + e[6] - p.mean) <= p.prediction_interval(0.9)->high - p.mean;
  }
  const double three_errors = 3 * std::sqrt(0.09 / draws);
  CHECK(surface / double{draws} == Approx(0.9).margin(three_errors));
  CHECK(run / double{draws} == Approx(0.9).margin(three_errors));
}

TEST_CASE("Intervals with estimated parameters cover nearly as they say", "[surfaces][gp]") {
  const std::vector<doe::Factor> factors = unit_factors(2);
  int covered = 0, inside = 0;
  for (int study = 0; study < 20; ++study) {
    RandomStream random(16, study);
    const double phase = 6 * random.uniform(), slope = 4 * random.uniform();
    const auto truth = [&](const Eigen::VectorXd& x) {
      return std::sin(slope * x[0] + phase) + x[0] * x[1];
    };
    const Eigen::MatrixXd coded = uniform_points(30, 2, random);
    Eigen::VectorXd y(30);
    for (int i = 0; i < 30; ++i) y[i] = truth(coded.row(i)) + 0.2 * random_normal(random);
    const GaussianProcess fit = fit_gaussian_process(constant_mean(factors), coded, y);
    for (int i = 0; i < 30; ++i) {
      const Eigen::VectorXd x = uniform_points(2, 1, random);
      const auto interval = *fit.predict(x).confidence_interval(0.9);
      covered += interval.low <= truth(x) && truth(x) <= interval.high;
    }
    inside += static_cast<int>(std::lround(30 * fit.loo_coverage(0.9)));
  }
  // 600 points, correlated within each study; 0.9 within four standard errors of 60 independent
  // ones.
  CHECK(covered / 600.0 > 0.8);
  CHECK(covered / 600.0 < 0.97);
  CHECK(inside / 600.0 == Approx(0.9).margin(0.06));
}

TEST_CASE("A Gaussian process follows a step that a quadratic misses", "[surfaces][gp]") {
  const std::vector<doe::Factor> factors = unit_factors(2);
  const auto truth = [](double a, double b) { return std::tanh(5 * (a + 0.5 * b)); };
  Eigen::MatrixXd coded(40, 2);
  for (int i = 0; i < 36; ++i) coded.row(i) << i % 6 * 0.4 - 1, i / 6 * 0.4 - 1;
  coded.bottomRows(4) = coded.topRows(4);
  Eigen::VectorXd y(40);
  RandomStream random(17, 0);
  for (int i = 0; i < 40; ++i)
    y[i] = truth(coded(i, 0), coded(i, 1)) + 0.02 * random_normal(random);
  const surfaces::Fit quadratic =
      surfaces::fit_least_squares(doe::Model::named("quadratic", factors), coded, y);
  REQUIRE(quadratic.lack_of_fit);
  CHECK(quadratic.lack_of_fit->p < 0.01);
  const GaussianProcess fit = fit_gaussian_process(constant_mean(factors), coded, y);
  double of_fit = 0, of_quadratic = 0;
  for (int i = 0; i < 400; ++i) {
    const Eigen::Vector2d x(i % 20 / 9.5 - 1, i / 20 / 9.5 - 1);
    of_fit += std::pow(fit.response(x) - truth(x[0], x[1]), 2);
    of_quadratic += std::pow(quadratic.response(x) - truth(x[0], x[1]), 2);
  }
  CHECK(of_fit < 0.1 * of_quadratic);
  CHECK(*fit.predicted_r2 > *quadratic.predicted_r2);
}

TEST_CASE("Replicates determine the noise", "[surfaces][gp]") {
  // 20 points with 5 runs each: pure error has 80 degrees of freedom, its root 8 % standard error.
  const std::vector<doe::Factor> factors = unit_factors(1);
  RandomStream random(18, 0);
  Eigen::MatrixXd coded(100, 1);
  Eigen::VectorXd y(100);
  for (int i = 0; i < 100; ++i) {
    coded(i, 0) = i % 20 / 9.5 - 1;
    y[i] = std::sin(5 * coded(i, 0)) + 0.3 * random_normal(random);
  }
  const GaussianProcess fit = fit_gaussian_process(constant_mean(factors), coded, y);
  CHECK(fit.points.rows() == 20);
  CHECK(fit.sigma == Approx(0.3).epsilon(0.25));
}

TEST_CASE("Correlations show which factors and levels matter", "[surfaces][gp]") {
  const std::vector<doe::Factor> factors{continuous("a"), continuous("idle"),
                                         words("alike", {"x", "y", "z"}),
                                         words("apart", {"u", "v"})};
  RandomStream random(19, 0);
  Eigen::MatrixXd coded(72, 4);
  coded.leftCols(2) = uniform_points(72, 2, random);
  Eigen::VectorXd y(72);
  for (int i = 0; i < 72; ++i) {
    coded.row(i).tail(2) << i % 3, i / 3 % 2;
    y[i] = std::sin((coded(i, 3) == 0 ? 3 : -5) * coded(i, 0)) + 0.05 * random_normal(random);
  }
  const GaussianProcess fit = fit_gaussian_process(constant_mean(factors), coded, y);
  const std::vector<double>& c = fit.parameters.correlations;
  CHECK(c[1] > 10 * c[0]);
  CHECK(c[2] > 0.95);
  CHECK(c[3] < 0.5);
}

TEST_CASE("Few runs of mere noise give a plain surface and finite intervals", "[surfaces][gp]") {
  // The priors keep length scales away from 0 (spikes at the runs) and from infinity.
  for (int study = 0; study < 10; ++study) {
    RandomStream random(20, study);
    const Eigen::MatrixXd coded = uniform_points(6, 3, random);
    Eigen::VectorXd y(6);
    for (double& value : y) value = random_normal(random);
    const GaussianProcess fit = fit_gaussian_process(constant_mean(unit_factors(3)), coded, y);
    for (const double scale : fit.parameters.correlations) {
      CHECK(scale > 0.05);
      CHECK(scale < 500);
    }
    const auto interval = fit.predict(Eigen::Vector3d::Zero()).confidence_interval();
    REQUIRE(interval);
    CHECK(interval->high - interval->low < 50);
  }
}

TEST_CASE("A transformed Gaussian process predicts in the response's unit", "[surfaces][gp]") {
  const MeasuredRuns runs;
  const GaussianProcess fit = fit_gaussian_process(
      constant_mean(unit_factors(2)), runs.coded, runs.y.array().exp().matrix(),
      {.transform = surfaces::Transform::kLog,
       .parameters = GaussianProcessParameters{{0.8, 1.7}, 0.05}});
  const Eigen::Vector2d x(0.3, -0.2);
  CHECK(fit.response(x) ==
        Approx(std::exp(with_given_parameters(runs.coded, runs.y).response(x))).epsilon(1e-12));
}

TEST_CASE("A Gaussian process does not depend on the number of threads", "[surfaces][gp]") {
  const MixedRuns runs;
  const GaussianProcess one = fit_gaussian_process(runs.model, runs.coded, runs.y, {.threads = 1});
  const GaussianProcess four = fit_gaussian_process(runs.model, runs.coded, runs.y, {.threads = 4});
  CHECK(one.parameters.correlations == four.parameters.correlations);
  CHECK(one.weights == four.weights);
}

TEST_CASE("What a Gaussian process cannot be fitted to is refused", "[surfaces][gp]") {
  const std::vector<doe::Factor> factors = unit_factors(1);
  const doe::Model mean = constant_mean(factors);
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(6, -1, 1);
  CHECK_THROWS_WITH(fit_gaussian_process(mean, x, Eigen::VectorXd::Constant(6, 0.1)),
                    Catch::Contains("does not vary beyond its mean"));
  CHECK_THROWS_WITH(fit_gaussian_process(doe::Model::named("linear", factors), x, 3 * x),
                    Catch::Contains("does not vary beyond its mean"));
  CHECK_THROWS_WITH(fit_gaussian_process(mean, x.head(2), x.head(2)),
                    Catch::Contains("2 runs cannot determine"));
  Eigen::VectorXd bad = x;
  bad[0] = std::nan("");
  CHECK_THROWS_WITH(fit_gaussian_process(mean, x, bad), Catch::Contains("not a finite number"));
  CHECK_THROWS_WITH(
      fit_gaussian_process(doe::Model::named("linear", factors), Eigen::VectorXd::Zero(6), x),
      Catch::Contains("do not determine the mean"));
  CHECK_THROWS_WITH(fit_gaussian_process(doe::Model(factors, {}), x, x),
                    Catch::Contains("needs a term"));
  const auto with = [&](GaussianProcessParameters parameters) {
    return fit_gaussian_process(mean, x, x, {.parameters = std::move(parameters)});
  };
  CHECK_THROWS_WITH(with({{-1}, 0.1}), Catch::Contains("out of range for factor a"));
  CHECK_THROWS_WITH(with({{1, 1}, 0.1}), Catch::Contains("2 correlation parameters"));
  CHECK_THROWS_WITH(with({{1}, 0}), Catch::Contains("noise ratio"));
}

TEST_CASE("A limit has slack where runs have no error", "[surfaces][gaussian_process]") {
  using surfaces::limit_slack;
  const std::vector<doe::Factor> factors{continuous("a"), continuous("b")};
  RandomStream random(8, 0);
  const Eigen::MatrixXd coded = uniform_points(20, 2, random);
  const Eigen::VectorXd exact = (8 + 5 * coded.col(0).array() + 4 * coded.col(1).array()).round();
  Eigen::VectorXd smooth = 8 + 5 * coded.col(0).array() + 4 * coded.col(1).array();
  const auto fitted = [&](const Eigen::VectorXd& y) {
    return fit_gaussian_process(constant_mean(factors), coded, y, {.with_nugget = true});
  };
  const double measured = smooth[0];
  const surfaces::Goal at_least{surfaces::GoalType::kAtLeast, measured};
  const GaussianProcess process = fitted(smooth);
  surfaces::Goal goal = at_least;
  goal.slack = limit_slack(goal, process);
  CHECK(goal.slack > 0);
  CHECK(goal.slack < 1e-3 * (smooth.maxCoeff() - smooth.minCoeff()));
  // By three standard errors more than an even chance.
  const auto chance = [&](const surfaces::Goal& of) {
    return *process.predict(coded.row(0).transpose())
                .probability_within(of.met_low(), of.met_high());
  };
  CHECK(chance(at_least) < 0.9);
  CHECK(chance(goal) > 0.95);
  // None where no run has given exactly the limit.
  CHECK(limit_slack({surfaces::GoalType::kAtLeast, measured + goal.slack / 8}, process) == 0);
  // What was measured to miss the limit, by less than that, still does.
  Eigen::MatrixXd closer = coded;
  Eigen::VectorXd missing = smooth;
  closer.row(1) = coded.row(0);
  closer(1, 0) -= goal.slack / 8 / 5;
  missing[1] = measured - goal.slack / 8;
  const double at_most = goal.slack / 16 * (1 + 1e-6);
  const auto missed =
      fit_gaussian_process(constant_mean(factors), closer, missing, {.with_nugget = true});
  CHECK(limit_slack(at_least, missed) > 0);
  CHECK(limit_slack(at_least, missed) <= at_most);
  // Neither is there any for a ramp, or where runs scatter.
  CHECK(limit_slack({surfaces::GoalType::kMaximize, 0, 10}, process) == 0);
  for (double& y : smooth) y += 0.2 * random_normal(random);
  CHECK(limit_slack(at_least, fitted(smooth)) == 0);
  CHECK(limit_slack(at_least, fitted(exact)) == 0);  // steps of 1 look like scatter
}
