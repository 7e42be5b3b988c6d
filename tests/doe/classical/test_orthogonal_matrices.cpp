#include <catch2/catch.hpp>

#include "doe/classical/orthogonal_matrices.h"
#include "tests/doe/classical/requests.h"

using namespace doetune;
using namespace doetune::tests;
using Eigen::MatrixXd;

namespace {

MatrixXd times_identity(double factor, Eigen::Index n) { return factor * MatrixXd::Identity(n, n); }

}  // namespace

TEST_CASE("A Jacobsthal matrix has the products that Paley proved", "[doe][classical]") {
  // Paley (1933): QQ' = q I - J and QJ = 0 for every power of an odd prime.
  for (const int q : {3, 5, 7, 9, 11, 25, 27, 49, 81}) {
    INFO(q);
    const MatrixXd jacobsthal = *doe::jacobsthal_matrix(q);
    CHECK(jacobsthal * jacobsthal.transpose() == times_identity(q, q) - MatrixXd::Ones(q, q));
    CHECK(jacobsthal.rowwise().sum().isZero());
  }
  for (const int q : {1, 2, 4, 15, 21, 45}) CHECK_FALSE(doe::jacobsthal_matrix(q));
}

TEST_CASE("Hadamard matrices of every order to 112 are orthogonal", "[doe][classical]") {
  for (int n = 4; n <= 112; n += 4) {
    INFO(n);
    const auto hadamard = doe::hadamard_matrix(n);
    REQUIRE(hadamard);
    CHECK(hadamard->cwiseAbs() == MatrixXd::Ones(n, n));
    CHECK(hadamard->transpose() * *hadamard == times_identity(n, n));
    CHECK(hadamard->col(0) == Eigen::VectorXd::Ones(n));
  }
  CHECK_FALSE(doe::hadamard_matrix(10));
}

TEST_CASE("Conference matrices are orthogonal, symmetric or skew", "[doe][classical]") {
  int known = 0;
  for (int n = 4; n <= 64; n += 2) {
    const auto conference = doe::conference_matrix(n);
    if (!conference) continue;
    INFO(n);
    ++known;
    CHECK(conference->diagonal().isZero());
    CHECK(conference->cwiseAbs() == MatrixXd::Ones(n, n) - MatrixXd::Identity(n, n));
    CHECK(conference->transpose() * *conference == times_identity(n - 1, n));
    CHECK(conference->transpose() == (n % 4 == 0 ? -1 : 1) * *conference);
  }
  CHECK(known == 26);
  // Belevitch (1950): none if n = 2 (mod 4) and n - 1 is not a sum of two squares.
  for (int n = 4; n <= 100; n += 2) {
    CHECK(doe::no_conference_matrix(n) ==
          (n == 22 || n == 34 || n == 58 || n == 70 || n == 78 || n == 94));
    if (doe::no_conference_matrix(n)) CHECK_FALSE(doe::conference_matrix(n));
  }
  CHECK(doe::next_conference_order(21) == 24);
  CHECK(doe::next_conference_order(33) == 36);
}

TEST_CASE("Plackett-Burman designs have orthogonal columns for every size", "[doe][classical]") {
  for (int n = 4; n <= 100; n += 4) {
    INFO(n);
    const doe::Design design =
        doe::build_design("plackett-burman", request_of(letters(n - 1), "linear"));
    const MatrixXd x = design.coded();
    REQUIRE(x.rows() == n);
    CHECK(x.transpose() * x == times_identity(n, n - 1));
    CHECK(x.colwise().sum().isZero());
  }
}

TEST_CASE("Plackett-Burman designs are the published ones", "[doe][classical]") {
  // Plackett & Burman (1946): the first run of each cyclic design; the last run is all minus.
  const std::vector<std::pair<int, std::string>> published{
      {8, "+++-+--"},
      {12, "++-+++---+-"},
      {20, "++--++++-+-+----++-"},
      {24, "+++++-+-++--++--+-+----"},
      {36, "-+-+++---+++++-+++--+----+-+-++--+-"},
      {44, "++--+-+--+++-+++++---+-+++-----+---++-+-++-"}};
  for (const auto& [runs, first] : published) {
    const MatrixXd x = doe::build_design("plackett-burman", request_of(letters(runs - 1))).coded();
    std::string row;
    for (Eigen::Index f = 0; f < x.cols(); ++f) row += x(0, f) > 0 ? '+' : '-';
    CHECK(row == first);
    CHECK(x.row(runs - 1) == -Eigen::RowVectorXd::Ones(runs - 1));
  }
}

TEST_CASE("Plackett-Burman designs say how they alias", "[doe][classical]") {
  const auto note = [](int k, std::optional<int> runs) {
    doe::DesignRequest request = request_of(letters(k));
    request.options.runs = runs;
    return notes_of(doe::build_design("plackett-burman", request));
  };
  // Twelve runs: every main effect has correlation 1/3 with each interaction of two others.
  CHECK_THAT(note(11, {}), Catch::Contains("correlations up to 0.33"));
  CHECK_THAT(note(7, {}), Catch::Contains("with fractional-factorial, runs: 8"));
  CHECK_THAT(note(2, {}), Catch::Contains("clear"));
  CHECK_THAT(note(4, 20), Catch::Contains("correlations up to"));
}

TEST_CASE("Plackett-Burman takes runs, centre runs and two-level categories", "[doe][classical]") {
  doe::DesignRequest request = request_of({continuous("a"), words("w", {"x", "y"})});
  request.options.center_runs = 2;
  request.options.runs = 12;  // eight, and two at the centre for each level
  const doe::Design design = doe::build_design("plackett-burman", request);
  CHECK(design.points.size() == 12);
  CHECK(count(design, doe::PointType::kScreening) == 8);
  CHECK(design.coded().col(1).minCoeff() == 0);
  CHECK(design.coded().col(1).maxCoeff() == 1);
  CHECK(design.coded().col(1).sum() == 6);

  const auto error = [](doe::DesignRequest asked, int runs) {
    asked.options.runs = runs;
    return [asked] { doe::build_design("plackett-burman", asked); };
  };
  CHECK_THROWS_WITH(error(request_of(letters(5)), 10)(), Catch::Contains("use runs: 12"));
  CHECK_THROWS_WITH(error(request_of(letters(9)), 8)(), Catch::Contains("needs 12 runs"));
  CHECK_THROWS_WITH(error(request_of(letters(9)), 116)(), Catch::Contains("no design with 116"));
  CHECK_THROWS_WITH(error(request_of(letters(9)), 400)(), Catch::Contains("at most 200 runs"));
  CHECK_THROWS_WITH(error(request, 4)(), Catch::Contains("leave none"));
  CHECK_THROWS_WITH(doe::build_design("plackett-burman", request_of({words("w", {"x", "y", "z"})})),
                    Catch::Contains("'w' has 3"));
  doe::DesignRequest words_only = request_of({words("w", {"x", "y"}), words("v", {"x", "y"})});
  words_only.options.center_runs = 1;
  CHECK_THROWS_WITH(doe::build_design("plackett-burman", words_only), Catch::Contains("no centre"));
}
