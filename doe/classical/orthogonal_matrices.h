// Square matrices with orthogonal columns for screening designs.
#pragma once

#include <Eigen/Core>
#include <optional>

namespace doetune::doe {

/// q x q matrix of the quadratic characters of GF(q): entry (i, j) is 1 if (element j - element i)
/// is a square, -1 if it is not, and 0 on the diagonal. Empty unless q is a power of an odd prime.
/// Source: Paley (1933), On orthogonal matrices.
std::optional<Eigen::MatrixXd> jacobsthal_matrix(int q);

/// n x n matrix C with 0 on the diagonal, -1 or 1 elsewhere and C'C = (n - 1) I: symmetric for
/// n = 2 (mod 4), skew for n a multiple of 4. Empty where no construction is known here:
///   Paley (1933), n - 1 a prime power
///   doubling of a skew matrix, [S, S + I; S - I, -S]
///   Goethals & Seidel (1970), n = 36
std::optional<Eigen::MatrixXd> conference_matrix(int n);

/// Whether it is proven that none of even order n exists: for n = 2 (mod 4) if n - 1 is not a sum
/// of two squares, e.g. 22, 34 and 58 (Belevitch 1950).
bool no_conference_matrix(int n);

/// The smallest order >= n for which conference_matrix has a construction.
int next_conference_order(int n);

/// n x n matrix H of -1 and 1 with H'H = n I and a first column of 1. Empty if no construction is
/// implemented; all multiples of 4 up to 112 are covered:
///   Sylvester (1867), doubling
///   Paley (1933), n - 1 or n/2 - 1 a prime power
///   Plackett & Burman (1946), the cyclic design of 36 runs
///   Baumert, Golomb & Hall (1962), n = 92
std::optional<Eigen::MatrixXd> hadamard_matrix(int n);

}  // namespace doetune::doe
