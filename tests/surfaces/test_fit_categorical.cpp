#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "surfaces/fit.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Fit;
using surfaces::fit_least_squares;

namespace {

/// a, b, level of w, level of v, block, response; the last three runs are at the same point.
constexpr double kRuns[30][6] = {
    {-0.66, -0.5, 2, 1, 1, 20.19}, {0.62, -1, 1, 1, 1, 24.23},    {-0.23, 0.5, 0, 1, 1, 20.58},
    {-0.34, 0.5, 1, 0, 1, 15.8},   {-0.66, -0.5, 2, 1, 1, 18.97}, {0.21, -0.5, 0, 1, 1, 22.52},
    {-0.75, 0, 1, 0, 1, 16.55},    {-0.41, 1, 0, 1, 1, 17.59},    {0.16, 0, 1, 1, 1, 19.51},
    {0.26, 1, 2, 0, 1, 20.57},     {0.02, -0.5, 2, 1, 2, 24.35},  {0.02, -0.5, 2, 1, 2, 23.55},
    {0.07, -1, 1, 0, 2, 22.57},    {0.11, 0, 1, 0, 2, 19.68},     {0.74, 0.5, 2, 1, 2, 24.71},
    {0.66, -1, 2, 0, 2, 26.03},    {-0.78, -0.5, 0, 0, 2, 21.41}, {0.41, 1, 1, 0, 2, 19.23},
    {0.79, -0.5, 1, 0, 2, 24.92},  {-0.44, -1, 0, 0, 2, 24.93},   {-0.54, -1, 2, 0, 3, 25.78},
    {-0.97, -1, 2, 1, 3, 25.46},   {-0.74, -1, 1, 1, 3, 21.39},   {-0.81, 1, 1, 1, 3, 18.15},
    {-0.53, -0.5, 0, 0, 3, 26.62}, {0.58, 1, 0, 0, 3, 25.87},     {0.2, 0, 1, 1, 3, 24.66},
    {0.82, -0.5, 2, 0, 3, 29.23},  {0.82, -0.5, 2, 0, 3, 30.69},  {0.82, -0.5, 2, 0, 3, 30.23}};

std::vector<doe::Factor> factors() {
  return {continuous("a"), continuous("b"), words("w", {"x", "y", "z"}), words("v", {"k", "l"})};
}

Fit fit_of_runs() {
  Eigen::MatrixXd coded(30, 4);
  Eigen::VectorXd y(30);
  surfaces::FitOptions options;
  for (int i = 0; i < 30; ++i) {
    for (int f = 0; f < 4; ++f) coded(i, f) = kRuns[i][f];
    options.blocks.push_back(static_cast<int>(kRuns[i][4]));
    y[i] = kRuns[i][5];
  }
  return fit_least_squares(
      doe::Model::parse({"1", "a", "b", "w", "v", "a*b", "a*w", "w*v", "a^2"}, factors()), coded, y,
      options);
}

Approx as_r(double value) { return Approx(value).epsilon(1e-9); }

}  // namespace

TEST_CASE("Categorical factors and blocks are fitted as R fits them", "[surfaces][fit]") {
  // R, with contr.sum: m <- lm(y ~ a + b + w + v + a:b + a:w + w:v + I(a^2) + block); summary(m);
  // anova of the models of blocks, first order and so on; anova(m, lm(y ~ block + interaction(a, b,
  // w, v, block))); AIC(m) + 2k(k+1)/(n-k-1); car::vif(m), GVIF^(1/Df).
  const Fit fit = fit_of_runs();
  struct Reference {
    const char* term;
    double estimate, std_error, p;
    std::optional<double> vif;
  };
  const Reference references[] = {
      {"1", 22.518546004387, 0.26559474493, 1.1631325370e-22, {}},
      {"a", 3.658736380442, 0.34529554570, 1.2203688897e-08, 1.8538751152},
      {"b", -2.108188032836, 0.25256744341, 3.1827867432e-07, 1.4200993698},
      {"w[x]", 1.017087935580, 0.28085124326, 2.2929324907e-03, std::sqrt(1.8995205764)},
      {"w[y]", -1.754051213893, 0.23171877030, 1.1275441832e-06, std::sqrt(1.8995205764)},
      {"v[k]", 0.047187634371, 0.18060149026, 7.9720967620e-01, 1.5165522410},
      {"a*b", -0.130166090463, 0.50093629665, 7.9829692290e-01, 2.1294270699},
      {"a*w[x]", -1.295353673754, 0.64275277110, 6.0989252189e-02, std::sqrt(3.6244034826)},
      {"a*w[y]", 1.012732968168, 0.46141848346, 4.3278365938e-02, std::sqrt(3.6244034826)},
      {"w[x]*v[k]", 0.401011254156, 0.29161443982, 1.8803822267e-01, std::sqrt(4.2818045403)},
      {"w[y]*v[k]", 0.060197460986, 0.28732804688, 8.3669619550e-01, std::sqrt(4.2818045403)},
      {"a^2", 0.052059371236, 0.70603786839, 9.4213557902e-01, 1.6523324057}};
  REQUIRE(fit.coefficients.size() == std::size(references));
  for (std::size_t c = 0; c < fit.coefficients.size(); ++c) {
    const surfaces::Coefficient& row = fit.coefficients[c];
    INFO(row.term);
    CHECK(row.term == references[c].term);
    CHECK(row.estimate == as_r(references[c].estimate));
    CHECK(*row.std_error == as_r(references[c].std_error));
    CHECK(*row.p == as_r(references[c].p));
    CHECK(*row.df == 16);
    CHECK(row.vif.has_value() == references[c].vif.has_value());
    if (row.vif) CHECK(*row.vif == as_r(*references[c].vif));
  }
  CHECK(fit.block_effects[0].estimate == as_r(-1.061735485862));
  CHECK(*fit.block_effects[0].std_error == as_r(0.33866442785));
  // block[3] is the negative sum of block1 and block2 of contr.sum.
  CHECK(fit.block_effects[1].estimate == as_r(1.847889377971 + 1.061735485862));
  CHECK(*fit.sigma == as_r(0.80146769082));
  CHECK(*fit.press == as_r(44.597422457));
  CHECK(*fit.aicc == as_r(82.999415091 + 2 * 15 * 16 / 14.0));
  CHECK(fit.r2 == as_r(0.95807423351));

  struct Row {
    const char* source;
    int df;
    double ss, f, p;
  };
  const Row rows[] = {{"blocks", 2, 190.6557267, 148.40476, 4.6851e-11},
                      {"first order", 5, 229.4380993, 71.43705, 2.2774e-10},
                      {"two-way interactions", 5, 5.4190110, 1.68724, 0.19472},
                      {"pure quadratic", 1, 0.0034923, 0.00544, 0.94214},
                      {"lack of fit", 12, 8.09900735, 1.23918, 0.45598}};
  for (const Row& row : rows) {
    INFO(row.source);
    const auto found =
        std::find_if(fit.anova.begin(), fit.anova.end(),
                     [&](const surfaces::AnovaRow& other) { return other.source == row.source; });
    REQUIRE(found != fit.anova.end());
    CHECK(found->df == row.df);
    CHECK(found->sum_of_squares == Approx(row.ss).epsilon(2e-5));
    CHECK(*found->f == Approx(row.f).epsilon(1e-3));
    CHECK(*found->p == Approx(row.p).epsilon(1e-4));
  }
  // predict(m, ...) minus the block effect, i.e. for the average block.
  const surfaces::Prediction prediction = fit.predict(Eigen::Vector4d(0.3, -0.5, 2, 0));
  CHECK(prediction.mean == as_r(25.102199601));
  CHECK(prediction.standard_error == as_r(0.4180723674));
}

TEST_CASE("A balanced design inflates no variance", "[surfaces][fit]") {
  // Fox & Monette: also for categorical factors, whose contrasts are correlated among themselves.
  Eigen::MatrixXd coded(24, 3);
  for (int i = 0; i < 24; ++i) coded.row(i) << i % 2 * 2 - 1, i / 2 % 3, i / 6 % 4;
  const std::vector<doe::Factor> three{continuous("a"), words("w", {"x", "y", "z"}),
                                       words("u", {"k", "l", "m", "n"})};
  const Fit fit = fit_least_squares(doe::Model::named("interactions", three), coded,
                                    Eigen::VectorXd::LinSpaced(24, 0, 1));
  CHECK_FALSE(fit.coefficients[0].vif);
  for (std::size_t c = 1; c < fit.coefficients.size(); ++c) {
    CHECK(*fit.coefficients[c].vif == Approx(1).epsilon(1e-12));
  }
}
