// Arithmetic in GF(q) for the construction of designs.
#pragma once

#include <vector>

namespace doetune::doe {

/// The prime p if q is a power of p, otherwise 0.
int prime_base(int q);

/// The field of q elements, q a power of a prime p. The elements are 0 .. q - 1: their base-p
/// digits are the coefficients of a polynomial, multiplied modulo a primitive polynomial with root
/// x. Thus a -> a mod p^v preserves sums.
class FiniteField {
 public:
  explicit FiniteField(int q);

  int size() const { return q_; }
  int sum(int a, int b) const;
  int difference(int a, int b) const;
  int product(int a, int b) const;
  int quotient(int a, int b) const;  ///< b not 0

  /// The n-th power of a fixed generator of the multiplicative group, 0 <= n < q - 1.
  int power_of_generator(int n) const { return powers_[static_cast<std::size_t>(n)]; }

 private:
  int p_, q_;
  std::vector<int> powers_;
  std::vector<int> logarithms_;  ///< of each nonzero element
};

}  // namespace doetune::doe
