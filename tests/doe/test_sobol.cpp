#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <set>

#include "doe/space_filling/sobol.h"

using namespace doetune;

namespace {

Eigen::MatrixXd first_points(const doe::SobolSequence& sequence, int count) {
  Eigen::MatrixXd points(count, sequence.point(0).size());
  for (int i = 0; i < count; ++i) points.row(i) = sequence.point(i).transpose();
  return points;
}

/// The largest number of points in any of 2^a by 2^b equal boxes of two columns.
int fullest_box(const Eigen::VectorXd& x, const Eigen::VectorXd& y, int a, int b) {
  std::vector<int> boxes(1U << (a + b), 0);
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const auto column = static_cast<int>(x[i] * (1 << a));
    const auto row = static_cast<int>(y[i] * (1 << b));
    ++boxes[(column << b) + row];
  }
  return *std::max_element(boxes.begin(), boxes.end());
}

}  // namespace

TEST_CASE("There are phi(2^s - 1) / s primitive polynomials of degree s", "[doe][sobol]") {
  // The count of primitive elements: Lidl & Niederreiter (1997), theorem 3.5.
  std::array<int, 9> count{};
  for (const std::uint32_t p : doe::primitive_polynomials(1 + 1 + 2 + 2 + 6 + 6 + 18 + 16)) {
    ++count[std::bit_width(p) - 1];
  }
  CHECK(count == std::array<int, 9>{0, 1, 1, 2, 2, 6, 6, 18, 16});
  CHECK(doe::primitive_polynomials(4) == std::vector<std::uint32_t>{0b11, 0b111, 0b1011, 0b1101});
}

TEST_CASE("Every coordinate of 2^m scrambled Sobol' points hits each 2^-m once", "[doe][sobol]") {
  const doe::SobolSequence sequence(doe::kSobolDimensions, 99);
  for (const int m : {1, 3, 8}) {
    const Eigen::MatrixXd points = first_points(sequence, 1 << m);
    for (const auto& column : points.colwise()) {
      std::set<int> cells;
      for (const double u : column) cells.insert(static_cast<int>(u * (1 << m)));
      CHECK(cells.size() == 1U << m);
      CHECK(*cells.rbegin() == (1 << m) - 1);
    }
  }
}

TEST_CASE("Pairs of dimensions are the nets that their t-values say, scrambled or not",
          "[doe][sobol]") {
  const std::vector<doe::SobolDirections> directions = doe::sobol_directions(8);
  const int m = 6;
  for (const std::uint64_t seed : {1ULL, 2ULL}) {
    const Eigen::MatrixXd points = first_points(doe::SobolSequence(8, seed), 1 << m);
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < i; ++j) {
        const int t = doe::sobol_t_value(directions[i], directions[j], m);
        CHECK(t <= 4);
        for (int a = 0; a <= m - t; ++a) {
          CHECK(fullest_box(points.col(i), points.col(j), a, m - t - a) == 1 << t);
        }
      }
    }
  }
  // The first two dimensions are a (0, 2)-sequence.
  for (int size = 1; size <= 12; ++size) {
    CHECK(doe::sobol_t_value(directions[0], directions[1], size) == 0);
  }
}

TEST_CASE("2^d points lie one in each half product: Sobol's property A", "[doe][sobol]") {
  for (const int d : {2, 3, 5, 9}) {
    const doe::SobolSequence sequence(d, 4);
    std::set<int> halves;
    for (int i = 0; i < 1 << d; ++i) {
      int half = 0;
      const Eigen::VectorXd point = sequence.point(i);
      for (const double u : point) half = 2 * half + (u < 0.5 ? 0 : 1);
      halves.insert(half);
    }
    CHECK(halves.size() == 1U << d);
  }
}

TEST_CASE("A Sobol' sequence is fixed by its seed and integrates better than chance",
          "[doe][sobol]") {
  const doe::SobolSequence one(5, 1);
  CHECK(one.point(17) == doe::SobolSequence(5, 1).point(17));
  CHECK(one.point(17) != doe::SobolSequence(5, 2).point(17));
  // The product of 1 + (x - 1/2) has mean 1 and standard deviation 0.72 over the cube: random
  // sampling with 4096 points has a standard error of 0.011.
  double sum = 0;
  for (int i = 0; i < 4096; ++i) sum += (one.point(i).array() + 0.5).prod();
  CHECK(sum / 4096 == Approx(1).margin(0.001));
  CHECK_THROWS_AS(doe::sobol_directions(51), std::invalid_argument);
}
