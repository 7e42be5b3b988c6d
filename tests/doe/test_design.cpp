#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <set>

#include "doe/design.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;
using doe::PointType;

namespace {

doe::DesignRequest request(std::vector<doe::Factor> factors, int center_runs = 6) {
  doe::DesignRequest request;
  request.factors = std::move(factors);
  request.options.center_runs = center_runs;
  return request;
}

}  // namespace

TEST_CASE("FCCD has 2^k corners, 2k face centres and the centre runs asked for", "[doe][design]") {
  // Penn State STAT 503, lesson 11.2.1, for k = 3: 8 corner + 6 axial + 5 centre runs.
  for (int k = 1; k <= 6; ++k) {
    const doe::Design design = doe::build_design("fccd", request(unit_factors(k), 5));
    const Eigen::MatrixXd x = design.coded();
    REQUIRE(x.rows() == (1 << k) + 2 * k + 5);
    CHECK(x.cwiseAbs().maxCoeff() == 1.0);                   // no run leaves the cube
    CHECK(x.colwise().sum().isZero());                       // balanced about the centre
    CHECK(Eigen::MatrixXd(x.transpose() * x).isDiagonal());  // linear effects uncorrelated
    const auto count = [&](PointType type) {
      return std::count_if(design.points.begin(), design.points.end(),
                           [&](const doe::DesignPoint& point) { return point.type == type; });
    };
    CHECK(count(PointType::kFactorial) == 1 << k);
    CHECK(count(PointType::kAxial) == 2 * k);
    CHECK(count(PointType::kCenter) == 5);
  }
}

TEST_CASE("The published study's design is the FCCD with six centre runs", "[doe][design]") {
  // GTC 2019, experiment 3: executors 1..3, batch 1..15, decoding rate 1..9 Hz, 20 runs.
  const std::vector<doe::Factor> factors{whole("executors_per_gpu", 1, 3),
                                         whole("batch_size", 1, 15),
                                         continuous("decode_rate", 1, 9)};
  const doe::Design design = doe::build_design("fccd", request(factors));
  REQUIRE(design.points.size() == 20);
  for (const doe::DesignPoint& point : design.points) {
    const std::vector<double> natural = doe::natural_settings(factors, point.coded);
    CHECK(std::set<double>{1, 2, 3}.count(natural[0]) == 1);
    CHECK(std::set<double>{1, 8, 15}.count(natural[1]) == 1);
    CHECK(std::set<double>{1, 5, 9}.count(natural[2]) == 1);
  }
}

TEST_CASE("Every point is a setting that can be used", "[doe][design]") {
  const std::vector<doe::Factor> factors{whole("n", 1, 4),
                                         powers_of_two("b", {1, 2, 4, 8, 16, 32})};
  const doe::Design design = doe::build_design("fccd", request(factors));
  for (const doe::DesignPoint& point : design.points) {
    const std::vector<double> natural = doe::natural_settings(factors, point.coded);
    for (std::size_t f = 0; f < factors.size(); ++f) CHECK(factors[f].allows(natural[f]));
  }
  CHECK(design.notes.size() == 2);  // neither factor has a usable setting at its centre
}

TEST_CASE("Categorical factors cross the design", "[doe][design]") {
  const doe::Design design = doe::build_design(
      "fccd", request({continuous("a"), words("w", {"x", "y", "z"}), continuous("b")}, 2));
  CHECK(design.points.size() == 3 * (4 + 4 + 2));
}

TEST_CASE("Replicates repeat the whole design", "[doe][design]") {
  doe::DesignRequest twice = request(unit_factors(2), 3);
  twice.options.replicates = 2;
  const doe::Design design = doe::build_design("fccd", twice);
  REQUIRE(design.points.size() == 2 * (4 + 4 + 3));
  CHECK(design.points.front().replicate == 1);
  CHECK(design.points.back().replicate == 6);  // the last of 2 x 3 centre runs
}

TEST_CASE("Centre runs are replicates, numbered", "[doe][design]") {
  int last = 0;
  for (const doe::DesignPoint& point :
       doe::build_design("fccd", request(unit_factors(2), 4)).points) {
    if (point.type == PointType::kCenter) CHECK(point.replicate == ++last);
  }
  CHECK(last == 4);
  doe::DesignRequest endless = request(unit_factors(2), 10000);
  endless.options.replicates = 10000;
  CHECK_THROWS_WITH(doe::build_design("fccd", endless), Catch::Contains("more than 1000000"));
}

TEST_CASE("Two blocks hold corners and face centres", "[doe][design]") {
  doe::DesignRequest blocked = request(unit_factors(3), 6);
  blocked.options.blocks = 2;
  for (const doe::DesignPoint& point : doe::build_design("fccd", blocked).points) {
    if (point.type == PointType::kFactorial) CHECK(point.block == 1);
    if (point.type == PointType::kAxial) CHECK(point.block == 2);
  }
  blocked.options.blocks = 3;
  CHECK_THROWS_WITH(doe::build_design("fccd", blocked), Catch::Contains("in 2"));
}

TEST_CASE("Points that constraints exclude are left out and counted", "[doe][design]") {
  doe::DesignRequest constrained = request({whole("n", 1, 3), whole("b", 1, 31)}, 1);
  const auto constraint =
      std::make_shared<const doe::Expression>("n * b <= 62", std::vector<std::string>{"n", "b"});
  constrained.region = doe::Region(constrained.factors, {constraint}, {});
  const doe::Design design = doe::build_design("fccd", constrained);
  CHECK(design.points.size() == 4 + 4 + 1 - 1);  // only (3, 31) exceeds 62
  REQUIRE(design.notes.size() == 1);
  CHECK_THAT(design.notes[0], Catch::Contains("1 of 9") && Catch::Contains("n * b <= 62"));
}

TEST_CASE("Requests without a design say why", "[doe][design]") {
  CHECK_THROWS_WITH(doe::build_design("fcdc", request(unit_factors(2))),
                    Catch::Contains("did you mean 'fccd'?"));
  CHECK_THROWS_WITH(doe::build_design("fccd", request({words("w", {"x", "y"})})),
                    Catch::Contains("numeric factor"));
  CHECK_THROWS_WITH(doe::build_design("fccd", request(unit_factors(20))),
                    Catch::Contains("at most 10"));
  CHECK_THROWS_WITH(doe::build_design("table", request(unit_factors(2))), Catch::Contains("empty"));
}

TEST_CASE("A search for a design that determines nothing is refused", "[doe][design]") {
  doe::DesignRequest any = request(unit_factors(3));
  any.options.runs = 12;
  for (const char* type : {"d-optimal", "i-optimal", "a-optimal"}) {
    CHECK_THROWS_WITH(doe::build_design(type, any), Catch::Contains("no terms"));
  }
}

TEST_CASE("Every design type builds, names its source, and stays in the cube", "[doe][design]") {
  for (const doe::DesignType& type : doe::design_types()) {
    INFO(type.name);
    CHECK_FALSE(type.summary.empty());
    CHECK_FALSE(type.source.empty());
    doe::DesignRequest any = request(unit_factors(4), 0);
    any.model = doe::Model::named(type.default_model, any.factors);
    any.options.runs = 16;
    any.options.starts = 1;
    any.table = {{-1, 0, 1, 1}, {1, 0.5, -1, 0}};
    const doe::Design design = doe::build_design(type.name, any);
    REQUIRE_FALSE(design.points.empty());
    CHECK(design.coded().cwiseAbs().maxCoeff() <= 1);
  }
}

TEST_CASE("Run order is a permutation that the seed fixes", "[doe][design]") {
  const doe::Design design = doe::build_design("fccd", request(unit_factors(3)));
  const std::vector<int> order = doe::random_run_order(design, 2026);
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < 20; ++i) CHECK(sorted[i] == i);
  CHECK(order != sorted);
  CHECK(order == doe::random_run_order(design, 2026));
  CHECK(order != doe::random_run_order(design, 2027));
}

TEST_CASE("Run order keeps blocks together", "[doe][design]") {
  doe::DesignRequest blocked = request(unit_factors(3), 6);
  blocked.options.blocks = 2;
  const doe::Design design = doe::build_design("fccd", blocked);
  int block = 0;
  for (const int i : doe::random_run_order(design, 7)) {
    CHECK(design.points[i].block >= block);
    block = design.points[i].block;
  }
}
