// The elements of GF(p^e) are 0 .. p^e - 1: their digits to base p are the coefficients of a
// polynomial, and multiplication is modulo a polynomial of which x is a generator.
#include <algorithm>
#include <vector>

#include "doe/classical/orthogonal_matrices.h"

namespace doetune::doe {
namespace {

/// a + factor b, digit by digit modulo p.
int add_multiple(int a, int b, int factor, int p) {
  int sum = 0;
  for (int place = 1; a > 0 || b > 0; place *= p, a /= p, b /= p) {
    sum += place * ((a % p + factor * (b % p)) % p);
  }
  return sum;
}

/// 1, x, x^2, ... while they differ, where x^e is the polynomial `reduced`.
std::vector<int> powers_of_x(int reduced, int p, int q) {
  std::vector<int> powers;
  int element = 1;
  do {
    powers.push_back(element);
    const int highest = element / (q / p);
    element = add_multiple(element % (q / p) * p, reduced, highest, p);
  } while (element != 1 && static_cast<int>(powers.size()) < q);
  return powers;
}

/// The elements but 0 of GF(q), as powers of one of them.
std::vector<int> powers_of_generator(int p, int q) {
  for (int reduced = 1;; ++reduced) {
    std::vector<int> powers = powers_of_x(reduced, p, q);
    if (static_cast<int>(powers.size()) == q - 1) return powers;
  }
}

/// The prime of which q is a power; 0 if there is none.
int prime_base(int q) {
  int p = 2;
  while (p < q && q % p != 0) ++p;
  while (q > 1 && q % p == 0) q /= p;
  return q == 1 ? p : 0;
}

}  // namespace

std::optional<Eigen::MatrixXd> jacobsthal_matrix(int q) {
  if (q < 3 || q % 2 == 0) return std::nullopt;
  const int p = prime_base(q);
  if (p == 0) return std::nullopt;
  const std::vector<int> powers = powers_of_generator(p, q);
  std::vector<double> character(q, 0);
  for (int i = 0; i < q - 1; ++i) character[powers[i]] = i % 2 == 0 ? 1 : -1;
  Eigen::MatrixXd matrix(q, q);
  for (int i = 0; i < q; ++i) {
    for (int j = 0; j < q; ++j) matrix(i, j) = character[add_multiple(j, i, p - 1, p)];
  }
  return matrix;
}

}  // namespace doetune::doe
