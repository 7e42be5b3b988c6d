#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>

#include "base/random.h"
#include "surfaces/selection/heredity.h"
#include "surfaces/selection/selection.h"
#include "tests/surfaces/published_fccd.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::fit_least_squares;
using surfaces::Heredity;
using surfaces::select_model;
using surfaces::Selection;
using surfaces::SelectionMethod;
using surfaces::SelectionOptions;

namespace {

double normal_noise(RandomStream& random) {
  return boost::math::quantile(boost::math::normal(), random.uniform() + 1e-17);
}

struct Ranked {
  double aicc = 0;
  std::vector<std::string> terms;
};

bool respects(const std::vector<doe::Term>& terms, const doe::Model& largest, Heredity heredity) {
  const auto has = [](const std::vector<doe::Term>& list, const doe::Term& term) {
    return std::find(list.begin(), list.end(), term) != list.end();
  };
  for (const doe::Term& term : terms) {
    int parents = 0, present = 0;
    for (std::size_t f = 0; f < term.powers.size(); ++f) {
      doe::Term parent = term;
      if (parent.powers[f]-- == 0 || parent.order() == 0) continue;
      parents += has(largest.terms(), parent);
      present += has(terms, parent);
    }
    if (heredity == Heredity::kStrong ? present < parents : parents > 0 && present == 0) {
      return false;
    }
  }
  return true;
}

/// All models that heredity allows, by fit_least_squares, best first.
std::vector<Ranked> brute_force(const doe::Model& largest, const Eigen::MatrixXd& coded,
                                const Eigen::VectorXd& y, const SelectionOptions& options) {
  std::vector<Ranked> ranked;
  const std::size_t count = largest.terms().size();
  for (unsigned bits = 1; bits < 1u << count; bits += 2) {  // term 0 is "1"
    std::vector<doe::Term> terms;
    for (std::size_t t = 0; t < count; ++t) {
      if (bits >> t & 1) terms.push_back(largest.terms()[t]);
    }
    if (!respects(terms, largest, options.heredity)) continue;
    try {
      const doe::Model model(largest.factors(), terms);
      const surfaces::Fit fit = fit_least_squares(model, coded, y, options.fit);
      if (fit.aicc) ranked.push_back({*fit.aicc, model.term_names()});
    } catch (const surfaces::FitError&) {
    }
  }
  std::sort(ranked.begin(), ranked.end(),
            [](const Ranked& a, const Ranked& b) { return a.aicc < b.aicc; });
  return ranked;
}

void check_against_brute_force(const doe::Model& largest, const Eigen::MatrixXd& coded,
                               const Eigen::VectorXd& y, const SelectionOptions& options) {
  const std::vector<Ranked> ranked = brute_force(largest, coded, y, options);
  const Selection selection = select_model(largest, coded, y, options);
  CHECK(selection.exhaustive);
  CHECK(selection.models_compared == static_cast<long>(ranked.size()));
  CHECK(selection.fit.model.term_names() == ranked[0].terms);
  std::size_t near = 0;
  while (near < ranked.size() && ranked[near].aicc <= ranked[0].aicc + 2) ++near;
  REQUIRE(selection.near_best.size() == std::min<std::size_t>(near, 100));
  double weights = 0;
  for (std::size_t i = 0; i < selection.near_best.size(); ++i) {
    const surfaces::NearModel& model = selection.near_best[i];
    CHECK(model.aicc == Approx(ranked[i].aicc).epsilon(1e-10));
    CHECK(model.terms == ranked[i].terms);
    CHECK(model.weight / selection.near_best[0].weight ==
          Approx(std::exp((ranked[0].aicc - ranked[i].aicc) / 2)).epsilon(1e-8));
    weights += model.weight;
  }
  CHECK(weights == Approx(1));
}

/// Random points, and a response of a few terms with much noise, so that many models have similar
/// AICc.
struct NoisyData {
  Eigen::MatrixXd coded;
  Eigen::VectorXd y;
};

NoisyData noisy_data(int n, const std::vector<doe::Factor>& factors, std::uint64_t stream) {
  RandomStream random(17, stream);
  NoisyData data{Eigen::MatrixXd(n, factors.size()), Eigen::VectorXd(n)};
  for (int i = 0; i < n; ++i) {
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const auto levels = factors[f].level_names.size();
      data.coded(i, static_cast<Eigen::Index>(f)) =
          levels > 0 ? static_cast<double>(random.below(levels)) : 2 * random.uniform() - 1;
    }
    data.y[i] =
        3 + data.coded(i, 0) - 2 * data.coded(i, 0) * data.coded(i, 1) + normal_noise(random);
  }
  return data;
}

constexpr const char* kChosen[] = {"1",
                                   "executors_per_gpu",
                                   "decode_rate",
                                   "executors_per_gpu*decode_rate",
                                   "executors_per_gpu^2",
                                   "decode_rate^2"};

}  // namespace

TEST_CASE("The models chosen for the published FCCD are R's", "[surfaces][selection]") {
  // R: AIC(lm) + 2k(k+1)/(n-k-1) of all subsets of (a+b+c)^2 and squares that respect heredity, of
  // which there are 95 (strong) and 185 (weak); drop1(full, test = "F").
  const doe::Model quadratic = doe::Model::named("quadratic", published_factors());
  const auto selection = [&](SelectionOptions options) {
    return select_model(quadratic, published_points(), published_response(3), options);
  };
  const std::vector<std::string> chosen(std::begin(kChosen), std::end(kChosen));
  const Selection best = selection({});
  CHECK(best.exhaustive);
  CHECK(best.models_compared == 95);
  CHECK(*best.fit.aicc == Approx(277.2091981).epsilon(1e-9));
  CHECK(best.fit.model.term_names() == chosen);
  CHECK(best.near_best.size() == 1);
  CHECK(best.near_best[0].weight == 1);
  CHECK(best.steps.empty());
  CHECK_THAT(best.warning, Catch::Contains("optimistic"));
  CHECK(selection({.heredity = Heredity::kWeak}).models_compared == 185);

  const Selection backward = selection({.method = SelectionMethod::kBackward});
  // Stops here: without batch_size^2 as well, AICc is 281.23157079, and batch_size may not leave
  // before batch_size^2.
  REQUIRE(backward.steps.size() == 2);
  CHECK(backward.steps[0].term == "batch_size*decode_rate");
  CHECK_FALSE(backward.steps[0].entered);
  CHECK(*backward.steps[0].p == Approx(0.13312802).epsilon(1e-7));
  CHECK(backward.steps[0].aicc == Approx(284.72123875).epsilon(1e-9));
  CHECK(backward.steps[1].term == "executors_per_gpu*batch_size");
  CHECK(backward.steps[1].aicc == Approx(281.22834795).epsilon(1e-9));
  CHECK(*backward.fit.aicc == Approx(281.22834795).epsilon(1e-9));
  CHECK_FALSE(backward.exhaustive);

  const Selection forward = selection({.method = SelectionMethod::kForward});
  CHECK(forward.fit.model.term_names() == chosen);
  CHECK(forward.steps.size() == 5);
  CHECK(forward.steps.front().entered);
  CHECK(forward.steps.back().aicc == Approx(277.2091981).epsilon(1e-9));
}

TEST_CASE("The best subset is that of all models fitted one by one", "[surfaces][selection]") {
  SECTION("numeric factors") {
    const std::vector<doe::Factor> factors{continuous("a"), continuous("b"), continuous("c")};
    const NoisyData data = noisy_data(24, factors, 1);
    const doe::Model largest = doe::Model::named("quadratic", factors);
    check_against_brute_force(largest, data.coded, data.y, {});
    check_against_brute_force(largest, data.coded, data.y, {.heredity = Heredity::kWeak});
    // Most models have too many terms for an AICc, or for the runs.
    check_against_brute_force(largest, data.coded.topRows(9), data.y.head(9), {});
  }
  SECTION("categorical factors, blocks and a transform") {
    const std::vector<doe::Factor> factors{continuous("a"), words("v", {"x", "y", "z"}),
                                           words("w", {"k", "l"})};
    NoisyData data = noisy_data(36, factors, 2);
    SelectionOptions options;
    options.fit.transform = surfaces::Transform::kLog;
    for (int i = 0; i < 36; ++i) {
      options.fit.blocks.push_back(1 + i % 4);
      data.y[i] = std::exp(data.y[i] / 5 + i % 4);
    }
    check_against_brute_force(
        doe::Model::parse({"1", "a", "v", "w", "a*v", "a*w", "v*w", "a^2", "a*v*w"}, factors),
        data.coded, data.y, options);
  }
  SECTION("aliased terms") {
    const std::vector<doe::Factor> factors{continuous("a"), continuous("b"), continuous("c")};
    NoisyData data = noisy_data(16, factors, 3);
    for (int i = 0; i < 16; ++i) {  // c = ab at two levels
      data.coded(i, 0) = i % 2 * 2 - 1;
      data.coded(i, 1) = i / 2 % 2 * 2 - 1;
      data.coded(i, 2) = data.coded(i, 0) * data.coded(i, 1);
    }
    check_against_brute_force(doe::Model::parse({"1", "a", "b", "c", "a*b", "a^2"}, factors),
                              data.coded, data.y, {.heredity = Heredity::kStrong});
  }
  SECTION("runs in whole plots") {
    const std::vector<doe::Factor> factors{continuous("z"), continuous("a")};
    NoisyData data = noisy_data(28, factors, 4);
    SelectionOptions options;
    for (int i = 0; i < 28; ++i) {
      data.coded(i, 0) = i / 4 % 3 - 1;
      data.y[i] += 2 * std::sin(i / 4 * 9);
      options.fit.whole_plots.push_back(i / 4);
    }
    check_against_brute_force(doe::Model::named("quadratic", factors), data.coded, data.y, options);
  }
}

TEST_CASE("Models that respect heredity are counted as theory counts them",
          "[surfaces][selection]") {
  // Choose j of k factors, and any of their j squares and j (j - 1) / 2 products.
  for (int k = 1; k <= 6; ++k) {
    long strong = 0, choose = 1;
    for (int j = 0; j <= k; ++j) {
      strong += choose << j * (j + 1) / 2;
      choose = choose * (k - j) / (j + 1);
    }
    const doe::Model quadratic = doe::Model::named("quadratic", unit_factors(k));
    const surfaces::HereditaryTerms terms(quadratic, Heredity::kStrong);
    CHECK(terms.subset_count(10'000'000) == strong);
  }
  const surfaces::HereditaryTerms many(doe::Model::named("quadratic", unit_factors(10)),
                                       Heredity::kStrong);
  CHECK(many.subset_count(1000) == 1001);
}

TEST_CASE("Of equal models the smaller and earlier is chosen", "[surfaces][selection]") {
  // a and b are interchangeable, and c has no effect.
  Eigen::MatrixXd coded(16, 3);
  Eigen::VectorXd y(16);
  for (int i = 0; i < 16; ++i) {
    coded.row(i) << i % 2 * 2 - 1, i / 2 % 2 * 2 - 1, i / 4 % 2 * 2 - 1;
    y[i] = coded(i, 0) + coded(i, 1) + (i >= 8 ? 1 : 0);
  }
  const doe::Model largest =
      doe::Model::parse({"1", "b", "a", "c"}, {continuous("a"), continuous("b"), continuous("c")});
  const Selection forward = select_model(largest, coded, y, {.method = SelectionMethod::kForward});
  REQUIRE(!forward.steps.empty());
  CHECK(forward.steps[0].term == "b");
  const Selection again = select_model(largest, coded, y, {});
  CHECK(again.fit.model.term_names() == std::vector<std::string>{"1", "b", "a"});
}

TEST_CASE("Terms that made the responses are found", "[surfaces][selection]") {
  const std::vector<doe::Factor> factors = unit_factors(4);
  const doe::Model largest = doe::Model::named("quadratic", factors);
  const std::vector<std::string> truth{"1", "a", "b", "d", "a*b", "d^2"};
  for (const SelectionMethod method :
       {SelectionMethod::kBackward, SelectionMethod::kForward, SelectionMethod::kBestSubset}) {
    int contained = 0, superfluous = 0;
    for (std::uint64_t trial = 0; trial < 40; ++trial) {
      NoisyData data = noisy_data(60, factors, 100 + trial);
      RandomStream random(23, trial);
      for (int i = 0; i < 60; ++i) {
        const auto row = data.coded.row(i);
        data.y[i] = 10 + 3 * row[0] - 2 * row[1] + 2 * row[3] + 3 * row[0] * row[1] -
                    3 * row[3] * row[3] + 0.5 * normal_noise(random);
      }
      const std::vector<std::string> terms =
          select_model(largest, data.coded, data.y, {.method = method}).fit.model.term_names();
      contained += std::all_of(truth.begin(), truth.end(), [&](const std::string& term) {
        return std::find(terms.begin(), terms.end(), term) != terms.end();
      });
      superfluous += static_cast<int>(terms.size()) - 6;
    }
    CHECK(contained == 40);
    CHECK(superfluous < 40 * 9 / 3);  // 9 further terms could be in each model
  }
}

TEST_CASE("P-values after selection are optimistic", "[surfaces][selection]") {
  // For pure noise: without selection one test in twenty is below 0.05.
  const std::vector<doe::Factor> factors = unit_factors(4);
  const doe::Model largest = doe::Model::named("interactions", factors);
  int tests = 0, significant = 0, before = 0, before_significant = 0;
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    NoisyData data = noisy_data(30, factors, 1000 + trial);
    RandomStream random(29, trial);
    for (double& value : data.y) value = normal_noise(random);
    const auto count = [](const surfaces::Fit& fit, int& all, int& small) {
      for (std::size_t c = 1; c < fit.coefficients.size(); ++c) {
        ++all;
        small += *fit.coefficients[c].p < 0.05;
      }
    };
    count(fit_least_squares(largest, data.coded, data.y), before, before_significant);
    count(select_model(largest, data.coded, data.y).fit, tests, significant);
  }
  CHECK(std::abs(1.0 * before_significant / before - 0.05) < 0.03);
  CHECK(1.0 * significant / tests > 0.25);
}

TEST_CASE("Models that are too many to compare are searched and said to be",
          "[surfaces][selection]") {
  const std::vector<doe::Factor> factors = unit_factors(6);
  const NoisyData data = noisy_data(80, factors, 5);
  const doe::Model largest = doe::Model::named("quadratic", factors);
  const Selection searched = select_model(largest, data.coded, data.y, {.max_models = 1000});
  CHECK_FALSE(searched.exhaustive);
  for (const SelectionMethod method : {SelectionMethod::kForward, SelectionMethod::kBackward}) {
    const Selection path = select_model(largest, data.coded, data.y, {.method = method});
    CHECK(*searched.fit.aicc <= *path.fit.aicc + 1e-9);
  }
  // With five factors all models can be compared.
  const doe::Model fewer = doe::Model::named("quadratic", unit_factors(5));
  int found = 0;
  for (std::uint64_t trial = 0; trial < 3; ++trial) {
    const NoisyData runs = noisy_data(40, unit_factors(5), 50 + trial);
    found += select_model(fewer, runs.coded, runs.y, {.max_models = 1000}).fit.model.terms() ==
             select_model(fewer, runs.coded, runs.y).fit.model.terms();
  }
  CHECK(found == 3);
  // More terms than runs: the largest model has no fit, but the search continues.
  const doe::Model many = doe::Model::named("quadratic", unit_factors(8));
  const NoisyData few = noisy_data(30, unit_factors(8), 6);
  const Selection supersaturated = select_model(many, few.coded, few.y);
  CHECK_FALSE(supersaturated.exhaustive);
  const Selection forward =
      select_model(many, few.coded, few.y, {.method = SelectionMethod::kForward});
  CHECK(*supersaturated.fit.aicc <= *forward.fit.aicc + 1e-9);
}

TEST_CASE("Where AICc does not exist the reason is said", "[surfaces][selection]") {
  const doe::Model quadratic = doe::Model::named("quadratic", unit_factors(2));
  const NoisyData data = noisy_data(8, unit_factors(2), 7);
  CHECK_THROWS_WITH(
      select_model(quadratic, data.coded, data.y, {.method = SelectionMethod::kBackward}),
      Catch::Contains("8 runs and 6 coefficients") && Catch::Contains("forward selection"));
  CHECK_THROWS_WITH(select_model(quadratic, data.coded.topRows(3), data.y.head(3)),
                    Catch::Contains("3 runs and 1 coefficient"));
  CHECK_THROWS_WITH(select_model(quadratic, data.coded.topRows(5), data.y.head(5),
                                 {.method = SelectionMethod::kBackward}),
                    Catch::Contains("5 runs") && Catch::Contains("6"));
  const NoisyData more = noisy_data(20, unit_factors(2), 8);
  const Eigen::VectorXd exact = 1 + 2 * more.coded.col(0).array();
  CHECK_THROWS_WITH(select_model(quadratic, more.coded, exact),
                    Catch::Contains("fits the responses exactly"));
  CHECK_THROWS_WITH(select_model(doe::Model::parse({"a", "b"}, unit_factors(2)), more.coded, exact),
                    Catch::Contains("needs the term 1"));
}
