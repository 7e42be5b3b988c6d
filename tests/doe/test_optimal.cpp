#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <set>

#include "doe/design.h"
#include "doe/evaluation.h"
#include "doe/evaluation/moments.h"
#include "doe/optimal/budget.h"
#include "doe/optimal/search.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

doe::DesignRequest request(std::vector<doe::Factor> factors, const std::string& model, int runs) {
  doe::DesignRequest request;
  request.factors = std::move(factors);
  request.region = doe::Region(request.factors, {}, {});
  request.model = doe::Model::named(model, request.factors);
  request.options.runs = runs;
  request.seed = 1;
  return request;
}

doe::ExchangeProblem problem(const doe::DesignRequest& request) {
  doe::SearchSpace space(request);
  const int p = space.column_count();
  return {std::move(space),
          *request.options.runs,
          {},
          Eigen::MatrixXd::Zero(p, p),
          doe::ExactCriterion::kDeterminant,
          Eigen::MatrixXd::Identity(p, p)};
}

double d_efficiency(const doe::DesignRequest& request, int starts = 300) {
  const doe::ExchangeProblem p = problem(request);
  const auto found = doe::search_designs(p, {starts, 60, 1, 1});
  REQUIRE(found);
  return 100 * std::exp(found->value / p.space.column_count()) / *request.options.runs;
}

double a_value(const doe::DesignRequest& request, int starts = 300) {
  doe::ExchangeProblem p = problem(request);
  p.criterion = doe::ExactCriterion::kTrace;
  const auto found = doe::search_designs(p, {starts, 60, 1, 1});
  REQUIRE(found);
  return std::exp(-found->value);
}

}  // namespace

TEST_CASE("D-optimal designs reach what theory and the literature know", "[doe][optimal]") {
  // One factor, quadratic: the three points -1, 0, 1, |X'X| = 4 (Fedorov 1972).
  CHECK(d_efficiency(request(numbered_factors(1), "quadratic", 3)) ==
        Approx(100 * std::cbrt(4.0) / 3));
  // Four runs of a plane in two factors, eight in three: the factorials, 100 %.
  CHECK(d_efficiency(request(numbered_factors(2), "interactions", 4)) == Approx(100));
  CHECK(d_efficiency(request(numbered_factors(3), "interactions", 8)) == Approx(100));
  // Box & Draper (1971): the saturated quadratic in two factors, |X'X| = 267.737.
  const double saturated = d_efficiency(request(numbered_factors(2), "quadratic", 6));
  CHECK(std::pow(saturated * 6 / 100, 6) == Approx(267.737).epsilon(1e-5));
  // Nine runs: the 3^2 factorial, |X'X| = 5184.
  const double nine = d_efficiency(request(numbered_factors(2), "quadratic", 9));
  CHECK(std::pow(nine * 9 / 100, 6) == Approx(5184));
  // The results of long searches by others; K = 3.
  CHECK(d_efficiency(request(numbered_factors(3), "quadratic", 10)) >= 42.3471);
  CHECK(d_efficiency(request(numbered_factors(3), "quadratic", 14)) >= 46.3261);
}

TEST_CASE("Too few runs are refused before anything is computed", "[doe][optimal]") {
  // Regression test: the moments of 2211 columns over such a region took most of a minute.
  doe::DesignRequest wanted = request(numbered_factors(65), "quadratic", 20);
  wanted.region = constrained(wanted.factors, "x0 + x1 <= 1");
  CHECK_THROWS_WITH(doe::i_optimal(wanted),
                    Catch::Contains("20 runs cannot determine 2211 coefficients"));
}

TEST_CASE("Categorical factors with more combinations than fit into memory have designs",
          "[doe][optimal]") {
  std::vector<doe::Factor> factors;
  for (int f = 0; f < 63; ++f) factors.push_back(words("w" + std::to_string(f), {"no", "yes"}));
  factors[0].hard_to_change = true;  // 2^63 combinations
  doe::DesignRequest wanted = request(factors, "linear", 80);
  wanted.options.starts = 1;
  const doe::Design design = doe::build_design("d-optimal", wanted);
  CHECK(design.points.size() == 80);
  CHECK(doe::evaluate(wanted.model, design.coded()).d_efficiency);

  factors[0].hard_to_change = false;
  factors.push_back(continuous("x"));
  wanted = request(factors, "linear", 90);
  wanted.options.center_runs = 4;
  wanted.options.starts = 1;
  CHECK(doe::center_points(wanted).size() == 4);
}

TEST_CASE("Models too large to compute with are refused by their size", "[doe][optimal]") {
  std::vector<std::string> levels;
  for (int i = 0; i < 300; ++i) levels.push_back("l" + std::to_string(i));
  const std::vector<doe::Factor> factors{words("a", levels), words("b", levels), continuous("x")};
  for (const char* type : {"fccd", "full-factorial", "d-optimal"}) {
    CHECK_THROWS_WITH(doe::build_design(type, request(factors, "quadratic", 100)),
                      Catch::Contains("too many to compute with"));
  }
}

TEST_CASE("A search too large for its time limit is refused by its size", "[doe][optimal]") {
  std::vector<doe::Factor> factors = numbered_factors(63);
  for (const bool hard : {true, false}) {
    factors[0].hard_to_change = hard;
    for (const char* type : {"d-optimal", "i-optimal", "compound-optimal"}) {
      doe::DesignRequest wanted = request(factors, "quadratic", 2085);
      wanted.options.time_limit_s = 5;
      CHECK_THROWS_WITH(
          doe::build_design(type, wanted),
          Catch::Contains("2085 runs that determine 2080 coefficients does not fit in "
                          "a time_limit of 5 s") &&
              Catch::Contains("model: linear, or time_limit: 19s or more"));
    }
  }
  factors[0].hard_to_change = true;
  doe::DesignRequest linear = request(factors, "linear", 80);  // the message's advice
  linear.options.starts = 1;
  CHECK(doe::build_design("d-optimal", linear).points.size() == 80);
}

TEST_CASE("A large exchange looks at the clock within a factorisation", "[doe][optimal]") {
  doe::DesignRequest wanted = request(numbered_factors(15), "quadratic", 140);
  const doe::SearchSpace space(wanted);
  const int columns = space.column_count();
  const doe::ExchangeProblem large{
      space, 140, {}, Eigen::MatrixXd::Zero(columns, columns), doe::ExactCriterion::kDeterminant,
      {}};
  RandomStream random(1, 0);
  const Eigen::MatrixXd start = space.random_design(140, random);
  int begun = 0;
  int polls = 0;
  Eigen::MatrixXd ended;
  doe::exchange(large, 1e-3,
                {[&]() -> std::optional<doe::ExchangeTask> {
                   if (begun++ > 0) return std::nullopt;
                   return doe::ExchangeTask{0, start};
                 },
                 [&](doe::ExchangeTask task) { ended = task.design; },
                 [&] { return ++polls > 60; }});  // fewer than X'X has pairs of rows
  CHECK(ended == start);
}

TEST_CASE("A-optimal designs reach the best that is known", "[doe][optimal]") {
  const double best[] = {4.0081, 3.0836, 2.5597, 2.1363, 1.7976, 1.6360, 1.5253};
  for (int runs = 6; runs <= 12; ++runs) {
    CHECK(a_value(request(numbered_factors(2), "quadratic", runs)) < best[runs - 6] + 6e-5);
  }
}

TEST_CASE("I-optimal designs reach the best that is known", "[doe][optimal]") {
  const double best[] = {.76565, .57356, .48885, .42646, .36587, .32602, .30278};
  for (int runs = 6; runs <= 12; ++runs) {
    doe::DesignRequest wanted = request(numbered_factors(2), "quadratic", runs);
    wanted.options.starts = 300;
    const doe::Design design = doe::build_design("i-optimal", wanted);
    REQUIRE(design.search);
    CHECK(design.search->best < best[runs - 6] + 6e-6);
  }
}

TEST_CASE("Words are searched level by level", "[doe][optimal]") {
  // An orthogonal array of nine runs has every pair of three-level factors once. Sum-to-zero coding
  // gives the |X'X| of the balanced plan.
  std::vector<doe::Factor> factors;
  for (int f = 0; f < 3; ++f)
    factors.push_back(words(std::string(1, char('a' + f)), {"p", "q", "r"}));
  const doe::DesignRequest nine = request(factors, "linear", 9);
  // Each factor has X'X = [[6, 3], [3, 6]] in nine balanced runs: 27; the intercept has 9.
  CHECK(std::pow(d_efficiency(nine) * 9 / 100, 7) == Approx(9 * 27 * 27 * 27));
}

TEST_CASE("The same seed gives the same design on any number of threads", "[doe][optimal]") {
  doe::DesignRequest wanted = request(numbered_factors(3), "quadratic", 12);
  wanted.options.starts = 100;
  wanted.threads = 1;
  const Eigen::MatrixXd one = doe::build_design("d-optimal", wanted).coded();
  wanted.threads = 3;
  CHECK(doe::build_design("d-optimal", wanted).coded() == one);
  wanted.seed = 2;
  CHECK(doe::build_design("d-optimal", wanted).coded().rows() == one.rows());
}

TEST_CASE("A search ends the same whatever searches run beside it", "[doe][optimal]") {
  doe::DesignRequest limited =
      request({continuous("a"), continuous("b"), whole("c", 1, 4), words("d", {"x", "y", "z"})},
              "quadratic", 22);
  limited.region = doe::Region(limited.factors,
                               {std::make_shared<const doe::Expression>(
                                   "a + b <= 0.7", std::vector<std::string>{"a", "b", "c", "d"})},
                               {});
  for (const doe::DesignRequest& wanted :
       {request(numbered_factors(3), "quadratic", 12), limited}) {
    for (const auto criterion : {doe::ExactCriterion::kDeterminant, doe::ExactCriterion::kTrace,
                                 doe::ExactCriterion::kCompound}) {
      doe::ExchangeProblem p = problem(wanted);
      p.criterion = criterion;
      p.determinant_weight = 0.3;
      std::vector<Eigen::MatrixXd> starts(30, {p.runs, p.space.coordinate_count()});
      RandomStream random(1, 1);
      Eigen::VectorXd row = Eigen::VectorXd::Zero(p.space.coordinate_count());
      for (Eigen::MatrixXd& start : starts) {
        for (int i = 0; i < p.runs; ++i) {
          p.space.randomise(row, random);
          start.row(i) = row.transpose();
        }
      }
      const auto improve = [&](int first, int last) {
        std::vector<Eigen::MatrixXd> ended(starts.size());
        doe::exchange(p, 1e-3,
                      {[&]() -> std::optional<doe::ExchangeTask> {
                         if (first == last) return std::nullopt;
                         const int i = first++;
                         return doe::ExchangeTask{i, starts[i]};
                       },
                       [&](doe::ExchangeTask task) { ended[task.number] = task.design; },
                       [] { return false; }});
        return ended;
      };
      const auto together = improve(0, static_cast<int>(starts.size()));
      for (int i = 0; i < static_cast<int>(starts.size()); ++i) {
        REQUIRE(improve(i, i + 1)[i] == together[i]);
      }
    }
  }
}

TEST_CASE("A compound of one criterion alone finds what that criterion finds", "[doe][optimal]") {
  const doe::DesignRequest wanted = request(numbered_factors(3), "quadratic", 14);
  doe::ExchangeProblem p = problem(wanted);
  const doe::SearchSettings settings{300, 60, 1, 1};
  const double columns = p.space.column_count();
  const double determinant = doe::search_designs(p, settings)->value / columns;
  p.criterion = doe::ExactCriterion::kTrace;
  const double trace = doe::search_designs(p, settings)->value;
  p.criterion = doe::ExactCriterion::kCompound;
  p.determinant_weight = 1;
  CHECK(doe::search_designs(p, settings)->value == Approx(determinant).epsilon(1e-6));
  p.determinant_weight = 0;
  CHECK(doe::search_designs(p, settings)->value == Approx(trace).epsilon(1e-6));
}

TEST_CASE("A compound design is no worse than either by both, and between them by each",
          "[doe][optimal]") {
  doe::DesignRequest wanted = request(numbered_factors(2), "quadratic", 9);
  wanted.options.starts = 300;
  const auto design = [&](double d, double i, double a) {
    wanted.options.weights = doe::CriterionWeights{d, i, a};
    return doe::build_design("compound-optimal", wanted);
  };
  doe::ExchangeProblem p = problem(wanted);
  const auto value = [&](const doe::Design& of, doe::ExactCriterion criterion, double weight) {
    p.criterion = criterion;
    p.weight = weight * doe::moment_matrix(wanted.model, wanted.region) +
               (1 - weight) * Eigen::MatrixXd::Identity(6, 6);
    p.determinant_weight = 0.5;
    return *doe::exact_value(p, of.coded());
  };
  for (const double i : {0.0, 1.0}) {
    const doe::Design both = design(1, i, 1 - i);
    const doe::Design by_d = design(2, 0, 0);
    const doe::Design by_trace = design(0, 3 * i, 3 * (1 - i));
    CHECK(by_d.search->best == doe::build_design("d-optimal", wanted).search->best);
    CHECK(by_trace.search->best ==
          doe::build_design(i > 0 ? "i-optimal" : "a-optimal", wanted).search->best);
    for (const doe::Design* single : {&by_d, &by_trace}) {
      CHECK(value(both, doe::ExactCriterion::kCompound, i) >=
            value(*single, doe::ExactCriterion::kCompound, i) - 1e-9);
    }
    const auto between = [&](doe::ExactCriterion criterion, const doe::Design& best,
                             const doe::Design& other) {
      const double found = value(both, criterion, i);
      return found <= value(best, criterion, i) + 1e-9 &&
             found >= value(other, criterion, i) - 1e-9;
    };
    CHECK(between(doe::ExactCriterion::kDeterminant, by_d, by_trace));
    CHECK(between(doe::ExactCriterion::kTrace, by_trace, by_d));
    // The reported value is the compound of both efficiencies, below the bound for any number of
    // runs.
    const double reported = 100 * std::exp(value(both, doe::ExactCriterion::kCompound, i)) / 9;
    CHECK(both.search->best == Approx(reported));
    REQUIRE(both.search->bound);
    CHECK(both.search->best < *both.search->bound);
    CHECK(both.notes.size() == 1);
  }
}

TEST_CASE("A compound design is the same on any number of threads", "[doe][optimal]") {
  doe::DesignRequest wanted =
      request({continuous("a"), whole("b", 1, 4), words("c", {"x", "y", "z"})}, "quadratic", 14);
  wanted.options.starts = 100;
  wanted.threads = 1;
  const Eigen::MatrixXd one = doe::build_design("compound-optimal", wanted).coded();
  wanted.threads = 3;
  CHECK(doe::build_design("compound-optimal", wanted).coded() == one);
}

TEST_CASE("Weights that say nothing are refused", "[doe][optimal]") {
  doe::DesignRequest wanted = request(numbered_factors(2), "quadratic", 9);
  for (const doe::CriterionWeights weights :
       {doe::CriterionWeights{0, 0, 0}, {-1, 2, 0}, {1, std::nan(""), 0}}) {
    wanted.options.weights = weights;
    CHECK_THROWS_WITH(doe::build_design("compound-optimal", wanted), Catch::Contains("not all"));
  }
  wanted.options.weights = doe::CriterionWeights{1, 1, 1};
  CHECK_THROWS_WITH(doe::build_design("compound-optimal", wanted),
                    Catch::Contains("i and a cannot be combined"));
}

TEST_CASE("Optimal designs keep to constraints and to usable settings", "[doe][optimal]") {
  doe::DesignRequest wanted = request({continuous("a", 0, 10), whole("b", 1, 5),
                                       powers_of_two("c", {1, 2, 4, 8}), words("d", {"x", "y"})},
                                      "quadratic", 20);
  const auto constraint = std::make_shared<const doe::Expression>(
      "a + b <= 11", std::vector<std::string>{"a", "b", "c", "d"});
  wanted.region = doe::Region(wanted.factors, {constraint}, {});
  wanted.options.starts = 20;
  for (const char* type : {"d-optimal", "i-optimal", "a-optimal", "compound-optimal"}) {
    const doe::Design design = doe::build_design(type, wanted);
    REQUIRE(design.points.size() == 20);  // none had to be dropped
    for (const doe::DesignPoint& point : design.points) {
      const auto natural = doe::natural_settings(wanted.factors, point.coded);
      CHECK(wanted.region.allows(natural));
      for (std::size_t f = 0; f < natural.size(); ++f) {
        CHECK(wanted.factors[f].snap(natural[f]) == natural[f]);
      }
    }
    CHECK(doe::evaluate(wanted.model, design.coded()).d_efficiency);
  }
}

TEST_CASE("On a constrained line the limit itself is found", "[doe][optimal]") {
  // A straight line over -1 <= x <= 0.5: half of the runs at each end.
  doe::DesignRequest wanted = request(numbered_factors(1), "linear", 4);
  wanted.region = doe::Region(
      wanted.factors,
      {std::make_shared<const doe::Expression>("x0 <= 0.5", std::vector<std::string>{"x0"})}, {});
  const Eigen::MatrixXd x = doe::build_design("d-optimal", wanted).coded();
  CHECK((x.array() == -1).count() == 2);
  CHECK((x.array() == 0.5).count() == 2);
}

TEST_CASE("New runs complement those that are there", "[doe][optimal]") {
  // Three corners of a square exist; the run to add for a plane with interaction is the fourth.
  doe::DesignRequest wanted = request(numbered_factors(2), "interactions", 1);
  wanted.existing.resize(3, 2);
  wanted.existing << -1, -1, 1, -1, -1, 1;
  const doe::Design design = doe::build_design("d-optimal", wanted);
  REQUIRE(design.points.size() == 1);
  CHECK(design.points[0].coded == Eigen::Vector2d(1, 1));
}

TEST_CASE("Blocks stay unconfounded with the model", "[doe][optimal]") {
  doe::DesignRequest wanted = request(numbered_factors(2), "interactions", 8);
  wanted.options.blocks = 2;
  const doe::Design design = doe::build_design("d-optimal", wanted);
  Eigen::MatrixXd x(8, 5);
  x.leftCols(4) = wanted.model.matrix(design.coded());
  for (int i = 0; i < 8; ++i) x(i, 4) = design.points[i].block == 1 ? 1 : -1;
  // Two replicates of the 2^2: one block each, orthogonal.
  CHECK((x.transpose() * x).isApprox(8 * Eigen::MatrixXd::Identity(5, 5)));
}

TEST_CASE("Runs made already belong to no block of the new ones", "[doe][optimal]") {
  doe::DesignRequest wanted = request(numbered_factors(2), "interactions", 4);
  wanted.options.blocks = 2;
  wanted.existing.resize(3, 2);
  wanted.existing << -1, -1, 1, -1, -1, 1;
  const doe::Design design = doe::build_design("d-optimal", wanted);
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(7, 5);
  x.topLeftCorner(3, 4) = wanted.model.matrix(wanted.existing);
  x.bottomLeftCorner(4, 4) = wanted.model.matrix(design.coded());
  for (int i = 0; i < 4; ++i) x(3 + i, 4) = design.points[i].block == 1 ? 1 : -1;
  const double determinant = (x.transpose() * x).determinant();
  CHECK(design.search->best == Approx(100 * std::pow(determinant, 0.2) / 7));
}

TEST_CASE("Replicates share the runs that are asked for", "[doe][optimal]") {
  doe::DesignRequest twice = request(numbered_factors(2), "quadratic", 16);
  twice.options.replicates = 2;
  for (const char* type : {"d-optimal", "g-optimal"}) {
    const Eigen::MatrixXd x = doe::build_design(type, twice).coded();
    REQUIRE(x.rows() == 16);
    CHECK(x.topRows(8) == x.bottomRows(8));
  }
  twice.options.runs = 17;
  CHECK_THROWS_WITH(doe::build_design("d-optimal", twice), Catch::Contains("multiple of 2"));
}

TEST_CASE("Terms that may matter need no runs of their own", "[doe][optimal]") {
  doe::DesignRequest wanted = request(numbered_factors(5), "linear", 8);
  for (const char* term : {"x0*x1", "x0*x2", "x1*x2", "x3*x4", "x0*x3", "x2*x4"}) {
    wanted.options.possible.emplace_back(term);
  }
  const doe::Design design = doe::build_design("d-optimal", wanted);
  REQUIRE(design.points.size() == 8);
  CHECK(doe::evaluate(wanted.model, design.coded()).d_efficiency == Approx(100));
}

TEST_CASE("A search that cannot succeed says why", "[doe][optimal]") {
  CHECK_THROWS_WITH(doe::build_design("d-optimal", request(numbered_factors(3), "quadratic", 9)),
                    Catch::Contains("9 runs cannot determine 10 coefficients"));
  doe::DesignRequest nowhere = request(numbered_factors(2), "linear", 5);
  nowhere.region = doe::Region(
      nowhere.factors,
      {std::make_shared<const doe::Expression>("x0 > 2", std::vector<std::string>{"x0", "x1"})},
      {});
  CHECK_THROWS_WITH(doe::build_design("d-optimal", nowhere),
                    Catch::Contains("no settings that the constraints allow"));
  // A factor with two settings cannot have a square.
  doe::DesignRequest singular = request({whole("a", 0, 1), continuous("b")}, "linear", 8);
  singular.model = doe::Model::parse({"1", "a", "a^2"}, singular.factors);
  singular.options.starts = 10;
  CHECK_THROWS_WITH(doe::build_design("d-optimal", singular),
                    Catch::Contains("no design with 8 runs that determines the model"));
}

TEST_CASE("A level that no run can have is named, before a search", "[doe][optimal]") {
  doe::DesignRequest wanted =
      request({continuous("rate"), words("precision", {"fp32", "fp16", "int8"})}, "quadratic", 16);
  wanted.region = constrained(wanted.factors, "precision != 2");
  const std::string no_level = "no allowed run has the level 'int8' of precision";
  CHECK_THROWS_WITH(doe::build_design("d-optimal", wanted), Catch::Contains(no_level));
  CHECK_THROWS_WITH(doe::build_design("g-optimal", wanted), Catch::Contains(no_level));
  CHECK(doe::build_design("space-filling", wanted).points.size() == 16);
  // Runs that were made before have it.
  wanted.model = doe::Model::named("linear", wanted.factors);
  wanted.existing.resize(1, 2);
  wanted.existing << 0, 2;
  CHECK(doe::build_design("d-optimal", wanted).points.size() == 16);
  // Without a term of the factor its levels do not matter.
  wanted.existing.resize(0, 2);
  wanted.model = doe::Model::parse({"1", "rate", "rate^2"}, wanted.factors);
  CHECK(doe::build_design("d-optimal", wanted).points.size() == 16);
}

TEST_CASE("A time limit gives the best so far", "[doe][optimal]") {
  doe::DesignRequest wanted = request(numbered_factors(8), "quadratic", 60);
  wanted.options.time_limit_s = 0.05;
  const doe::Design design = doe::build_design("d-optimal", wanted);
  CHECK(design.points.size() == 60);
  CHECK(design.search->stopped_by_time);
}
