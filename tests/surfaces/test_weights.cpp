#include <algorithm>
#include <catch2/catch.hpp>

#include "surfaces/fit.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Fit;
using surfaces::fit_least_squares;

namespace {

const std::vector<doe::Factor> kFactors{continuous("a"), continuous("b")};

struct Data {
  Eigen::MatrixXd x{10, 2};
  Eigen::VectorXd y{10}, w{10};

  Data() {
    x.col(0) << -1, -1, 1, 1, 0, 0, 0, -1, 1, 0.5;
    x.col(1) << -1, 1, -1, 1, 0, 0, 0.5, 0.5, -0.5, 1;
    y << 3.1, 4.7, 5.2, 9.9, 5.1, 5.3, 6.4, 4.2, 6.1, 8.3;
    w << 1, 2, 1, 0.5, 4, 1, 3, 1, 2, 0.25;
  }
};

const surfaces::AnovaRow& weighted_row(const Fit& fit, const std::string& source) {
  return *std::find_if(fit.anova.begin(), fit.anova.end(),
                       [&](const surfaces::AnovaRow& row) { return row.source == source; });
}

Approx digits(double value) { return Approx(value).epsilon(1e-11); }

}  // namespace

TEST_CASE("A weighted fit is that of R's lm with weights", "[surfaces][weights]") {
  // Reference: R 4.2, f <- lm(y ~ x1 * x2, weights = w): summary, hatvalues, rstandard, logLik,
  // anova, predict; PRESS as sum(w * (residuals(f) / (1 - hatvalues(f)))^2).
  const Data data;
  const Fit fit = fit_least_squares(doe::Model::named("interactions", kFactors), data.x, data.y,
                                    {.weights = data.w});
  const double estimates[] = {5.451248016821447, 1.757976172908459, 1.602067801229554,
                              0.687490035564825};
  const double errors[] = {0.101656163474043, 0.152640766218299, 0.172418964871808,
                           0.176073061081357};
  for (int c = 0; c < 4; ++c) {
    CHECK(fit.coefficients[c].estimate == digits(estimates[c]));
    CHECK(*fit.coefficients[c].std_error == digits(errors[c]));
  }
  CHECK(*fit.coefficients[3].p == digits(7.94195415319713e-03));
  CHECK(*fit.sigma == digits(0.379967155908808));
  CHECK(fit.r2 == digits(0.964303575311026));
  CHECK(*fit.adjusted_r2 == digits(0.946455362966539));
  CHECK(*fit.press == digits(5.06828706797134));
  CHECK(*fit.aicc == digits(27.1253457208839));
  CHECK(fit.leverage[0] == digits(0.8176040590642994));
  CHECK(fit.leverage[9] == digits(0.1235109832964646));
  CHECK(fit.studentised_residuals[0] == digits(1.9799995293443244));
  CHECK(fit.studentised_residuals[4] == digits(-2.1884809451749909));
  CHECK(weighted_row(fit, "first order").sum_of_squares ==
        digits(10.102863897332 + 11.096932123036));
  CHECK(weighted_row(fit, "two-way interactions").sum_of_squares == digits(2.201096599358));
  CHECK(*weighted_row(fit, "two-way interactions").f == digits(15.24569).epsilon(1e-6));
  CHECK(weighted_row(fit, "residual").sum_of_squares == digits(0.866250237417));

  const surfaces::Prediction at = fit.predict(Eigen::Vector2d(0.3, -0.2));
  CHECK(at.mean == digits(5.61697790631418));
  CHECK(at.confidence_interval()->low == digits(5.34369103995219));
  CHECK(at.prediction_interval()->high == digits(6.58605663907701));  // of a run of weight 1
}

TEST_CASE("Blocks and lack of fit use weights", "[surfaces][weights]") {
  // Reference: R 4.2, lm(y ~ b + x1 + x2, weights = w) with contrasts (-1, 1) of block b; and
  // anova of lm(y ~ x1 + x2, weights = w) against lm(y ~ factor(paste(x1, x2)), weights = w).
  const Data data;
  const doe::Model plane = doe::Model::named("linear", kFactors);
  const Fit blocked = fit_least_squares(
      plane, data.x, data.y, {.blocks = {1, 1, 1, 2, 2, 1, 2, 2, 1, 2}, .weights = data.w});
  CHECK(blocked.block_effects[0].estimate == digits(0.101474520132487));
  CHECK(*blocked.block_effects[0].std_error == digits(0.192511567227121));
  CHECK(*blocked.coefficients[2].std_error == digits(0.339643333116713));
  CHECK(weighted_row(blocked, "blocks").sum_of_squares == digits(2.366));
  CHECK(weighted_row(blocked, "first order").sum_of_squares == digits(18.969550056153));
  CHECK(*blocked.sigma == digits(0.698998426439533));

  const Fit fit = fit_least_squares(plane, data.x, data.y, {.weights = data.w});
  REQUIRE(fit.lack_of_fit);
  CHECK(weighted_row(fit, "pure error").sum_of_squares == digits(0.032));
  CHECK(weighted_row(fit, "lack of fit").sum_of_squares == digits(3.035346836775));
  CHECK(fit.lack_of_fit->f == Approx(15.8091).epsilon(1e-6));
}

TEST_CASE("A run of weight 2 counts as two runs of weight 1", "[surfaces][weights]") {
  const Data data;
  const doe::Model model = doe::Model::named("interactions", kFactors);
  Eigen::VectorXd twice = Eigen::VectorXd::Ones(10);
  twice[3] = 2;
  std::vector<int> rows{0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9};
  const Fit weighted = fit_least_squares(model, data.x, data.y, {.weights = twice});
  const Fit repeated = fit_least_squares(model, data.x(rows, Eigen::all), data.y(rows));
  CHECK((weighted.beta - repeated.beta).norm() < 1e-13);
  CHECK((weighted.unscaled_covariance - repeated.unscaled_covariance).norm() < 1e-13);
  CHECK(weighted.r2 == Approx(repeated.r2).epsilon(1e-13));
  CHECK((weighted.weights_of_runs * data.y - weighted.beta).norm() < 1e-13);
  // Errors of means, from runs with unequal variances.
  const Eigen::MatrixXd at = Eigen::RowVector2d(0.3, 0.6);
  CHECK(weighted.mean_errors(at).of_runs.norm() ==
        Approx(weighted.predict(at.row(0).transpose()).standard_error).epsilon(1e-12));
  // Only relative weights matter.
  const Fit scaled =
      fit_least_squares(model, data.x, data.y, {.weights = Eigen::VectorXd(100 * twice)});
  CHECK((weighted.beta - scaled.beta).norm() < 1e-13);
  CHECK(*scaled.sigma == Approx(10 * *weighted.sigma).epsilon(1e-12));
  CHECK(*scaled.coefficients[1].std_error ==
        Approx(*weighted.coefficients[1].std_error).epsilon(1e-12));
  CHECK(*scaled.aicc == Approx(*weighted.aicc).epsilon(1e-12));
}

TEST_CASE("A model without the term 1 is about zero", "[surfaces][fit]") {
  // y = 2 a exactly through the origin, without blocks or a mean: R2 uses the sum of squares of y.
  const doe::Model slope = doe::Model::parse({"a"}, kFactors);
  Eigen::MatrixXd x(4, 2);
  x << 1, 0, 0.5, 0, -1, 0, 0.25, 0;
  const Eigen::VectorXd noise = Eigen::Vector4d(0.1, -0.2, 0.1, 0);
  const Eigen::VectorXd y = 2 * x.col(0) + noise;
  const Fit fit = fit_least_squares(slope, x, y);
  const double b = x.col(0).dot(y) / x.col(0).squaredNorm();
  const double rss = (y - b * x.col(0)).squaredNorm();
  CHECK(fit.beta[0] == Approx(b).epsilon(1e-14));
  CHECK(fit.r2 == Approx(1 - rss / y.squaredNorm()).epsilon(1e-13));
  CHECK(weighted_row(fit, "total").df == 4);
  CHECK(weighted_row(fit, "total").sum_of_squares == Approx(y.squaredNorm()).epsilon(1e-13));
  CHECK(*fit.coefficients[0].vif == Approx(1));
}
