#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "doe/evaluation.h"
#include "tests/doe/classical/requests.h"

using namespace doetune;
using namespace doetune::tests;
using doe::PointType;
using Eigen::MatrixXd;

namespace {

doe::DesignRequest request(int k, const std::string& alpha = "", int center_runs = 6) {
  doe::DesignRequest request = request_of(letters(k), "quadratic");
  request.options.alpha = alpha;
  request.options.center_runs = center_runs;
  return request;
}

/// The axial distance divided by the coordinate of a corner.
double alpha_of(const doe::Design& design) {
  for (const doe::DesignPoint& point : design.points) {
    if (point.type == PointType::kFactorial) return 1 / std::abs(point.coded[0]);
  }
  return 0;
}

/// The design before points are snapped to usable settings.
doe::Design composite(const doe::DesignRequest& request) { return doe::central_composite(request); }

}  // namespace

TEST_CASE("Alphas are the published ones", "[doe][classical]") {
  // Box & Hunter (1957): n_f^(1/4). NIST/SEMATECH e-Handbook, 5.3.3.6.1.
  CHECK(alpha_of(composite(request(2, "rotatable"))) == Approx(1.414).margin(5e-4));
  CHECK(alpha_of(composite(request(3, "rotatable"))) == Approx(1.682).margin(5e-4));
  CHECK(alpha_of(composite(request(4, "rotatable"))) == Approx(2.000).margin(5e-4));
  CHECK(alpha_of(composite(request(5))) == Approx(2.378).margin(5e-4));
  CHECK(alpha_of(composite(request(3, "spherical"))) == Approx(std::sqrt(3)));
  CHECK(alpha_of(composite(request(3, "1.5"))) == Approx(1.5));
  // The published values for orthogonal designs; the next test checks them against theory.
  CHECK(alpha_of(composite(request(2, "orthogonal", 5))) == Approx(1.2671).margin(5e-5));
  CHECK(alpha_of(composite(request(3, "orthogonal", 6))) == Approx(1.5246).margin(5e-5));
}

TEST_CASE("An orthogonal composite has uncorrelated squares", "[doe][classical]") {
  for (int k = 2; k <= 6; ++k) {
    for (const int center_runs : {1, 5, 9}) {
      const MatrixXd x = composite(request(k, "orthogonal", center_runs)).coded();
      MatrixXd squares = x.cwiseAbs2();
      squares.rowwise() -= squares.colwise().mean().eval();
      CHECK(MatrixXd(squares.transpose() * squares).isDiagonal(1e-9));
    }
  }
}

TEST_CASE("A rotatable composite predicts equally well at equal distance", "[doe][classical]") {
  // Box & Hunter (1957): the prediction variance depends only on the distance from the centre.
  for (int k = 2; k <= 7; ++k) {
    doe::DesignRequest rotatable = request(k, "rotatable");
    if (k >= 5) rotatable.options.resolution = 5;
    const MatrixXd x = rotatable.model.matrix(composite(rotatable).coded());
    const MatrixXd inverse = (x.transpose() * x).inverse();
    const auto variance = [&](const Eigen::VectorXd& point) {
      const Eigen::RowVectorXd row = rotatable.model.row(point);
      return row.dot(row * inverse);
    };
    const double expected = variance(0.5 * Eigen::VectorXd::Unit(k, 0));
    CHECK(variance(0.5 * Eigen::VectorXd::Ones(k).normalized()) == Approx(expected));
    CHECK(variance(0.5 * Eigen::VectorXd::LinSpaced(k, -1, 2).normalized()) == Approx(expected));
    CHECK(variance(Eigen::VectorXd::Zero(k)) != Approx(expected));
  }
}

TEST_CASE("Composites have the published numbers of runs", "[doe][classical]") {
  // Box, Hunter & Hunter (2005), ch. 6: the smallest fractions of resolution V.
  for (const auto& [k, corners] : {std::pair{5, 16}, {6, 32}, {7, 64}, {8, 64}}) {
    doe::DesignRequest fraction = request(k);
    fraction.options.resolution = 5;
    const doe::Design design = composite(fraction);
    CHECK(count(design, PointType::kFactorial) == corners);
    CHECK(count(design, PointType::kAxial) == 2 * k);
    CHECK(count(design, PointType::kCenter) == 6);
    CHECK(doe::evaluate(fraction.model, design.coded()).d_efficiency.value_or(0) > 0);
    CHECK_THAT(notes_of(design), Catch::Contains("cube: 2^("));
    CHECK(count(composite(request(k)), PointType::kFactorial) == 1 << k);
  }
}

TEST_CASE("Composites stay inside the ranges", "[doe][classical]") {
  const doe::Design design = doe::build_design("ccd", request(3, "rotatable"));
  CHECK(design.coded().cwiseAbs().maxCoeff() == 1);
  CHECK_THAT(notes_of(design), Catch::Contains("inscribed") && Catch::Contains("0.5946"));
  // For alpha below 1 the axial points are inside and the corners at the limits.
  const doe::Design small = composite(request(3, "0.5"));
  CHECK(small.coded().cwiseAbs().maxCoeff() == 1);
  CHECK(small.points[8].coded.cwiseAbs().maxCoeff() == 0.5);
  // The face-centred design is the one with alpha 1.
  const MatrixXd face = doe::build_design("ccd", request(4, "face")).coded();
  CHECK(face == doe::build_design("fccd", request(4)).coded());
}

TEST_CASE("Blocks of a composite are orthogonal", "[doe][classical]") {
  // Box & Hunter (1957); NIST/SEMATECH e-Handbook 5.3.3.6.4: alpha 1.4142 for two factors with
  // equal centre runs, 1.633 for three in blocks of 4 + 2, 4 + 2 and 6 + 2 runs.
  struct Case {
    int k, blocks, center_runs;
    double alpha;
  };
  for (const auto& [k, blocks, center_runs, alpha] :
       {Case{2, 2, 6, 1.4142}, {3, 3, 6, 1.6330}, {4, 3, 6, 2.0}, {5, 2, 6, 0}, {6, 3, 7, 0}}) {
    INFO(k << " factors in " << blocks);
    doe::DesignRequest blocked = request(k, "", center_runs);
    blocked.options.blocks = blocks;
    const doe::Design design = composite(blocked);
    CHECK(block_count(design) == blocks);
    CHECK(block_imbalance(design, blocked.model) < 1e-12);
    if (alpha > 0) CHECK(alpha_of(design) == Approx(alpha).margin(5e-5));
    blocked.options.alpha = "face";
    CHECK(block_imbalance(composite(blocked), blocked.model) > 1e-3);
    CHECK_THAT(notes_of(composite(blocked)), Catch::Contains("orthogonal to the quadratic model "
                                                             "only with alpha"));
  }
}

TEST_CASE("Composites that cannot be are refused", "[doe][classical]") {
  CHECK_THROWS_WITH(composite(request(1)), Catch::Contains("two numeric factors"));
  CHECK_THROWS_WITH(composite(request(11)), Catch::Contains("resolution: 5"));
  CHECK_THROWS_WITH(composite(request(3, "round")), Catch::Contains("not 'round'"));
  CHECK_THROWS_WITH(composite(request(3, "-1")), Catch::Contains("not '-1'"));
  doe::DesignRequest blocked = request(3);
  blocked.options.blocks = 4;
  CHECK_THROWS_WITH(composite(blocked), Catch::Contains("not in 4"));
  blocked.options.blocks = 5;
  CHECK_THROWS_WITH(composite(blocked), Catch::Contains("fewer blocks"));
  doe::DesignRequest coarse = request(6);
  coarse.options.resolution = 4;
  CHECK_THROWS_WITH(composite(coarse), Catch::Contains("5 or more"));
  coarse = request(50);
  coarse.options.resolution = 5;
  CHECK_THROWS_WITH(composite(coarse), Catch::Contains("at most 20"));
}

TEST_CASE("Box-Behnken designs have the published runs", "[doe][classical]") {
  // Box & Behnken (1960): number of runs without and with centre runs.
  for (const auto& [k, edges, runs] : {std::tuple{3, 12, 15},
                                       {4, 24, 27},
                                       {5, 40, 46},
                                       {6, 48, 54},
                                       {7, 56, 62},
                                       {9, 120, 130},
                                       {10, 160, 170},
                                       {11, 176, 188},
                                       {12, 192, 204},
                                       {16, 384, 396}}) {
    INFO(k);
    const doe::Design design = doe::build_design("box-behnken", request_of(letters(k)));
    CHECK(count(design, PointType::kFactorial) == edges);
    CHECK(static_cast<int>(design.points.size()) == runs);
  }
  for (const int k : {1, 2, 8, 13, 17, 50}) {
    CHECK_THROWS_WITH(doe::build_design("box-behnken", request_of(letters(k))),
                      Catch::Contains("3 to 7, 9 to 12 and 16"));
  }
}

TEST_CASE("Box-Behnken designs are balanced and fit a quadratic", "[doe][classical]") {
  // Theory: all factors are in equally many sets, each pair in one or two, with the same number of
  // pairs of each kind (partially balanced, two associate classes); so X'X has one pattern for
  // each.
  for (const int k : {3, 4, 5, 6, 7, 9, 10, 11, 12, 16}) {
    INFO(k);
    const doe::DesignRequest asked = request_of(letters(k), "quadratic");
    const MatrixXd x = doe::build_design("box-behnken", asked).coded();
    const MatrixXd together = x.cwiseAbs2().transpose() * x.cwiseAbs2();
    const Eigen::VectorXd often = together.diagonal();
    CHECK(often.minCoeff() == often.maxCoeff());
    std::set<double> row_of_first(together.row(0).begin(), together.row(0).end());
    for (int f = 0; f < k; ++f) {
      std::multiset<double> row(together.row(f).begin(), together.row(f).end());
      std::multiset<double> first(together.row(0).begin(), together.row(0).end());
      CHECK(row == first);
    }
    CHECK(row_of_first.size() <= 3);  // itself, and two classes of others
    CHECK(together.minCoeff() > 0);
    CHECK(MatrixXd(x.transpose() * x).isDiagonal());
    if (k <= 12) {
      CHECK(doe::evaluate(asked.model, x).d_efficiency.value_or(0) > 0);
    }
  }
}

TEST_CASE("Box-Behnken blocks are orthogonal to the quadratic model", "[doe][classical]") {
  for (const auto& [k, blocks] : {std::pair{4, 3},
                                  {5, 2},
                                  {6, 2},
                                  {7, 2},
                                  {9, 5},
                                  {9, 10},
                                  {10, 2},
                                  {12, 2},
                                  {16, 6},
                                  {16, 12}}) {
    INFO(k << " factors in " << blocks);
    doe::DesignRequest blocked = request_of(letters(k), "quadratic");
    blocked.options.blocks = blocks;
    const doe::Design design = doe::build_design("box-behnken", blocked);
    CHECK(block_count(design) == blocks);
    CHECK(block_imbalance(design, blocked.model) < 1e-12);
  }
  doe::DesignRequest blocked = request_of(letters(3), "quadratic");
  blocked.options.blocks = 2;
  CHECK_THROWS_WITH(doe::build_design("box-behnken", blocked), Catch::Contains("possible: 1"));
  blocked = request_of(letters(9), "quadratic");
  blocked.options.blocks = 2;
  CHECK_THROWS_WITH(doe::build_design("box-behnken", blocked), Catch::Contains("5 or 10"));
  blocked.options.blocks = 5;
  blocked.options.center_runs = 7;
  CHECK_THROWS_WITH(doe::build_design("box-behnken", blocked), Catch::Contains("multiple of 5"));
}

TEST_CASE("Categorical factors cross surface designs", "[doe][classical]") {
  std::vector<doe::Factor> factors = letters(3);
  factors.push_back(words("w", {"x", "y", "z"}));
  CHECK(doe::build_design("box-behnken", request_of(factors)).points.size() == 3 * 15);
  CHECK(doe::build_design("ccd", request_of(factors)).points.size() == 3 * 20);
}
