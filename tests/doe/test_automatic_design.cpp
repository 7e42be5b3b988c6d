#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <memory>

#include "doe/design.h"
#include "doe/evaluation.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

doe::DesignRequest request(std::vector<doe::Factor> factors, const char* model, int runs) {
  doe::DesignRequest wanted;
  wanted.factors = std::move(factors);
  wanted.model = doe::Model::named(model, wanted.factors);
  wanted.options.runs = runs;
  return wanted;
}

}  // namespace

TEST_CASE("Fifteen runs of three factors are the face-centred CCD", "[doe][automatic]") {
  // It is itself the I-optimal design of fifteen runs (0.36759, the best known value).
  const doe::Design design = doe::build_design("auto", request(unit_factors(3), "quadratic", 15));
  CHECK(design.points.size() == 15);
  REQUIRE_FALSE(design.notes.empty());
  CHECK_THAT(design.notes[0], Catch::Contains("fccd") && Catch::Contains("100.0 %"));
}

TEST_CASE("Main effects of seven factors take the eight runs that are orthogonal",
          "[doe][automatic]") {
  const doe::Design design = doe::build_design("auto", request(unit_factors(7), "linear", 8));
  const Eigen::MatrixXd x = design.coded();
  CHECK((x.transpose() * x).isApprox(8 * Eigen::MatrixXd::Identity(7, 7)));
  CHECK_FALSE(design.search);  // constructed, not searched for
}

TEST_CASE("Where classical designs do not fit the optimal one is taken, and why is said",
          "[doe][automatic]") {
  SECTION("constraints") {
    doe::DesignRequest cut = request(unit_factors(2), "quadratic", 9);
    cut.options.starts = 20;
    cut.region = doe::Region(cut.factors,
                             {std::make_shared<const doe::Expression>(
                                 "a + b <= 0.5", std::vector<std::string>{"a", "b"})},
                             {});
    const doe::Design design = doe::build_design("auto", cut);
    CHECK(design.points.size() == 9);
    CHECK_THAT(design.notes[0], Catch::Contains("i-optimal"));
    CHECK(doe::evaluate(cut.model, design.coded()).d_efficiency);
  }
  SECTION("a number of runs between") {
    const doe::Design design =
        doe::build_design("auto", request(unit_factors(4), "interactions", 13));
    CHECK_THAT(design.notes[0], Catch::Contains("d-optimal"));
  }
  SECTION("categorical factors of three levels") {
    const doe::DesignRequest mixed =
        request({words("w", {"x", "y", "z"}), continuous("a")}, "quadratic", 9);
    const doe::Design design = doe::build_design("auto", mixed);
    CHECK(doe::evaluate(mixed.model, design.coded()).d_efficiency);
  }
}

TEST_CASE("A choice among runs that cannot determine the model is left to the plan to refuse",
          "[doe][automatic]") {
  doe::DesignRequest thin = request(unit_factors(2), "quadratic", 8);
  for (doe::Factor& factor : thin.factors) factor.step = 0.01;
  thin.region = doe::Region(thin.factors,
                            {std::make_shared<const doe::Expression>(
                                "abs(a - b) <= 0.001", std::vector<std::string>{"a", "b"})},
                            {});
  thin.options.starts = 20;
  try {
    const doe::Design design = doe::build_design("auto", thin);
    CHECK_FALSE(doe::evaluate(thin.model, design.coded()).d_efficiency);
  } catch (const doe::DesignError& error) {
    CHECK_THAT(error.what(), Catch::Contains("region"));
  }
}

TEST_CASE("Fewer runs than coefficients are refused, with what would do", "[doe][automatic]") {
  CHECK_THROWS_WITH(doe::build_design("auto", request(unit_factors(3), "quadratic", 8)),
                    Catch::Contains("10"));
}
