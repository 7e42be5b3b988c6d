#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.h"
#include "surfaces/fit.h"
#include "surfaces/variance_model.h"
#include "tests/doe/factors.h"
#include "tests/surfaces/random_normal.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::fit_least_squares;
using surfaces::GroupVariance;
using surfaces::VarianceModel;

namespace {

const std::vector<doe::Factor> kOne{continuous("a")};

/// Four runs at each of five settings of a; ln sigma = 0.2 + slope a.
struct Study {
  Eigen::MatrixXd x{20, 1};
  Eigen::VectorXd y{20};

  Study(RandomStream& random, double slope) {
    for (int i = 0; i < 20; ++i) {
      x(i, 0) = -1 + i / 4 * 0.5;
      y[i] = 10 + 3 * x(i, 0) + std::exp(0.2 + slope * x(i, 0)) * random_normal(random);
    }
  }
};

}  // namespace

TEST_CASE("The variance model is R's gamma regression", "[surfaces][variance]") {
  // Reference: R 4.2, g <- glm(s2 ~ x + z, family = Gamma(link = "log"), weights = df / 2),
  // sqrt(diag(summary(g, dispersion = 1)$cov.scaled)), and the difference of deviances.
  const std::vector<doe::Factor> factors{continuous("x"), continuous("z"), continuous("still")};
  const double x[] = {-1, -0.5, 0, 0.5, 1, 1}, z[] = {-1, 1, 0, 1, -1, 1};
  const double variances[] = {0.8, 0.6, 2.1, 2.9, 7.5, 5.2};
  const int df[] = {3, 1, 4, 2, 3, 1};
  std::vector<GroupVariance> groups;
  for (int g = 0; g < 6; ++g)
    groups.push_back({Eigen::Vector3d(x[g], z[g], 0), variances[g], df[g]});
  const VarianceModel model = surfaces::fit_variance_model(factors, groups);
  REQUIRE(model.coefficients.size() == 3);  // the factor that does not vary between groups is
                                            // omitted
  CHECK(model.coefficients[0] == Approx(0.675261953115318).epsilon(1e-10));
  CHECK(model.coefficients[1] == Approx(1.163588721358063).epsilon(1e-10));
  CHECK(model.coefficients[2] == Approx(-0.244861525157198).epsilon(1e-10));
  CHECK(model.standard_errors[0] == Approx(0.389700912509707).epsilon(1e-6));
  CHECK(model.standard_errors[2] == Approx(0.463065728400812).epsilon(1e-6));
  CHECK(model.variance(Eigen::Vector3d(1, 0, 0)) ==
        Approx(std::exp(0.675261953115318 + 1.163588721358063)).epsilon(1e-10));
  const auto test = surfaces::test_constancy(factors, groups);
  REQUIRE(test);
  CHECK(test->likelihood_ratio == Approx(4.6265530358954).epsilon(1e-9));
  CHECK(test->df == 2);
}

TEST_CASE("Equal variances are constant, whatever their rounding", "[surfaces][variance]") {
  for (const double variance : {0.02, 0.3, 1.0 / 3, 2.0}) {
    std::vector<GroupVariance> groups;
    for (int i = 0; i < 9; ++i) {
      const double rounding = i % 2 == 0 ? 1 + 4e-16 : 1;
      groups.push_back({Eigen::VectorXd::Constant(1, i / 4.0 - 1), variance * rounding, 1});
    }
    const auto test = surfaces::test_constancy(kOne, groups);
    CHECK(*test->bartlett == Approx(0).margin(1e-12));
    CHECK(*test->bartlett_p == Approx(1));
  }
}

TEST_CASE("Bartlett's test is that of R", "[surfaces][variance]") {
  // Reference: R 4.2, bartlett.test(list(c(1, 2, 3.5), c(2, 2.2, 2.9, 4), c(5, 9, 1))).
  Eigen::MatrixXd x(11, 1);
  Eigen::VectorXd y(11);
  x << -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 0.5;
  y << 1, 2, 3.5, 2, 2.2, 2.9, 4, 5, 9, 1, 7;
  const std::vector<GroupVariance> groups = surfaces::replicate_variances(x, y);
  REQUIRE(groups.size() == 3);
  CHECK(groups[1].variance == Approx(0.815833333333333).epsilon(1e-13));
  CHECK(groups[1].df == 3);
  const auto test = surfaces::test_constancy(kOne, groups);
  CHECK(*test->bartlett == Approx(4.9371036441288103).epsilon(1e-12));
  CHECK(*test->bartlett_p == Approx(0.0847074416673886).epsilon(1e-12));
  // With these blocks, only the first point has two runs in the same block.
  CHECK(surfaces::replicate_variances(x, y, {1, 1, 2, 1, 2, 3, 4, 1, 2, 3, 1}).size() == 1);
}

TEST_CASE("Without replicates that differ there is no variance model", "[surfaces][variance]") {
  CHECK_THROWS_WITH(surfaces::fit_variance_model(kOne, {}), Catch::Contains("replicate some runs"));
  CHECK_THROWS_AS(surfaces::fit_variance_model(kOne, {{Eigen::VectorXd::Constant(1, 0.5), 0.0, 2}}),
                  surfaces::FitError);
  CHECK_FALSE(surfaces::test_constancy(kOne, {}));
  CHECK_FALSE(surfaces::test_constancy(kOne, {{Eigen::VectorXd::Constant(1, 0.5), 1.0, 2}}));
}

TEST_CASE("A constant variance is refused at the nominal rate, with pairs only",
          "[surfaces][variance]") {
  // 300 studies of eight pairs: the number of p <= 0.1 is binomial; the tolerance is four standard
  // deviations.
  RandomStream random(7, 0);
  int refused = 0;
  constexpr int kStudies = 300;
  for (int study = 0; study < kStudies; ++study) {
    std::vector<GroupVariance> groups;
    for (int g = 0; g < 8; ++g) {
      const double difference = random_normal(random) - random_normal(random);
      groups.push_back(
          {Eigen::VectorXd::Constant(1, -1 + g / 3.5), difference * difference / 2, 1});
    }
    refused += surfaces::test_constancy(kOne, groups, study, 99)->p <= 0.1;
  }
  CHECK(std::abs(refused - 0.1 * kStudies) < 4 * std::sqrt(0.09 * kStudies));
}

TEST_CASE("Prediction intervals follow a variance that is not constant", "[surfaces][variance]") {
  // 1,000 simulated studies; sigma is e^1.6 = 5 times higher at one end than at the other.
  const doe::Model line = doe::Model::named("linear", kOne);
  RandomStream random(23, 0);
  constexpr int kStudies = 1000;
  const double ends[] = {-1, 1};
  int covered[2] = {0, 0}, covered_as_constant[2] = {0, 0};
  for (int study = 0; study < kStudies; ++study) {
    const Study data(random, 0.8);
    const VarianceModel variance =
        surfaces::fit_variance_model(kOne, surfaces::replicate_variances(data.x, data.y));
    const surfaces::Fit fit = fit_least_squares(line, data.x, data.y, {.variance = variance});
    const surfaces::Fit constant = fit_least_squares(line, data.x, data.y);
    if (study == 0) {
      CHECK(fit.predictions(data.x)[0].sigma ==
            Approx(fit.predict(data.x.row(0).transpose()).sigma).epsilon(1e-13));
    }
    for (int end = 0; end < 2; ++end) {
      const Eigen::VectorXd at = Eigen::VectorXd::Constant(1, ends[end]);
      const double run =
          10 + 3 * ends[end] + std::exp(0.2 + 0.8 * ends[end]) * random_normal(random);
      const auto next = *fit.predict(at).prediction_interval(0.9);
      const auto as_constant = *constant.predict(at).prediction_interval(0.9);
      covered[end] += run >= next.low && run <= next.high;
      covered_as_constant[end] += run >= as_constant.low && run <= as_constant.high;
    }
  }
  // The error of the variance model costs some coverage; a constant variance is far off at both
  // ends.
  for (const int count : covered) CHECK(std::abs(count - 0.9 * kStudies) < 0.05 * kStudies);
  CHECK(covered_as_constant[0] > 0.97 * kStudies);
  CHECK(covered_as_constant[1] < 0.82 * kStudies);
}

TEST_CASE("Repeats share the shape of the variance and have a level of their own",
          "[surfaces][variance]") {
  const std::vector<doe::Factor> factors{continuous("x"), continuous("z")};
  const double x[] = {-1, -0.5, 0, 0.5, 1, 1}, z[] = {-1, 1, 0, 1, -1, 1};
  const double variances[] = {0.8, 0.6, 2.1, 2.9, 7.5, 5.2};
  const int df[] = {3, 1, 4, 2, 3, 1};
  std::vector<GroupVariance> groups, repeats, smaller;
  for (int g = 0; g < 6; ++g) {
    auto& own = g % 2 == 0 ? groups : repeats;
    own.push_back({Eigen::Vector2d(x[g], z[g]), variances[g], df[g]});
  }
  const VarianceModel model = surfaces::fit_variance_model(factors, groups, repeats);
  // Reference: R 4.2, the call above with an indicator column for repeats, whose coefficient is
  // omitted here.
  const double coefficients[] = {0.7419373447293773, 1.1717215985201046, -0.1553303038773908};
  const double errors[] = {0.7071067811865474, 0.5275043787166297, 0.9128709291752765};
  REQUIRE(model.coefficients.size() == 3);
  for (int c = 0; c < 3; ++c) {
    CHECK(model.coefficients[c] == Approx(coefficients[c]).epsilon(1e-8));
    CHECK(model.standard_errors[c] == Approx(errors[c]).epsilon(1e-8));
  }
  // The model gives the same variance of runs whatever the level of the repeats.
  for (GroupVariance group : repeats) {
    group.variance /= 400;
    smaller.push_back(group);
  }
  const VarianceModel same = surfaces::fit_variance_model(factors, groups, smaller);
  CHECK((same.coefficients - model.coefficients).norm() < 1e-9);
  // Repeats alone, or with runs that agree exactly, determine only their own level.
  const VarianceModel alone = surfaces::fit_variance_model(factors, repeats);
  for (GroupVariance& group : groups) group.variance = 0;
  for (const auto& of_runs : {groups, std::vector<GroupVariance>{}}) {
    CHECK(surfaces::fit_variance_model(factors, of_runs, repeats).coefficients ==
          alone.coefficients);
  }
}
