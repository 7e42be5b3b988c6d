#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include "doe/evaluation.h"
#include "tests/doe/classical/requests.h"

using namespace doetune;
using namespace doetune::tests;
using Eigen::MatrixXd;

namespace {

doe::Design screening(const doe::DesignRequest& request) {
  return doe::build_design("definitive-screening", request);
}

/// All squares and products of two factors.
MatrixXd second_order_columns(const MatrixXd& x) {
  MatrixXd columns(x.rows(), x.cols() * (x.cols() + 1) / 2);
  Eigen::Index next = 0;
  for (Eigen::Index a = 0; a < x.cols(); ++a) {
    for (Eigen::Index b = a; b < x.cols(); ++b) {
      columns.col(next++) = x.col(a).cwiseProduct(x.col(b));
    }
  }
  return columns;
}

MatrixXd as_signs(MatrixXd x, const std::vector<doe::Factor>& factors) {
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].is_categorical()) x.col(f) = 2 * x.col(f).array() - 1;
  }
  return x;
}

}  // namespace

TEST_CASE("Definitive screening designs are orthogonal for every number of factors",
          "[doe][classical]") {
  // Jones & Nachtsheim (2011); Xiao, Lin & Bai (2012): main effects orthogonal to each other, to
  // squares and to interactions; 2k + 1 runs for even k, 2k + 3 for odd.
  for (int k = 3; k <= 40; ++k) {
    INFO(k);
    const std::vector<doe::Factor> factors = letters(k);
    const doe::Design design = screening(request_of(factors));
    const MatrixXd x = design.coded();
    const int even = k + k % 2;
    const int order = even == 22 ? 24 : even == 34 ? 36 : even;
    CHECK(x.rows() == 2 * order + 1);
    CHECK(x.transpose() * x == 2.0 * (order - 1) * MatrixXd::Identity(k, k));
    CHECK((x.transpose() * second_order_columns(x)).isZero());
    CHECK(x.colwise().sum().isZero());
    CHECK(design.notes.size() == (order == even ? 0 : 1));
    if (k > 12) continue;  // a few suffice for the rank, which theory gives for all k
    const doe::Model model = doe::Model::named("pure-quadratic", factors);
    CHECK(doe::evaluate(model, x).d_efficiency.value_or(0) > 0);
  }
  CHECK_THAT(notes_of(screening(request_of(letters(22)))),
             Catch::Contains("order 24 without 2 of its columns: none of order 22 exists"));
}

TEST_CASE("Larger definitive screening designs leave out columns", "[doe][classical]") {
  doe::DesignRequest request = request_of(letters(6));
  request.options.runs = 17;  // two extra columns to estimate the error
  const MatrixXd x = screening(request).coded();
  CHECK(x.rows() == 17);
  CHECK(x.transpose() * x == 14.0 * MatrixXd::Identity(6, 6));
  request.options.runs = 19;
  CHECK_THROWS_WITH(screening(request), Catch::Contains("21 in total would be possible"));
  request.options.runs = 40;
  request.options.replicates = 2;
  request.options.center_runs = 4;
  CHECK(screening(request).points.size() == 40);
  request.options.runs = 39;
  CHECK_THROWS_WITH(screening(request), Catch::Contains("40 in total would be possible"));
  request.options.runs = 1000000;
  CHECK_THROWS_WITH(screening(request), Catch::Contains("at most 404 runs"));
}

TEST_CASE("Two-level columns keep main effects clear of second-order terms", "[doe][classical]") {
  // Jones & Nachtsheim (2013), DSD-augmented: two runs replace the centre run, and main effects are
  // slightly correlated.
  for (int k = 4; k <= 12; ++k) {
    for (int categorical = 1; categorical < k; ++categorical) {
      INFO(k << " factors, " << categorical << " categorical");
      std::vector<doe::Factor> factors = letters(k);
      for (int f = 0; f < categorical; ++f) {
        factors[k - 1 - f] = words(factors[k - 1 - f].name, {"x", "y"});
      }
      const doe::Design design = screening(request_of(factors));
      const MatrixXd x = as_signs(design.coded(), factors);
      REQUIRE(x.rows() == 2 * (k + k % 2) + 2);
      CHECK((x.transpose() * second_order_columns(x)).isZero());
      CHECK(x.colwise().sum().isZero());
      CHECK(x.rightCols(categorical).cwiseAbs().minCoeff() == 1);
      CHECK_THAT(notes_of(design), Catch::Contains("have correlations of up to 0."));
      const MatrixXd products = x.transpose() * x;
      const Eigen::VectorXd norms = products.diagonal().cwiseSqrt().cwiseInverse();
      const MatrixXd correlations = norms.asDiagonal() * products * norms.asDiagonal();
      CHECK((correlations - MatrixXd::Identity(k, k)).cwiseAbs().maxCoeff() < 0.5);
      const doe::Model model = doe::Model::named("pure-quadratic", factors);
      CHECK(doe::evaluate(model, design.coded()).d_efficiency.value_or(0) > 0);
    }
  }
}

TEST_CASE("Definitive screening designs that cannot be are refused", "[doe][classical]") {
  CHECK_THROWS_WITH(screening(request_of(letters(2))), Catch::Contains("at least 3 factors"));
  std::vector<doe::Factor> factors;
  for (const char* name : {"u", "v", "w"}) factors.push_back(words(name, {"x", "y"}));
  CHECK_THROWS_WITH(screening(request_of(factors)), Catch::Contains("plackett-burman"));
  factors = letters(3);
  factors.push_back(words("w", {"x", "y", "z"}));
  CHECK_THROWS_WITH(screening(request_of(factors)), Catch::Contains("'w' has 3"));
  CHECK(screening(request_of(letters(50))).points.size() == 101);
}
