// Scrambled Sobol' sequences with own direction numbers.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

namespace doetune::doe {

constexpr int kSobolDimensions = 50;
constexpr int kSobolBits = 52;  // bits of a coordinate: all that a double below 1 holds

/// The generator matrix of a dimension: direction number v_i, i = 1 .. kSobolBits, stored as v_i
/// 2^kSobolBits, so that bit kSobolBits - 1 is the first after the binary point.
using SobolDirections = std::array<std::uint64_t, kSobolBits>;

/// Primitive polynomials over GF(2), ascending from x + 1 (bit i is the coefficient of x^i): those
/// p of degree s for which x has order 2^s - 1 modulo p. Source: Lidl & Niederreiter (1997), Finite
/// Fields, theorem 3.16.
std::vector<std::uint32_t> primitive_polynomials(int count);

/// Direction numbers of the first dimensions. Dimension 1 is the van der Corput sequence; dimension
/// j > 1 has the (j - 1)-th primitive polynomial, of degree s, and odd initial numbers m_i < 2^i, i
/// = 1 .. s, continued by the recurrence of Bratley & Fox (1988), ACM TOMS 14, eq. 2. The initial
/// numbers are our own: among eight random sets (from a fixed seed) that preserve Sobol's property
/// A with all earlier dimensions (Sobol 1976: each of the 2^d products of halves contains one of
/// any 2^d aligned points), the set whose two-dimensional projections with the earlier dimensions
/// are best, by the sum of squared t-values over 2^m points, m = 2 .. 9, following the idea of Joe
/// & Kuo (2008). Deterministic; throws std::invalid_argument for more than kSobolDimensions.
std::vector<SobolDirections> sobol_directions(int dimensions);

/// t of the (t, m, 2)-net formed by the first 2^m points of two dimensions: every elementary box of
/// volume 2^(t - m) contains 2^t of them. Source: Niederreiter (1992), theorem 4.28.
int sobol_t_value(const SobolDirections& a, const SobolDirections& b, int m);

/// A scrambled Sobol' sequence: each dimension's digits are multiplied by a random lower triangular
/// matrix with unit diagonal (Matousek 1998, J. Complexity 14) and shifted by random digits, which
/// preserves all net properties and makes each point uniform on the cube.
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
