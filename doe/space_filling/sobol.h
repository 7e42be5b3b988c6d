// Sobol' points with direction numbers of our own, scrambled.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

namespace doetune::doe {

constexpr int kSobolDimensions = 50;
constexpr int kSobolBits = 52;  // of a coordinate: all that a double below 1 holds

/// The generator matrix of a dimension: direction number v_i, i = 1 .. kSobolBits, as
/// v_i 2^kSobolBits, so that bit kSobolBits - 1 is the first after the point.
using SobolDirections = std::array<std::uint64_t, kSobolBits>;

/// Primitive polynomials over GF(2), ascending (bit i is the coefficient of x^i), the first being x
/// + 1: those p of degree s for which x has order 2^s - 1 modulo p. Source: Lidl & Niederreiter
/// (1997), Finite Fields, theorem 3.16.
std::vector<std::uint32_t> primitive_polynomials(int count);

/// Direction numbers of the first dimensions. Dimension 1 is van der Corput's sequence; dimension
/// j > 1 has the (j - 1)-th primitive polynomial, of degree s, and initial odd numbers m_i < 2^i,
/// i = 1 .. s, continued by the recurrence of Bratley & Fox (1988), ACM TOMS 14, eq. 2. The initial
/// numbers are our own: of eight random sets (from a fixed seed) that keep Sobol's property A
/// with all earlier dimensions (Sobol 1976: any 2^d aligned points lie one in each of the 2^d
/// halves' products) the one whose two-dimensional projections with the earlier dimensions are
/// best, by the sum of squared t-values over 2^m points, m = 2 .. 9, the idea of Joe & Kuo (2008).
/// Deterministic; throws std::invalid_argument for more than kSobolDimensions.
std::vector<SobolDirections> sobol_directions(int dimensions);

/// t of the (t, m, 2)-net that two dimensions' first 2^m points are: every box of 2^(t - m) volume
/// with sides of powers of 1/2 holds 2^t of them. Source: Niederreiter (1992), theorem 4.28.
int sobol_t_value(const SobolDirections& a, const SobolDirections& b, int m);

/// A scrambled Sobol' sequence: each dimension's digits are multiplied by a random lower
/// triangular matrix with ones on the diagonal (Matousek 1998, J. Complexity 14) and shifted by
/// random digits, which keeps every net property and makes each point uniform on the cube.
class SobolSequence {
 public:
  SobolSequence(int dimensions, std::uint64_t seed);

  /// Point i >= 0, in [0, 1)^k.
  Eigen::VectorXd point(std::uint64_t index) const;

 private:
  std::vector<SobolDirections> directions_;
  std::vector<std::uint64_t> shifts_;
};

}  // namespace doetune::doe
