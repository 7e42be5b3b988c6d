// Polynomials of several variables, stored as lists of coefficients.
#pragma once

#include <Eigen/Core>
#include <map>
#include <vector>

namespace doetune::doe {

/// A set of monomials x_1^e_1 ... x_k^e_k that contains every divisor of its members, so that
/// shifting or scaling variables introduces no new monomial.
class Monomials {
 public:
  struct Power {
    int variable;
    int exponent;  ///< from 1
  };

  /// The smallest such set that contains the given exponents (each of length `variables`).
  Monomials(int variables, const std::vector<std::vector<int>>& exponents);

  int size() const { return static_cast<int>(powers_.size()); }
  int variables() const { return variables_; }
  int degree() const { return degree_; }  ///< highest exponent of one variable

  /// The powers in a monomial. Monomial 0 is the constant, which has none.
  const std::vector<Power>& powers(int monomial) const { return powers_[monomial]; }

  /// The index of a monomial, or -1 if it is not in the set.
  int find(const std::vector<int>& exponents) const;

  /// Replaces the coefficients of a(x) by those of b(t) = a(center + half_width t).
  void recenter(Eigen::VectorXd& coefficients, const Eigen::VectorXd& center,
                const Eigen::VectorXd& half_width) const;

  /// The coefficients 0 .. degree() of the univariate polynomial along one variable through x.
  Eigen::VectorXd along(const Eigen::VectorXd& coefficients, const Eigen::VectorXd& x,
                        int variable) const;

  double value(const Eigen::VectorXd& coefficients, const Eigen::VectorXd& x) const;
  Eigen::VectorXd gradient(const Eigen::VectorXd& coefficients, const Eigen::VectorXd& x) const;

 private:
  int variables_;
  int degree_ = 0;
  std::map<std::vector<int>, int> index_;
  std::vector<std::vector<Power>> powers_;
  /// Per variable: groups of two or more monomials that differ only in its exponent, ascending.
  std::vector<std::vector<std::vector<int>>> fibers_;
};

/// The value of the polynomial sum c_j x^j.
double polynomial_value(const Eigen::VectorXd& coefficients, double x);

/// The maximiser of the polynomial sum c_j x^j on [low, high].
double largest_at(const Eigen::VectorXd& coefficients, double low, double high);

}  // namespace doetune::doe
