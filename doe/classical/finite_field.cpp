#include "doe/classical/finite_field.h"

#include <algorithm>

#include "doe/classical/orthogonal_matrices.h"

namespace doetune::doe {
namespace {

/// a + factor * b, digit by digit modulo p.
int add_multiple(int a, int b, int factor, int p) {
  int sum = 0;
  for (int place = 1; a > 0 || b > 0; place *= p, a /= p, b /= p) {
    sum += place * ((a % p + factor * (b % p)) % p);
  }
  return sum;
}

/// 1, x, x^2, ... until the first repetition; x^e is the polynomial `reduced`.
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

/// The nonzero elements of GF(q) as powers of a generator.
std::vector<int> powers_of_generator(int p, int q) {
  for (int reduced = 1;; ++reduced) {
    std::vector<int> powers = powers_of_x(reduced, p, q);
    if (static_cast<int>(powers.size()) == q - 1) return powers;
  }
}

}  // namespace

int prime_base(int q) {
  int p = 2;
  while (p < q && q % p != 0) ++p;
  while (q > 1 && q % p == 0) q /= p;
  return q == 1 ? p : 0;
}

FiniteField::FiniteField(int q)
    : p_(prime_base(q)), q_(q), powers_(powers_of_generator(p_, q)), logarithms_(q, 0) {
  for (int n = 0; n < q - 1; ++n) logarithms_[powers_[n]] = n;
}

int FiniteField::sum(int a, int b) const { return add_multiple(a, b, 1, p_); }

int FiniteField::difference(int a, int b) const { return add_multiple(a, b, p_ - 1, p_); }

int FiniteField::product(int a, int b) const {
  if (a == 0 || b == 0) return 0;
  return powers_[(logarithms_[a] + logarithms_[b]) % (q_ - 1)];
}

int FiniteField::quotient(int a, int b) const {
  return product(a, powers_[(q_ - 1 - logarithms_[b]) % (q_ - 1)]);
}

std::optional<Eigen::MatrixXd> jacobsthal_matrix(int q) {
  if (q < 3 || q % 2 == 0 || prime_base(q) == 0) return std::nullopt;
  const FiniteField field(q);
  std::vector<double> character(q, 0);
  for (int i = 0; i < q - 1; ++i) character[field.power_of_generator(i)] = i % 2 == 0 ? 1 : -1;
  Eigen::MatrixXd matrix(q, q);
  for (int i = 0; i < q; ++i) {
    for (int j = 0; j < q; ++j) matrix(i, j) = character[field.difference(j, i)];
  }
  return matrix;
}

}  // namespace doetune::doe
