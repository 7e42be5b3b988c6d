// Tests of the analyses of an optimum: gains, equivalents, robustness, Pareto fronts, relaxed
// limits, and the uncertainty of its location.
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "base/random.h"
#include "doe/design.h"
#include "surfaces/distributions.h"
#include "surfaces/fit.h"
#include "surfaces/models/gaussian_process.h"
#include "surfaces/models/shrunken_posterior.h"
#include "surfaces/optimum/comparison.h"
#include "surfaces/optimum/drawn_scores.h"
#include "surfaces/optimum/equivalents.h"
#include "surfaces/optimum/pareto.h"
#include "surfaces/optimum/range_ends.h"
#include "surfaces/optimum/relaxations.h"
#include "surfaces/optimum/robustness.h"
#include "surfaces/optimum/settings_search.h"
#include "surfaces/optimum/uncertainty.h"
#include "tests/surfaces/published_fccd.h"
#include "tests/surfaces/random_normal.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Goal;
using surfaces::GoalType;
using surfaces::Settings;
using surfaces::Transform;

namespace {

/// 3 x 3 points of two factors, two runs each.
Eigen::MatrixXd nine_points_twice() {
  Eigen::MatrixXd coded(18, 2);
  for (int i = 0; i < 18; ++i) coded.row(i) << i % 3 - 1, i / 3 % 3 - 1;
  return coded;
}

/// A hill with its maximum of 20 at (0.3, -0.2), measured with an error of `sigma`.
surfaces::Fit measured_hill(double sigma, std::uint64_t seed, Transform transform = {}) {
  RandomStream random(seed, 0);
  const Eigen::MatrixXd coded = nine_points_twice();
  Eigen::VectorXd y(18);
  for (int i = 0; i < 18; ++i) {
    y[i] = 20 - 3 * std::pow(coded(i, 0) - 0.3, 2) - 2 * std::pow(coded(i, 1) + 0.2, 2) +
           sigma * random_normal(random);
  }
  return surfaces::fit_least_squares(doe::Model::named("quadratic", unit_factors(2)), coded, y,
                                     {.transform = transform});
}

/// A cost of 10 + 5 c0 + c1, measured with an error of 0.1.
surfaces::Fit measured_cost(std::uint64_t seed) {
  RandomStream random(seed, 1);
  const Eigen::MatrixXd coded = nine_points_twice();
  Eigen::VectorXd y(18);
  for (int i = 0; i < 18; ++i)
    y[i] = 10 + 5 * coded(i, 0) + coded(i, 1) + 0.1 * random_normal(random);
  return surfaces::fit_least_squares(doe::Model::named("linear", unit_factors(2)), coded, y);
}

surfaces::OptimumRequest request_for(std::vector<surfaces::GoalResponse> responses) {
  surfaces::OptimumRequest request;
  request.factors = unit_factors(2);
  request.responses = std::move(responses);
  request.threads = 2;
  return request;
}

/// A surface that notes at how many points its errors were asked for together.
class CountedSurface : public surfaces::Surface {
 public:
  explicit CountedSurface(const surfaces::Fit& fit) : fit_(fit) {}

  surfaces::Prediction predict(const Eigen::Ref<const Eigen::VectorXd>& coded) const override {
    return fit_.predict(coded);
  }
  surfaces::MeanErrors mean_errors(const Eigen::MatrixXd& coded) const override {
    Eigen::Index before = max_rows_;
    while (before < coded.rows() && !max_rows_.compare_exchange_weak(before, coded.rows()))
      continue;
    return fit_.mean_errors(coded);
  }
  Eigen::Index max_rows() const { return max_rows_; }

 private:
  const surfaces::Fit& fit_;
  mutable std::atomic<Eigen::Index> max_rows_ = 0;
};

const Goal kHigh{GoalType::kMaximize, 0, 25};
const Goal kLow{GoalType::kMinimize, 0, 20};

}  // namespace

TEST_CASE("The gain of one coefficient is known as well as the coefficient",
          "[surfaces][comparison]") {
  // From (0, 0) to (0.5, 0) a straight line in c0 gains half of its slope, with half of its error.
  const surfaces::Fit fit = measured_cost(1);
  const auto request = request_for({{"cost", &fit, {}}});
  const surfaces::Gain gain = surfaces::gains(request, {0.5, 0}, {0, 0}).front();
  const double t = surfaces::t_quantile(0.95, fit.df_residual);
  CHECK(gain.difference == Approx(fit.beta[1] / 2));
  CHECK(gain.interval->high - gain.difference ==
        Approx(t * *fit.coefficients[1].std_error / 2).epsilon(1e-9));
  // Settings compared with themselves: no gain, without uncertainty.
  const surfaces::Gain none = surfaces::gains(request, {0.5, 0}, {0.5, 0}).front();
  CHECK(none.difference == 0);
  CHECK(none.interval->high == Approx(0).margin(1e-6));
  CHECK(none.ratio_interval->low == Approx(1).margin(1e-6));
}

TEST_CASE("Intervals of differences and ratios cover at their nominal rate",
          "[surfaces][comparison]") {
  constexpr int kStudies = 400;
  for (const Transform transform : {Transform::kNone, Transform::kLog}) {
    int differences = 0, ratios = 0;
    for (int study = 0; study < kStudies; ++study) {
      RandomStream random(300 + static_cast<std::uint64_t>(study), 0);
      const Eigen::MatrixXd coded = nine_points_twice();
      Eigen::VectorXd y(18);
      for (int i = 0; i < 18; ++i) {
        const double z = 2 + 0.4 * coded(i, 0) - 0.1 * coded(i, 1) + 0.2 * random_normal(random);
        y[i] = surfaces::back_transformed(transform, z);
      }
      const surfaces::Fit fit = surfaces::fit_least_squares(
          doe::Model::named("linear", unit_factors(2)), coded, y, {.transform = transform});
      auto request = request_for({{"y", &fit, {}}});
      request.confidence = 0.9;
      const surfaces::Gain gain = surfaces::gains(request, {1, 0.5}, {-0.5, 0}).front();
      const double a = surfaces::back_transformed(transform, 2.35);
      const double b = surfaces::back_transformed(transform, 1.8);
      differences += gain.interval->low <= a - b && a - b <= gain.interval->high;
      ratios += gain.ratio_interval->low <= a / b && a / b <= gain.ratio_interval->high;
    }
    const double tolerance = 4 * std::sqrt(kStudies * 0.9 * 0.1);
    CHECK(std::abs(differences - 0.9 * kStudies) < tolerance);
    CHECK(std::abs(ratios - 0.9 * kStudies) < tolerance);
  }
}

TEST_CASE("What the runs cannot distinguish from the best is listed with what it costs",
          "[surfaces][equivalents]") {
  const surfaces::Fit hill = measured_hill(1.5, 2), cost = measured_cost(2);
  const auto request = request_for({{"y", &hill, kHigh}, {"cost", &cost, {}}});
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  const auto equivalents = surfaces::equivalents(request, optimum.best);
  REQUIRE_FALSE(equivalents.empty());
  REQUIRE(equivalents.size() <= 5);
  CHECK(std::is_sorted(equivalents.begin(), equivalents.end(), [](const auto& a, const auto& b) {
    return a.candidate.desirability > b.candidate.desirability;
  }));
  for (const surfaces::Equivalent& other : equivalents) {
    REQUIRE(other.against_best.size() == 2);
    CHECK(other.against_best[0].difference <= 0);
    CHECK(other.against_best[0].interval->high >= 0);  // possibly as good
    CHECK(other.against_best[1].difference ==
          Approx(other.candidate.predictions[1].mean - optimum.best.predictions[1].mean));
  }
  // With a hundredth of the error nothing a quarter of the range away is as good.
  const surfaces::Fit sharp = measured_hill(0.005, 2);
  const auto sure = request_for({{"y", &sharp, kHigh}});
  CHECK(surfaces::equivalents(sure, surfaces::find_optimum(sure).best).empty());
}

TEST_CASE("Equivalents on a Gaussian process differ by no more than their joint error",
          "[surfaces][equivalents]") {
  RandomStream random(5, 0);
  const Eigen::MatrixXd coded = nine_points_twice();
  Eigen::VectorXd y(18);
  for (int i = 0; i < 18; ++i) {
    y[i] = 20 - 3 * std::pow(coded(i, 0), 2) - 2 * std::pow(coded(i, 1), 2) +
           0.7 * random_normal(random);
  }
  const surfaces::GaussianProcess process =
      surfaces::fit_gaussian_process(doe::Model::parse({"1"}, unit_factors(2)), coded, y);
  const auto request = request_for({{"y", &process, kHigh}});
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  const auto equivalents = surfaces::equivalents(request, optimum.best);
  REQUIRE_FALSE(equivalents.empty());
  for (const surfaces::Equivalent& other : equivalents) {
    REQUIRE(other.against_best[0].interval);
    CHECK(other.against_best[0].interval->high >= 0);
  }
}

TEST_CASE("A plane passes on the scatter of its factors", "[surfaces][robustness]") {
  const surfaces::Fit cost = measured_cost(3);
  auto request = request_for({{"cost", &cost, Goal{GoalType::kAtMost, 0, 10.2}}});
  const surfaces::Robustness robust =
      surfaces::robustness(request, {0, 0}, {{"a", 0.1}, {"b", 0.2}});
  CHECK(robust.moved_settings == 9);
  CHECK(robust.responses[0].transmitted ==
        Approx(std::hypot(0.1 * cost.beta[1], 0.2 * cost.beta[2])));
  const double reach = 0.1 * cost.beta[1] + 0.2 * cost.beta[2];
  CHECK(robust.responses[0].range.high == Approx(cost.beta[0] + reach));
  CHECK(robust.responses[0].range.low == Approx(cost.beta[0] - reach));
  CHECK(*robust.responses[0].worst == robust.responses[0].range.high);
  CHECK(robust.responses[0].worst_at == Settings{0.1, 0.2});
  CHECK(robust.limits_met_fraction == Approx(5.0 / 9).margin(0.12));
  // Whether runs complete is another question.
  auto doubtful = request;
  doubtful.feasibility = [](const Eigen::MatrixXd& coded) -> Eigen::VectorXd {
    return Eigen::VectorXd::Constant(coded.rows(), 0.5);
  };
  const surfaces::Robustness of_doubtful =
      surfaces::robustness(doubtful, {0, 0}, {{"a", 0.1}, {"b", 0.2}});
  CHECK(of_doubtful.limits_met_fraction == robust.limits_met_fraction);
  CHECK(*of_doubtful.min_feasibility == 0.5);
  CHECK(*robust.min_all_goals_met_probability ==
        Approx(*cost.predict(Eigen::Vector2d(0.1, 0.2)).probability_within(-1e9, 10.2))
            .epsilon(1e-6));
  // What is promised of the settings themselves, by the posterior, is not less than one step off.
  auto chosen = request;
  chosen.responses[0].posterior = std::make_shared<const surfaces::ShrunkenPosterior>(
      *surfaces::ShrunkenPosterior::of(cost, cost.model));
  const auto unmoved = surfaces::assess(chosen, {0, 0}).all_goals_met_probability;
  REQUIRE(unmoved != surfaces::assess(request, {0, 0}).all_goals_met_probability);
  CHECK(surfaces::robustness(chosen, {0, 0}, {{"a", 1e-9}, {"b", 1e-9}})
            .min_all_goals_met_probability.value() == Approx(*unmoved).epsilon(1e-6));
  // A step of a continuous factor is a twentieth of its range; at its end there is none beyond.
  const surfaces::Robustness at_end = surfaces::robustness(request, {0, 1});
  CHECK(at_end.moved_settings == 6);
  CHECK(*at_end.moves[0].up == Approx(0.1));
  CHECK(*at_end.moves[1].down == Approx(0.9));
  CHECK_FALSE(at_end.moves[1].up);
  request.factors[0].step = 0.25;
  CHECK(*surfaces::robustness(request, {0, 1}).moves[0].down == Approx(-0.25));
  CHECK_THROWS_WITH(surfaces::robustness(request, {0, 0}, {{"z", 0.1}}), Catch::Contains("'z'"));
  CHECK_THROWS_WITH(surfaces::robustness(request, {0, 0}, {{"a", -1}}), Catch::Contains("above 0"));
}

TEST_CASE("No usable setting dominates the Pareto front", "[surfaces][pareto]") {
  const surfaces::Fit hill = measured_hill(0.1, 4), cost = measured_cost(4);
  const auto request = request_for({{"y", &hill, kHigh}, {"cost", &cost, kLow}});
  const surfaces::ParetoFront front = surfaces::pareto_front(request);
  CHECK(front.complete);
  REQUIRE(front.points.size() == 50);
  CHECK(front.points.front().candidate.predictions[0].mean ==
        Approx(surfaces::predicted_ranges(request)[0].high));
  CHECK(front.points.back().candidate.predictions[1].mean ==
        Approx(surfaces::predicted_ranges(request)[1].low));
  const std::vector<double> usable = request.factors[0].usable_settings();
  for (const surfaces::ParetoPoint& point : front.points) {
    const double y = point.candidate.predictions[0].mean, c = point.candidate.predictions[1].mean;
    CHECK(point.non_dominated_probability > 0);
    CHECK(point.non_dominated_probability <= 1 + 1e-9);
    for (std::size_t i = 0; i < usable.size(); i += 7) {
      for (std::size_t j = 0; j < usable.size(); j += 7) {
        const Eigen::Vector2d at(usable[i], usable[j]);
        REQUIRE_FALSE((hill.response(at) > y + 1e-9 && cost.response(at) < c - 1e-9));
      }
    }
  }
  CHECK(surfaces::pareto_front(request_for({{"y", &hill, kHigh}})).points.empty());
}

TEST_CASE("A front within limits has the best of what meets them, however little that is",
          "[surfaces][pareto]") {
  const surfaces::Fit hill = measured_hill(0.1, 4), cost = measured_cost(4),
                      bound = measured_cost(4);
  const auto request = request_for({{"y", &hill, kHigh},
                                    {"cost", &cost, kLow},
                                    {"bound", &bound, Goal{GoalType::kAtMost, 0, 4.5}}});
  const auto within = [](const surfaces::ParetoPoint& point) {
    return point.candidate.predictions[2].mean <= 4.5;
  };
  const auto all = surfaces::pareto_front(request).points;
  const auto allowed = surfaces::pareto_front(request, surfaces::LimitsAre::kConstraints).points;
  REQUIRE(allowed.size() == 50);
  CHECK(std::all_of(allowed.begin(), allowed.end(), within));
  CHECK(std::count_if(all.begin(), all.end(), within) < 10);  // thinned for the whole range
  double highest = 0;
  for (const double a : request.factors[0].usable_settings()) {
    for (const double b : request.factors[1].usable_settings()) {
      if (bound.response(Eigen::Vector2d(a, b)) > 4.5) continue;
      highest = std::max(highest, hill.response(Eigen::Vector2d(a, b)));
    }
  }
  CHECK(allowed.front().candidate.predictions[0].mean == Approx(highest));
  const auto none = request_for({{"y", &hill, kHigh},
                                 {"cost", &cost, kLow},
                                 {"bound", &bound, Goal{GoalType::kAtMost, 0, 3}}});
  CHECK(surfaces::pareto_front(none, surfaces::LimitsAre::kConstraints).points.empty());
}

TEST_CASE("Goals that contradict each other say what each limit costs", "[surfaces][relaxations]") {
  // cost = 10 + 5 a + b at most 4 needs a at -1; rate = 5 a at least 2 needs a of 0.4.
  const surfaces::Fit cost = measured_cost(5);
  RandomStream random(5, 2);
  const Eigen::MatrixXd coded = nine_points_twice();
  Eigen::VectorXd y(18);
  for (int i = 0; i < 18; ++i) y[i] = 5 * coded(i, 0) + 0.01 * random_normal(random);
  const surfaces::Fit rate =
      surfaces::fit_least_squares(doe::Model::named("linear", unit_factors(2)), coded, y);
  auto request = request_for({{"cost", &cost, Goal{GoalType::kAtMost, 0, 4.5}},
                              {"rate", &rate, Goal{GoalType::kAtLeast, 2}}});
  REQUIRE_FALSE(surfaces::find_optimum(request).feasible);
  const auto relaxations = surfaces::relaxations(request);
  REQUIRE(relaxations.size() == 2);
  for (const surfaces::Relaxation& relaxation : relaxations) CHECK(relaxation.feasible);
  CHECK(relaxations[0].reachable == Approx(11).margin(0.3));    // 10 + 5 x 0.4 - 1
  CHECK(relaxations[1].reachable == Approx(-4.5).margin(0.3));  // a = -0.9
  // With the limit set to its reachable value, all goals are met.
  request.responses[0].goal->high = relaxations[0].reachable;
  CHECK(surfaces::find_optimum(request).feasible);
}

TEST_CASE("The region of the optimum's place holds the true one at about the nominal rate",
          "[surfaces][uncertainty]") {
  constexpr int kStudies = 150;
  int inside = 0, in_range = 0;
  for (int study = 0; study < kStudies; ++study) {
    const surfaces::Fit hill = measured_hill(0.4, 500 + static_cast<std::uint64_t>(study));
    auto request = request_for({{"y", &hill, kHigh}});
    surfaces::Optimum optimum;
    optimum.best.settings = {0, 0};
    const auto uncertainty = surfaces::optimum_uncertainty(request, optimum, 400);
    REQUIRE(uncertainty.exact);
    inside += uncertainty.region->contains(Eigen::Vector2d(0.3, -0.2));
    const surfaces::Interval a = uncertainty.factors[0].settings;
    in_range += a.low <= 0.3 && 0.3 <= a.high;
  }
  CHECK(std::abs(inside - 0.95 * kStudies) < 4 * std::sqrt(kStudies * 0.95 * 0.05));
  CHECK(std::abs(in_range - 0.9 * kStudies) < 4 * std::sqrt(kStudies * 0.9 * 0.1));
}

TEST_CASE("The optimum may lie where runs are not yet known to complete",
          "[surfaces][uncertainty]") {
  // The more the better, and a run completes up to a = 0 or up to a = 0.6, each with probability
  // one half: by what is known today only a <= 0 can be recommended.
  const surfaces::Fit cost = measured_cost(3);
  auto request = request_for({{"cost", &cost, Goal{GoalType::kMaximize, 5, 15}}});
  request.hold = {{"b", 0}};
  request.factors[0].step = 0.1;
  request.drawn_feasibility = [](const Eigen::MatrixXd& coded) {
    Eigen::MatrixXd drawn(coded.rows(), 2);
    drawn.col(0) = (coded.col(0).array() < 0.05).cast<double>();
    drawn.col(1) = (coded.col(0).array() < 0.65).cast<double>();
    return drawn;
  };
  request.feasibility = [&](const Eigen::MatrixXd& coded) -> Eigen::VectorXd {
    return request.drawn_feasibility(coded).rowwise().mean();
  };
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  REQUIRE(optimum.best.settings[0] == Approx(0).margin(1e-9));
  const auto uncertainty = surfaces::optimum_uncertainty(request, optimum, 400);
  CHECK(uncertainty.factors[0].settings.low == Approx(0).margin(1e-9));
  CHECK(uncertainty.factors[0].settings.high == Approx(0.6));
  // As if what is known were certain.
  request.drawn_feasibility = {};
  request.feasibility = [](const Eigen::MatrixXd& coded) -> Eigen::VectorXd {
    return (coded.col(0).array() < 0.05).cast<double>();
  };
  CHECK(surfaces::optimum_uncertainty(request, optimum, 400).factors[0].settings.high ==
        Approx(0).margin(1e-9));
}

TEST_CASE("The optimum may lie where a limit is not yet known to be met",
          "[surfaces][uncertainty]") {
  // Runs scatter with a known error, so that the limit ends where mean + 1.2816 sigma reaches it;
  // today's settings keep a distance for the unknown mean as well.
  const surfaces::Fit cost = measured_cost(3), hill = measured_hill(0.02, 9);
  auto request =
      request_for({{"y", &hill, kHigh}, {"cost", &cost, Goal{GoalType::kAtMost, 0, 9.9}}});
  request.responses[1].goal->confidence = 0.9;
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  REQUIRE(optimum.best.doubt == 0);
  const auto uncertainty = surfaces::optimum_uncertainty(request, optimum, 400);
  const double sigma = cost.predict(Eigen::Vector2d(0, 0)).sigma;
  const auto at_edge = [&](const surfaces::OptimumUncertainty& found) {
    const Eigen::Vector2d centre = found.region->centre;
    return cost.predict(centre).mean + 1.2816 * sigma;
  };
  CHECK(at_edge(uncertainty) == Approx(9.9).margin(0.1));
  CHECK(cost.predict(doe::coded_point(request.factors, optimum.best.settings)).mean <
        9.9 - 1.2816 * sigma);
  // Where the predicted mean keeps exactly this distance, half of the true ones keep less.
  Eigen::MatrixXd at_limit(1, 2);
  at_limit << (9.9 - 1.2816 * sigma - cost.beta[0]) / cost.beta[1], 0;
  const surfaces::DrawnScores drawn(request, at_limit);
  const surfaces::DrawnTruths truths = drawn.draw(0, 2'000, 1);
  int met = 0;
  for (int draw = 0; draw < 2'000; ++draw) met += drawn.scores(truths, draw)[0].violation == 0;
  CHECK(std::abs(met - 1'000) < 4 * std::sqrt(500.0));
}

TEST_CASE("The exact draws and those among usable settings agree", "[surfaces][uncertainty]") {
  const surfaces::Fit hill = measured_hill(0.4, 9), cost = measured_cost(9);
  auto request = request_for({{"y", &hill, kHigh}});
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  const auto exact = surfaces::optimum_uncertainty(request, optimum, 2000);
  // A limit that is always met changes only the search method.
  request.responses.push_back({"cost", &cost, Goal{GoalType::kAtMost, 0, 1000}});
  const auto searched = surfaces::optimum_uncertainty(request, optimum, 2000);
  CHECK(exact.exact);
  CHECK_FALSE(searched.exact);
  for (int f = 0; f < 2; ++f) {
    CHECK(searched.factors[f].settings.low == Approx(exact.factors[f].settings.low).margin(0.06));
    CHECK(searched.factors[f].settings.high == Approx(exact.factors[f].settings.high).margin(0.06));
  }
  double sum = 0;
  for (const double fraction : exact.best_shares) sum += fraction;
  CHECK(sum == Approx(1));
  CHECK(exact.best_shares[0] > 0.9);  // alternatives are a quarter of the range away
  CHECK(*exact.expected_response_loss > 0);
  CHECK(*exact.expected_response_loss < 0.4);
  request.threads = 3;
  CHECK(surfaces::optimum_uncertainty(request, optimum, 2000).region->centre ==
        searched.region->centre);
}

// The time of a joint draw from a Gaussian process grows with the cube of the number of points.
TEST_CASE("No more settings are drawn together than allowed, and the optima are the same",
          "[surfaces][uncertainty]") {
  const surfaces::Fit hill = measured_hill(0.4, 9), cost = measured_cost(9);
  const CountedSurface counted(hill);
  auto request = request_for({{"y", &hill, kHigh}});
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  const auto exact = surfaces::optimum_uncertainty(request, optimum, 2000);
  request.responses[0].surface = &counted;
  request.responses.push_back({"cost", &cost, Goal{GoalType::kAtMost, 0, 1000}});
  request.max_drawn = 600;
  const auto searched = surfaces::optimum_uncertainty(request, optimum, 2000);
  CHECK(counted.max_rows() > 0);
  CHECK(counted.max_rows() <= 600);
  for (int f = 0; f < 2; ++f) {
    CHECK(searched.factors[f].settings.low == Approx(exact.factors[f].settings.low).margin(0.06));
    CHECK(searched.factors[f].settings.high == Approx(exact.factors[f].settings.high).margin(0.06));
  }
}

TEST_CASE("Of factors that nothing depends on the optimum lies anywhere",
          "[surfaces][uncertainty]") {
  // y of a alone, as selection may leave it; b occurs only in a response without a goal.
  const surfaces::Fit full = measured_hill(0.4, 9), cost = measured_cost(9);
  const surfaces::Fit of_a =
      surfaces::fit_least_squares(doe::Model::parse({"1", "a", "a^2"}, full.model.factors()),
                                  full.coded, full.fitted + full.residuals);
  auto request = request_for({{"y", &of_a, kHigh}, {"cost", &cost, {}}});
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  for (const bool limited : {false, true}) {
    // A limit that is always met changes only the search method.
    if (limited) request.responses.push_back({"limit", &of_a, Goal{GoalType::kAtMost, 0, 1000}});
    const auto uncertainty = surfaces::optimum_uncertainty(request, optimum, 400);
    CHECK(uncertainty.exact != limited);
    CHECK_FALSE(uncertainty.factors[0].anywhere);
    CHECK(uncertainty.factors[1].anywhere);
    CHECK(uncertainty.factors[1].settings.low == -1);
    CHECK(uncertainty.factors[1].settings.high == 1);
    CHECK(uncertainty.region->factors == std::vector<Eigen::Index>{0});
  }
  request.hold = {{"b", 0.5}};
  CHECK_FALSE(surfaces::optimum_uncertainty(request, optimum, 400).factors[1].anywhere);
}

TEST_CASE("Better settings lie outside only where the factor has an effect",
          "[surfaces][uncertainty][long]") {
  // y rises with a; b is noise, of which half the studies show the best setting at an end.
  constexpr int kStudies = 200;
  const std::vector<doe::Factor> factors = unit_factors(2);
  int of_a = 0, at_end = 0, said = 0;
  for (std::uint64_t study = 0; study < kStudies; ++study) {
    RandomStream random(31, study);
    Eigen::MatrixXd coded(18, 2);
    Eigen::VectorXd y(18);
    for (int i = 0; i < 18; ++i) {
      coded.row(i) << i % 3 - 1, i / 3 % 3 - 1;
      y[i] = 10 + 5 * coded(i, 0) + random_normal(random);
    }
    const surfaces::Fit fit =
        surfaces::fit_least_squares(doe::Model::named("quadratic", factors), coded, y);
    surfaces::OptimumRequest request{factors, {}, {{"y", &fit, kHigh}}, {}};
    const surfaces::Optimum optimum = surfaces::find_optimum(request);
    const auto improving = surfaces::improving_ends(request, optimum);
    const auto has = [](const std::vector<std::string>& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    of_a += has(improving, factors[0].name) ? 1 : 0;
    at_end += has(optimum.at_bound, factors[1].name) ? 1 : 0;
    said += has(improving, factors[1].name) ? 1 : 0;
  }
  CHECK(of_a > 0.95 * kStudies);
  CHECK(at_end > kStudies / 3);
  // A one-sided test at 2.5 %, of whichever end looks better: 5 % and four standard errors.
  CHECK(said < kStudies * 0.05 + 4 * std::sqrt(kStudies * 0.05 * 0.95));
}

TEST_CASE("Without an error estimate nothing is said of the uncertainty",
          "[surfaces][uncertainty]") {
  Eigen::MatrixXd coded(3, 2);
  coded << -1, 0, 1, 0, 0, 1;
  const surfaces::Fit fit = surfaces::fit_least_squares(
      doe::Model::named("linear", unit_factors(2)), coded, Eigen::Vector3d(1, 2, 3));
  const auto request = request_for({{"y", &fit, kHigh}});
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  CHECK_THROWS_WITH(surfaces::optimum_uncertainty(request, optimum),
                    Catch::Contains("has an error estimate"));
  CHECK(surfaces::equivalents(request, optimum.best).empty());
  CHECK_FALSE(surfaces::gains(request, {0, 0}, {1, 1}).front().interval);
  CHECK_FALSE(optimum.best.predictions[0].tolerance_interval);
}

TEST_CASE("The exact optimum of one quadratic bounds what usable settings can miss",
          "[surfaces][optimum]") {
  // Seven factors of 201 settings each, a hill with its maximum at 0.123 in each.
  const std::vector<doe::Factor> factors = numbered_factors(7);
  const doe::Model model = doe::Model::named("pure-quadratic", factors);
  RandomStream random(2, 0);
  Eigen::MatrixXd coded(40, 7);
  for (double& c : coded.reshaped()) c = static_cast<double>(random.below(3)) - 1;
  Eigen::VectorXd y(40);
  for (int i = 0; i < 40; ++i) y[i] = 9 - (coded.row(i).array() - 0.123).square().sum();
  const surfaces::Fit fit = surfaces::fit_least_squares(model, coded, y);
  surfaces::OptimumRequest request;
  request.factors = factors;
  request.responses = {{"y", &fit, Goal{GoalType::kMaximize, 0, 10}}};
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  for (const double x : optimum.best.settings) CHECK(x == Approx(0.12));
  CHECK(*optimum.optimality_gap == Approx(7 * 0.003 * 0.003).epsilon(1e-4));
  CHECK_FALSE(optimum.global);
}
