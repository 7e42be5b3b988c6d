#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "doe/design.h"
#include "doe/evaluation/moments.h"
#include "doe/optimal/budget.h"
#include "doe/optimal/split_plot.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

doe::Factor hard(doe::Factor factor) {
  factor.hard_to_change = true;
  return factor;
}

doe::Factor three_levels(const std::string& name) {
  doe::Factor factor = continuous(name);
  factor.kind = doe::FactorKind::kDiscrete;
  factor.levels = {-1, 0, 1};
  return factor;
}

doe::DesignRequest request(std::vector<doe::Factor> factors, const std::string& model) {
  doe::DesignRequest request;
  request.factors = std::move(factors);
  request.region = doe::Region(request.factors, {}, {});
  request.model = doe::Model::named(model, request.factors);
  request.options.starts = 30;
  request.seed = 1;
  return request;
}

/// X' V^-1 X with V = I + Z Z', inverting the full V.
Eigen::MatrixXd brute_force(const doe::Model& model, const Eigen::MatrixXd& coded,
                            const std::vector<int>& whole_plots) {
  const Eigen::Index n = coded.rows();
  Eigen::MatrixXd v = Eigen::MatrixXd::Identity(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) v(i, j) += whole_plots[i] == whole_plots[j] ? 1 : 0;
  }
  const Eigen::MatrixXd x = model.matrix(coded);
  return x.transpose() * v.inverse() * x;
}

std::vector<int> whole_plots_of(const doe::Design& design) {
  std::vector<int> plots;
  for (const doe::DesignPoint& point : design.points) plots.push_back(point.whole_plot);
  return plots;
}

Eigen::MatrixXd information(const doe::DesignRequest& request, const doe::Design& design) {
  return brute_force(request.model, design.coded(), whole_plots_of(design));
}

void check_hard_factors_stay(const doe::DesignRequest& request, const doe::Design& design) {
  std::map<int, Eigen::VectorXd> first;
  for (const doe::DesignPoint& point : design.points) {
    REQUIRE(point.whole_plot > 0);
    const Eigen::VectorXd& setting = first.try_emplace(point.whole_plot, point.coded).first->second;
    for (std::size_t f = 0; f < request.factors.size(); ++f) {
      if (request.factors[f].hard_to_change) CHECK(point.coded[f] == setting[f]);
    }
  }
}

}  // namespace

TEST_CASE("Where an orthogonal split-plot design exists it is found", "[doe][split-plot]") {
  // Four whole plots of two runs: the information on a column of the easy factors is at most 8, on
  // the hard factor or the intercept at most 8 / (1 + 2 eta). Orthogonal columns reach all bounds
  // (Fischer's inequality), and the two easy factors can both sum to 0 in every whole plot.
  doe::DesignRequest wanted =
      request({hard(continuous("h")), continuous("a"), continuous("b")}, "linear");
  wanted.options.runs = 8;
  wanted.options.whole_plots = 4;
  const doe::Design design = doe::build_design("d-optimal", wanted);
  check_hard_factors_stay(wanted, design);
  const Eigen::Vector4d diagonal(8.0 / 3, 8.0 / 3, 8, 8);
  CHECK(information(wanted, design).isApprox(Eigen::MatrixXd(diagonal.asDiagonal())));
  REQUIRE(design.search);
  CHECK(design.search->best == Approx(100 * std::pow(diagonal.prod(), 0.25) / 8));
  CHECK(design.search->criterion == "D-efficiency in whole plots, percent");
}

TEST_CASE("Tiny split-plot designs are the best of all there are", "[doe][split-plot]") {
  doe::DesignRequest wanted = request({hard(three_levels("h")), three_levels("a")}, "linear");
  wanted.model = doe::Model::parse({"1", "h", "a", "h*a", "a^2"}, wanted.factors);
  wanted.options.runs = 6;
  wanted.options.whole_plots = 3;
  const std::vector<int> plots{1, 1, 2, 2, 3, 3};
  double best_determinant = 0;
  double best_trace = 1e9;
  for (int code = 0; code < 19683; ++code) {  // 3^3 settings of h, 3^6 of a
    Eigen::MatrixXd coded(6, 2);
    for (int i = 0, rest = code; i < 6; ++i, rest /= 3) coded(i, 1) = rest % 3 - 1;
    for (int i = 0, rest = code / 729; i < 6; rest /= i % 2 == 1 ? 3 : 1, ++i) {
      coded(i, 0) = rest % 3 - 1;
    }
    const Eigen::MatrixXd x = wanted.model.matrix(coded);
    Eigen::MatrixXd m = x.transpose() * x;
    for (int plot = 0; plot < 3; ++plot) {
      const Eigen::RowVectorXd sum = x.row(2 * plot) + x.row(2 * plot + 1);
      m -= sum.transpose() * sum / 3;
    }
    const double determinant = m.determinant();
    best_determinant = std::max(best_determinant, determinant);
    if (determinant > 1e-9) best_trace = std::min(best_trace, m.inverse().trace());
  }
  const doe::Design d = doe::build_design("d-optimal", wanted);
  CHECK(information(wanted, d).determinant() == Approx(best_determinant));
  const doe::Design a = doe::build_design("a-optimal", wanted);
  CHECK(information(wanted, a).inverse().trace() == Approx(best_trace));
  CHECK(a.search->best == Approx(best_trace));
}

TEST_CASE("What a split-plot search reports is X' V^-1 X, V inverted in full",
          "[doe][split-plot]") {
  doe::DesignRequest wanted = request({hard(words("w", {"x", "y", "z"})), continuous("a", 0, 10),
                                       hard(whole("h", 1, 5)), powers_of_two("c", {1, 2, 4, 8})},
                                      "interactions");
  wanted.region = doe::Region(wanted.factors,
                              {std::make_shared<const doe::Expression>(
                                  "a + h <= 11", std::vector<std::string>{"w", "a", "h", "c"})},
                              {});
  wanted.options.runs = 19;
  wanted.options.whole_plots = 8;
  wanted.options.starts = 4;
  for (const char* type : {"d-optimal", "i-optimal", "a-optimal"}) {
    const doe::Design design = doe::build_design(type, wanted);
    REQUIRE(design.points.size() == 19);  // no point had to be dropped
    check_hard_factors_stay(wanted, design);
    for (const doe::DesignPoint& point : design.points) {
      const auto natural = doe::natural_settings(wanted.factors, point.coded);
      CHECK(wanted.region.allows(natural));
      for (std::size_t f = 0; f < natural.size(); ++f) {
        CHECK(wanted.factors[f].snap(natural[f]) == natural[f]);
      }
    }
    const Eigen::MatrixXd m = information(wanted, design);
    const double p = static_cast<double>(m.rows());
    double expected = 100 * std::pow(m.determinant(), 1 / p) / 19;
    if (*type == 'a') expected = m.inverse().trace();
    if (*type == 'i') {
      expected = (m.inverse() * doe::moment_matrix(wanted.model, wanted.region)).trace();
    }
    CHECK(design.search->best == Approx(expected).epsilon(0.01));  // before a is snapped
  }
}

TEST_CASE("The gain along a coordinate is that of M computed anew", "[doe][split-plot]") {
  const doe::DesignRequest wanted =
      request({hard(continuous("h")), continuous("a"), words("w", {"x", "y", "z"})}, "quadratic");
  doe::SearchSpace space(wanted);
  const int p = space.column_count();
  RandomStream random(3, 0);
  for (const auto criterion : {doe::ExactCriterion::kDeterminant, doe::ExactCriterion::kTrace,
                               doe::ExactCriterion::kCompound}) {
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(p, p);
    const doe::SplitPlotProblem problem{
        {space, 16, {}, Eigen::MatrixXd::Zero(p, p), criterion, one, 0.3},
        {true, false, false},
        doe::whole_plot_sizes(16, 5),
        0.7};
    Eigen::MatrixXd design(16, 3);
    Eigen::VectorXd point = Eigen::VectorXd::Zero(3);
    for (int i = 0; i < 16; ++i) {
      const double h = point[0];
      space.randomise(point, random);
      if (i % 3 != 1) point[0] = h;  // sizes 4, 3, 3, 3, 3
      if (i == 1) point[0] = h;
      design.row(i) = point.transpose();
    }
    const doe::SplitPlotExchange exchange(problem, design);
    REQUIRE(exchange.value());
    for (const auto& [run, coordinate, x] :
         {std::tuple(2, 1, 0.3), std::tuple(9, 1, -1.0), std::tuple(15, 2, 1.0)}) {
      Eigen::MatrixXd changed = design;
      changed(run, coordinate) = x;
      const double value = *doe::SplitPlotExchange(problem, changed).value();
      const doe::SplitPlotExchange::RunLine line(exchange, run, coordinate);
      CHECK(line.gain(x) == Approx(std::exp(value - *exchange.value())));
      CHECK(line.gain(design(run, coordinate)) == Approx(1));
    }
  }
}

TEST_CASE("A search in whole plots that has no time ends with the design it has",
          "[doe][split-plot]") {
  doe::DesignRequest request;
  request.factors = numbered_factors(20);
  request.factors[0].hard_to_change = true;
  request.region = doe::Region(request.factors, {}, {});
  request.model = doe::Model::named("linear", request.factors);
  request.options.time_limit_s = 1e-9;
  request.seed = 1;
  const doe::Design design = doe::build_design("d-optimal", request);
  REQUIRE(design.search);
  CHECK(design.search->stopped_by_time);
  CHECK(design.search->starts == 1);
  CHECK(static_cast<int>(design.points.size()) > request.model.column_count());
}

TEST_CASE("A split-plot design is the same on any number of threads", "[doe][split-plot]") {
  doe::DesignRequest wanted =
      request({hard(continuous("h")), continuous("a"), continuous("b")}, "quadratic");
  wanted.options.budget_s = 3600;
  wanted.options.run_cost_s = 120;
  wanted.options.change_cost_s = 240;
  wanted.options.starts = 20;
  wanted.threads = 1;
  const doe::Design one = doe::build_design("d-optimal", wanted);
  wanted.threads = 2;
  const doe::Design two = doe::build_design("d-optimal", wanted);
  CHECK(one.coded() == two.coded());
  CHECK(whole_plots_of(one) == whole_plots_of(two));
}

TEST_CASE("Hard-to-change factors alone make whole plots", "[doe][split-plot]") {
  doe::DesignRequest wanted = request({hard(continuous("h")), continuous("a")}, "quadratic");
  const doe::Design design = doe::build_design("d-optimal", wanted);
  // Three whole plots for 1, h, h^2 plus two spare; six coefficients plus five spare runs.
  CHECK(design.points.size() == 11);
  const std::vector<int> plots = whole_plots_of(design);
  CHECK(std::set<int>(plots.begin(), plots.end()) == std::set<int>{1, 2, 3, 4, 5});
  // Other design types report that they ignore it.
  const doe::Design fccd = doe::build_design("fccd", wanted);
  REQUIRE(!fccd.notes.empty());
  CHECK_THAT(fccd.notes.back(), Catch::Contains("h is hard to change"));
}

TEST_CASE("Replicates have whole plots of their own", "[doe][split-plot]") {
  doe::DesignRequest wanted = request({hard(continuous("h")), continuous("a")}, "linear");
  wanted.options.runs = 12;
  wanted.options.whole_plots = 6;
  wanted.options.replicates = 2;
  const doe::Design design = doe::build_design("d-optimal", wanted);
  std::map<int, int> sizes;
  for (const int plot : whole_plots_of(design)) ++sizes[plot];
  CHECK(sizes == std::map<int, int>{{1, 2}, {2, 2}, {3, 2}, {4, 2}, {5, 2}, {6, 2}});
}

TEST_CASE("Runs are added in whole plots beside earlier ones", "[doe][split-plot]") {
  // One whole plot at h = -1 with both settings of a exists; the new one is at h = 1.
  doe::DesignRequest wanted = request({hard(continuous("h")), continuous("a")}, "interactions");
  wanted.existing.resize(2, 2);
  wanted.existing << -1, -1, -1, 1;
  wanted.existing_whole_plots = {1, 1};
  wanted.options.runs = 2;
  wanted.options.whole_plots = 1;
  const doe::Design design = doe::build_design("d-optimal", wanted);
  Eigen::MatrixXd coded(2, 2);
  coded << 1, -1, 1, 1;
  CHECK(design.coded() == coded);
  CHECK(whole_plots_of(design) == std::vector<int>{1, 1});
  Eigen::MatrixXd all(4, 2);
  all << wanted.existing, coded;
  const double m = brute_force(wanted.model, all, {1, 1, 2, 2}).determinant();
  CHECK(design.search->best == Approx(100 * std::pow(m, 0.25) / 4));
}

TEST_CASE("A budget of runs alone buys runs", "[doe][budget]") {
  doe::DesignRequest wanted = request({continuous("a"), continuous("b")}, "linear");
  wanted.options.budget_s = 3600;
  wanted.options.run_cost_s = 300;
  const doe::Design design = doe::build_design("d-optimal", wanted);
  CHECK(design.points.size() == 12);
  CHECK(design.points[0].whole_plot == 0);
  REQUIRE(design.notes.size() == 1);
  CHECK(design.notes[0] == "planned cost 60 min: 12 x 5 min for runs; the budget is 60 min");
  wanted.options.replicates = 2;
  CHECK(doe::build_design("d-optimal", wanted).points.size() == 12);
  wanted.options.replicates = 1;
  wanted.options.runs = 12;
  CHECK(doe::build_design("d-optimal", wanted).points.size() == 12);
}

TEST_CASE("A budget is spent where it is most informative", "[doe][budget]") {
  doe::DesignRequest wanted = request({hard(continuous("h")), continuous("a")}, "quadratic");
  wanted.options.budget_s = 7200;
  wanted.options.run_cost_s = 300;
  wanted.options.change_cost_s = 600;
  const doe::Design design = doe::build_design("d-optimal", wanted);
  const int plots = design.points.back().whole_plot;
  const int runs = static_cast<int>(design.points.size());
  CHECK(runs == (7200 - 600 * plots) / 300);
  CHECK_THAT(design.notes.back(),
             Catch::Contains("planned cost 2 h") || Catch::Contains("planned cost 120 min"));
  // No other number of whole plots within the budget is better.
  const double best = information(wanted, design).determinant();
  for (int other = 3; other <= 8; ++other) {
    doe::DesignRequest fixed = wanted;
    fixed.options.whole_plots = other;
    const doe::Design beside = doe::build_design("d-optimal", fixed);
    CHECK(static_cast<int>(beside.points.size()) == (7200 - 600 * other) / 300);
    CHECK(information(wanted, beside).determinant() <= best * (1 + 1e-6));
  }
}

TEST_CASE("Allocations keep to the budget, and none could hold a run more", "[doe][budget]") {
  RandomStream random(4, 0);
  for (int trial = 0; trial < 50; ++trial) {
    doe::DesignOptions options;
    options.run_cost_s = 1 + static_cast<double>(random.below(100));
    options.change_cost_s = static_cast<double>(random.below(500));
    options.budget_s = 20000;
    options.replicates = 1 + static_cast<int>(random.below(3));
    const auto all = doe::allocations(options, {6, 0, 11, 3});
    for (const doe::Allocation& a : all) {
      const auto cost = [&](int runs) {
        return options.replicates *
               (runs * *options.run_cost_s + a.whole_plots * *options.change_cost_s);
      };
      CHECK(cost(a.runs) <= *options.budget_s * (1 + 1e-9));
      CHECK(cost(a.runs + 1) > *options.budget_s);
      CHECK(a.runs >= std::max(6, a.whole_plots));
      CHECK(a.whole_plots >= 3);
    }
  }
}

TEST_CASE("Costs and whole plots that contradict each other are refused", "[doe][budget]") {
  const doe::DesignRequest easy = request({continuous("a"), continuous("b")}, "quadratic");
  doe::DesignRequest both = request({hard(continuous("h")), continuous("a")}, "quadratic");
  const auto message = [](doe::DesignRequest wanted, const auto& set) -> std::string {
    set(wanted.options);
    try {
      doe::build_design("d-optimal", wanted);
    } catch (const doe::DesignError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(message(easy, [](auto& o) { o.budget_s = 60; }) ==
        "budget: set run_cost to the time of one run, as in run_cost: 5 min");
  CHECK(message(easy,
                [](auto& o) {
                  o.budget_s = 1200;
                  o.run_cost_s = 300;
                }) ==
        "a budget of 20 min allows 4 runs, but the model needs 6 runs: give 30 min or more, or a "
        "smaller model");
  CHECK(message(easy, [](auto& o) {
          o.budget_s = 3600;
          o.run_cost_s = 300;
          o.runs = 13;
        }) == "13 runs cost 65 min; the budget of 60 min allows 12 runs");
  CHECK_THAT(message(easy, [](auto& o) { o.whole_plots = 4; }),
             Catch::Contains("no factor is hard to change"));
  CHECK(message(both,
                [](auto& o) {
                  o.budget_s = 3600;
                  o.run_cost_s = 300;
                  o.change_cost_s = 900;
                }) ==
        "a budget of 60 min allows 3 runs in 3 whole plots, but the model needs 6 runs in 3 whole "
        "plots: give 75 min or more, or a smaller model");
  CHECK(message(both, [](auto& o) { o.whole_plots = 2; }) ==
        "2 whole plots cannot determine the 3 coefficients of the hard-to-change factors; give 3 "
        "or more, or a smaller model");
  CHECK(message(both, [](auto& o) {
          o.whole_plots = 9;
          o.runs = 8;
        }) == "8 runs do not fill 9 whole plots; give more runs");
  CHECK_THAT(message(both, [](auto& o) { o.center_runs = 2; }), Catch::Contains("center_runs"));
  CHECK_THAT(message(both, [](auto& o) { o.blocks = 2; }), Catch::Contains("blocks"));
  CHECK_THAT(message(both, [](auto& o) { o.runs = 5; }),
             Catch::Contains("5 runs cannot determine 6 coefficients"));
}
