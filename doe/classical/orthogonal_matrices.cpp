#include "doe/classical/orthogonal_matrices.h"

#include <array>
#include <cmath>
#include <string_view>

namespace doetune::doe {
namespace {

using Eigen::MatrixXd;

/// First row of the cyclic 36-run design of Plackett & Burman (1946).
constexpr std::string_view kCyclic36 = "-+-+++---+++++-+++--+----+-+-++--+-";

/// First rows of four circulant matrices A, B, C, D with AA' + BB' + CC' + DD' = n I.
using FourRows = std::array<std::string_view, 4>;
constexpr FourRows kCirculants92{"+--++---+-+--+-+---++--", "++-+-++-+--++--+-++-+-+",
                                 "+-+++++---+--+---+++++-", "+---+++++++--+++++++---"};
/// A - I is skew-symmetric.
constexpr FourRows kSkewCirculants36{"+----++++", "+---+----", "+-+--+---", "++--+-+--"};

/// Row i is the first row shifted cyclically i places to the right.
MatrixXd circulant(std::string_view first_row) {
  const auto n = static_cast<int>(first_row.size());
  MatrixXd matrix(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) matrix(i, j) = first_row[(j - i + n) % n] == '+' ? 1 : -1;
  }
  return matrix;
}

/// The array of Goethals & Seidel (1970): a Hadamard matrix from four circulants.
MatrixXd goethals_seidel(const FourRows& rows) {
  const MatrixXd a = circulant(rows[0]);
  const MatrixXd b = circulant(rows[1]).rowwise().reverse();
  const MatrixXd c = circulant(rows[2]).rowwise().reverse();
  const MatrixXd d = circulant(rows[3]).rowwise().reverse();
  const MatrixXd bt = circulant(rows[1]).transpose().rowwise().reverse();
  const MatrixXd ct = circulant(rows[2]).transpose().rowwise().reverse();
  const MatrixXd dt = circulant(rows[3]).transpose().rowwise().reverse();
  MatrixXd matrix(4 * a.rows(), 4 * a.rows());
  matrix << a, b, c, d, -b, a, dt, -ct, -c, -dt, a, bt, -d, ct, -bt, a;
  return matrix;
}

MatrixXd doubled(const MatrixXd& h) {
  MatrixXd matrix(2 * h.rows(), 2 * h.rows());
  matrix << h, h, h, -h;
  return matrix;
}

/// The Hadamard matrix of order 2n from a symmetric conference matrix C of order n.
MatrixXd paley_two(const MatrixXd& c) {
  const MatrixXd identity = MatrixXd::Identity(c.rows(), c.rows());
  MatrixXd matrix(2 * c.rows(), 2 * c.rows());
  matrix << c + identity, c - identity, c - identity, -c - identity;
  return matrix;
}

/// Borders the core with a column of 1 and a row 1, -1, -1, ...
MatrixXd bordered(const MatrixXd& core) {
  const Eigen::Index n = core.rows() + 1;
  MatrixXd matrix = -MatrixXd::Ones(n, n);
  matrix.col(0).setOnes();
  matrix.topRightCorner(n - 1, n - 1) = core;
  return matrix;
}

MatrixXd with_first_column_of_ones(const MatrixXd& h) { return h.col(0).asDiagonal() * h; }

std::optional<MatrixXd> paley_conference(int n) {
  const auto q = jacobsthal_matrix(n - 1);
  if (!q) return std::nullopt;
  MatrixXd matrix = MatrixXd::Zero(n, n);
  matrix.topRightCorner(1, n - 1).setOnes();
  matrix.bottomLeftCorner(n - 1, 1).setConstant(n % 4 == 0 ? -1 : 1);
  matrix.bottomRightCorner(n - 1, n - 1) = *q;
  return matrix;
}

}  // namespace

std::optional<MatrixXd> conference_matrix(int n) {
  if (n < 4 || n % 2 != 0) return std::nullopt;
  if (const auto paley = paley_conference(n)) return paley;
  if (n == 36) return goethals_seidel(kSkewCirculants36) - MatrixXd::Identity(n, n);
  if (n % 8 != 0) return std::nullopt;
  const auto half = conference_matrix(n / 2);
  if (!half) return std::nullopt;
  const MatrixXd identity = MatrixXd::Identity(n / 2, n / 2);
  MatrixXd matrix(n, n);
  matrix << *half, *half + identity, *half - identity, -*half;
  return matrix;
}

bool no_conference_matrix(int n) {
  if (n % 4 != 2) return false;
  for (int a = 0; a * a < n; ++a) {
    const int rest = n - 1 - a * a;
    const int b = static_cast<int>(std::lround(std::sqrt(rest)));
    if (b * b == rest) return false;
  }
  return true;
}

int next_conference_order(int n) {
  while (!conference_matrix(n)) ++n;
  return n;
}

std::optional<MatrixXd> hadamard_matrix(int n) {
  if (n == 1) return MatrixXd::Ones(1, 1);
  if (n != 2 && n % 4 != 0) return std::nullopt;
  const bool power_of_two = (n & (n - 1)) == 0;
  if (power_of_two && n != 8) return doubled(*hadamard_matrix(n / 2));
  if (n == 36) return bordered(circulant(kCyclic36));
  if (const auto q = jacobsthal_matrix(n - 1)) {
    return bordered(*q + MatrixXd::Identity(n - 1, n - 1));
  }
  if (n % 8 == 4) {
    if (const auto conference = conference_matrix(n / 2)) {
      return with_first_column_of_ones(paley_two(*conference));
    }
  }
  if (n == 92) return with_first_column_of_ones(goethals_seidel(kCirculants92));
  const auto half = hadamard_matrix(n / 2);
  if (!half) return std::nullopt;
  return doubled(*half);
}

}  // namespace doetune::doe
