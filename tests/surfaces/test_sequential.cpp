#include <algorithm>
#include <catch2/catch.hpp>

#include "base/random.h"
#include "surfaces/selection/sequential_models.h"
#include "tests/surfaces/published_fccd.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::sequential_summary;
using surfaces::SequentialModels;
using surfaces::SequentialStep;
using surfaces::SequentialSummary;

namespace {

const SequentialStep& step(const SequentialSummary& summary, const std::string& model) {
  return *std::find_if(summary.steps.begin(), summary.steps.end(),
                       [&](const SequentialStep& candidate) { return candidate.model == model; });
}

Approx nine_digits(double value) { return Approx(value).epsilon(1e-9); }

}  // namespace

TEST_CASE("The sequence of models of the published FCCD is R's", "[surfaces][sequential]") {
  // R: lm of y on 1, (a+b+c), (a+b+c)^2, squares, cubic terms; anova(previous, model); hatvalues;
  // AIC + 2k(k+1)/(n-k-1); lack of fit by anova(model, lm(y ~ factor(a):factor(b):factor(c))).
  struct Reference {
    const char* model;
    int df;
    double ss, f, p, lack_p, sigma, r2, adjusted, predicted, press, aicc;
  };
  const Reference references[] = {
      {"linear", 3, 5775418.2, 9.125429546, 0.0009376822472, 3.046878298e-05, 459.3084476,
       0.631134878, 0.5619726676, 0.3451466301, 5992462.472, 311.7692639},
      {"interactions", 3, 748836.375, 1.235425254, 0.3366903613, 2.847771446e-05, 449.494727,
       0.712967351, 0.5804907438, -0.542990119, 14119665.27, 321.557757},
      {"quadratic", 3, 2474105.455, 54.08371236, 1.74144919e-06, 0.0120752935, 123.4852908,
       0.9833363858, 0.9683391331, 0.8965891237, 946297.0242, 290.5394796},
      {"cubic", 4, 36358.8, 0.4696412206, 0.7576306616, 0.001723008736, 139.1206733, 0.9873096577,
       0.9598139161, -12.74393175, 125768605.6, 380.0917536}};
  const SequentialSummary summary =
      sequential_summary(published_factors(), published_points(), published_response(3));
  REQUIRE(summary.steps.size() == 5);
  CHECK(*step(summary, "mean").sigma == nine_digits(693.9909828));
  CHECK(*step(summary, "mean").aicc == nine_digits(322.1359165));
  for (const Reference& reference : references) {
    INFO(reference.model);
    const SequentialStep& found = step(summary, reference.model);
    CHECK(found.df == reference.df);
    CHECK(*found.sum_of_squares == nine_digits(reference.ss));
    CHECK(*found.f == nine_digits(reference.f));
    CHECK(*found.p == nine_digits(reference.p));
    CHECK(*found.lack_of_fit_p == nine_digits(reference.lack_p));
    CHECK(*found.sigma == nine_digits(reference.sigma));
    CHECK(*found.r2 == nine_digits(reference.r2));
    CHECK(*found.adjusted_r2 == nine_digits(reference.adjusted));
    CHECK(*found.predicted_r2 == nine_digits(reference.predicted));
    CHECK(*found.press == nine_digits(reference.press));
    CHECK(*found.aicc == nine_digits(reference.aicc));
  }
  CHECK(step(summary, "quadratic").aliased.empty());
  // R's alias() also finds six; which term of an aliased pair is named depends on the order. The
  // first factor has three settings, so no cube.
  CHECK(step(summary, "cubic").aliased ==
        std::vector<std::string>{"executors_per_gpu*decode_rate^2", "batch_size^3",
                                 "batch_size^2*decode_rate", "batch_size*decode_rate^2",
                                 "decode_rate^3"});
  // Every order has lack of fit; the highest one with significant terms is the quadratic.
  CHECK(summary.suggested == "quadratic");
  CHECK_THAT(summary.reason, Catch::Contains("shows lack of fit"));
}

TEST_CASE("The order that made the responses is suggested", "[surfaces][sequential]") {
  const std::vector<doe::Factor> factors{continuous("a"), continuous("b")};
  Eigen::MatrixXd coded(28, 2);
  for (int i = 0; i < 28; ++i) coded.row(i) << i % 3 - 1, i / 3 % 3 - 1;
  const auto a = coded.col(0).array(), b = coded.col(1).array();
  const auto suggestion = [&](const Eigen::ArrayXd& mean, std::uint64_t stream) {
    RandomStream random(9, stream);
    Eigen::VectorXd y = mean;
    for (double& value : y) value += random.uniform() - 0.5;
    return sequential_summary(factors, coded, y).suggested;
  };
  int right = 0;
  for (std::uint64_t stream = 0; stream < 25; ++stream) {
    right += suggestion(Eigen::ArrayXd::Constant(28, 5), 4 * stream) == "mean";
    right += suggestion(5 + a - b, 4 * stream + 1) == "linear";
    right += suggestion(5 + a - b + a * b, 4 * stream + 2) == "interactions";
    right += suggestion(5 + a - b + a * b - a * a, 4 * stream + 3) == "quadratic";
  }
  // Three tests at 5 % may each give a false positive; few further suggestions should be wrong.
  CHECK(right >= 80);
}

TEST_CASE("Of a response without error the lowest exact order is suggested",
          "[surfaces][sequential]") {
  const std::vector<doe::Factor> factors{continuous("a"), continuous("b")};
  Eigen::MatrixXd coded(14, 2);
  for (int i = 0; i < 14; ++i) coded.row(i) << i % 3 - 1, i / 3 % 3 - 1;
  const auto a = coded.col(0).array(), b = coded.col(1).array();
  SequentialSummary summary = sequential_summary(factors, coded, 25 + 14 * a - 2 * b);
  CHECK(summary.suggested == "linear");
  CHECK(summary.reason == "the lowest order that fits the runs exactly");
  summary = sequential_summary(factors, coded, 25 + 14 * a - 2 * b * b);
  CHECK(summary.suggested == "quadratic");
  CHECK(sequential_summary(factors, coded, Eigen::VectorXd::Constant(14, 3)).suggested == "mean");
}

TEST_CASE("What the runs do not determine is named in the sequence", "[surfaces][sequential]") {
  const std::vector<doe::Factor> factors{continuous("a"), continuous("b")};
  Eigen::MatrixXd coded(7, 2);
  coded << -1, -1, 1, -1, -1, 1, 1, 1, 0, 0, 0, 0, 0, 0;
  Eigen::VectorXd y(7);
  y << 1, 3, 2.1, 6.9, 3.2, 3.4, 3.3;
  const SequentialSummary summary = sequential_summary(factors, coded, y);
  const SequentialStep& quadratic = step(summary, "quadratic");
  CHECK(quadratic.added == std::vector<std::string>{"a^2"});
  CHECK(quadratic.aliased == std::vector<std::string>{"b^2"});
  CHECK(quadratic.df == 1);
  CHECK(step(summary, "cubic").added.empty());
  CHECK_FALSE(step(summary, "cubic").sigma);
  CHECK(summary.suggested == "interactions");

  // Blocks that are confounded with the interaction.
  const SequentialSummary blocked =
      sequential_summary(factors, coded, y, {.blocks = {1, 2, 2, 1, 1, 1, 2}});
  CHECK(step(blocked, "interactions").aliased.empty());
  const SequentialSummary confounded =
      sequential_summary(factors, coded.topRows(4), y.head(4), {.blocks = {1, 2, 2, 1}});
  CHECK(step(confounded, "interactions").aliased == std::vector<std::string>{"a*b"});
}

TEST_CASE("A sequence of runs in whole plots is tested by Kenward and Roger",
          "[surfaces][sequential]") {
  const std::vector<doe::Factor> factors{continuous("z"), continuous("a")};
  RandomStream random(2, 0);
  Eigen::MatrixXd coded(32, 2);
  Eigen::VectorXd y(32);
  surfaces::FitOptions options;
  for (int i = 0; i < 32; ++i) {
    coded.row(i) << i / 4 % 3 - 1, i % 3 - 1;
    y[i] = 10 + 5 * coded(i, 1) + 3 * std::sin(i / 4 * 5) + random.uniform();
    options.whole_plots.push_back(i / 4);
  }
  const SequentialSummary summary = sequential_summary(factors, coded, y, options);
  const surfaces::Fit fit =
      fit_least_squares(doe::Model::named("quadratic", factors), coded, y, options);
  CHECK(*step(summary, "quadratic").p == fit.split_plot->tests.back().p);
  CHECK(*step(summary, "quadratic").df_error == fit.split_plot->tests.back().df_error);
  CHECK(*step(summary, "quadratic").aicc == *fit.aicc);
  CHECK(summary.suggested == "linear");
  // Three settings of z and its square distinguish all three whole plots: no degrees of freedom.
  const SequentialSummary few = sequential_summary(
      factors, coded.topRows(12), y.head(12),
      {.whole_plots = {options.whole_plots.begin(), options.whole_plots.begin() + 12}});
  CHECK_THAT(step(few, "quadratic").problem, Catch::Contains("distinguish all 3 whole plots"));
}

TEST_CASE("Sequences of several responses are those of each alone", "[surfaces][sequential]") {
  const auto check_same = [](const SequentialSummary& a, const SequentialSummary& b) {
    REQUIRE(a.steps.size() == b.steps.size());
    CHECK(a.suggested == b.suggested);
    CHECK(a.reason == b.reason);
    for (std::size_t i = 0; i < a.steps.size(); ++i) {
      const SequentialStep &x = a.steps[i], &y = b.steps[i];
      CHECK(x.added == y.added);
      CHECK(x.aliased == y.aliased);
      CHECK(x.problem == y.problem);
      CHECK(x.sum_of_squares == y.sum_of_squares);
      CHECK(x.p == y.p);
      CHECK(x.lack_of_fit_p == y.lack_of_fit_p);
      CHECK(x.sigma == y.sigma);
      CHECK(x.press == y.press);
      CHECK(x.aicc == y.aicc);
    }
  };
  for (const surfaces::Loss loss : {surfaces::Loss::kSquares, surfaces::Loss::kHuber}) {
    const SequentialModels models(published_factors(), published_points(), {.loss = loss});
    for (const int column : {3, 4}) {
      const Eigen::VectorXd y = published_response(column);
      for (const auto transform : {surfaces::Transform::kNone, surfaces::Transform::kLog}) {
        check_same(models.summary(y, transform),
                   sequential_summary(published_factors(), published_points(), y,
                                      {.transform = transform, .loss = loss}));
      }
    }
    CHECK_THROWS_AS(models.summary(-published_response(3), surfaces::Transform::kLog),
                    surfaces::FitError);
  }
}
