// Arithmetic in GF(q), from which designs are constructed.
#pragma once

#include <vector>

namespace doetune::doe {

/// The prime of which q is a power; 0 if there is none.
int prime_base(int q);

/// The field of q elements, q a power of a prime p. The elements are 0 .. q - 1: their digits to
/// base p are the coefficients of a polynomial, and multiplication is modulo a polynomial of which
/// x is a generator. So a -> a mod p^v keeps sums.
class FiniteField {
 public:
  explicit FiniteField(int q);

  int size() const { return q_; }
  int sum(int a, int b) const;
  int difference(int a, int b) const;
  int product(int a, int b) const;
  int quotient(int a, int b) const;  ///< b not 0

  /// The n-th power of an element of which every other but 0 is a power, 0 <= n < q - 1.
  int power_of_generator(int n) const { return powers_[static_cast<std::size_t>(n)]; }

 private:
  int p_, q_;
  std::vector<int> powers_;
  std::vector<int> logarithms_;  ///< of each element but 0
};

}  // namespace doetune::doe
