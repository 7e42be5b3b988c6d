#include "doe/evaluation/polynomial.h"

#include <algorithm>
#include <cmath>

namespace doetune::doe {
namespace {

double power(double x, int exponent) {
  double value = 1;
  for (int i = 0; i < exponent; ++i) value *= x;
  return value;
}

double product(const std::vector<Monomials::Power>& powers, const Eigen::VectorXd& x) {
  double value = 1;
  for (const auto& [variable, exponent] : powers) value *= power(x[variable], exponent);
  return value;
}

/// The root of a polynomial that is monotone on [low, high] and changes sign there.
double bisected(const Eigen::VectorXd& coefficients, double low, double high) {
  const bool rising = polynomial_value(coefficients, high) > 0;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    ((polynomial_value(coefficients, middle) > 0) == rising ? high : low) = middle;
  }
  return (low + high) / 2;
}

/// Roots on [low, high], ascending, found by bisection between the roots of the derivative.
std::vector<double> roots(const Eigen::VectorXd& coefficients, double low, double high) {
  const Eigen::Index degree = coefficients.size() - 1;
  if (degree < 1) return {};
  const Eigen::VectorXd slope = coefficients.tail(degree).cwiseProduct(
      Eigen::VectorXd::LinSpaced(degree, 1, static_cast<double>(degree)));
  std::vector<double> ends = roots(slope, low, high);
  ends.insert(ends.begin(), low);
  ends.push_back(high);
  std::vector<double> found;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    if ((polynomial_value(coefficients, ends[i]) > 0) !=
        (polynomial_value(coefficients, ends[i + 1]) > 0)) {
      found.push_back(bisected(coefficients, ends[i], ends[i + 1]));
    }
  }
  return found;
}

}  // namespace

double polynomial_value(const Eigen::VectorXd& coefficients, double x) {
  double value = 0;
  for (Eigen::Index j = coefficients.size() - 1; j >= 0; --j) value = value * x + coefficients[j];
  return value;
}

Monomials::Monomials(int variables, const std::vector<std::vector<int>>& exponents)
    : variables_(variables), fibers_(variables) {
  std::vector<std::vector<int>> open = exponents;
  open.emplace_back(variables, 0);
  while (!open.empty()) {
    std::vector<int> monomial = std::move(open.back());
    open.pop_back();
    if (!index_.emplace(monomial, 0).second) continue;
    for (int& exponent : monomial) {
      degree_ = std::max(degree_, exponent);
      if (exponent == 0) continue;
      --exponent;
      open.push_back(monomial);
      ++exponent;
    }
  }
  for (auto& [monomial, index] : index_) {
    index = size();
    powers_.emplace_back();
    for (int v = 0; v < variables; ++v) {
      if (monomial[v] > 0) powers_.back().push_back({v, monomial[v]});
    }
  }
  for (const auto& [monomial, index] : index_) {
    for (int v = 0; v < variables; ++v) {
      if (monomial[v] > 0) continue;
      std::vector<int> fiber;
      std::vector<int> member = monomial;
      for (int next = index; next >= 0; ++member[v], next = find(member)) fiber.push_back(next);
      if (fiber.size() > 1) fibers_[v].push_back(std::move(fiber));
    }
  }
}

int Monomials::find(const std::vector<int>& exponents) const {
  const auto found = index_.find(exponents);
  return found == index_.end() ? -1 : found->second;
}

void Monomials::recenter(Eigen::VectorXd& coefficients, const Eigen::VectorXd& center,
                         const Eigen::VectorXd& half_width) const {
  for (int v = 0; v < variables_; ++v) {
    for (const std::vector<int>& fiber : fibers_[v]) {
      const auto count = static_cast<int>(fiber.size());
      for (int done = 0; done + 1 < count; ++done) {
        for (int j = count - 2; j >= done; --j) {
          coefficients[fiber[j]] += center[v] * coefficients[fiber[j + 1]];
        }
      }
      double scale = 1;
      for (int j = 1; j < count; ++j) coefficients[fiber[j]] *= scale *= half_width[v];
    }
  }
}

Eigen::VectorXd Monomials::along(const Eigen::VectorXd& coefficients, const Eigen::VectorXd& x,
                                 int variable) const {
  Eigen::VectorXd line = Eigen::VectorXd::Zero(degree_ + 1);
  for (int m = 0; m < size(); ++m) {
    int exponent = 0;
    double value = coefficients[m];
    for (const Power& p : powers_[m]) {
      if (p.variable == variable) {
        exponent = p.exponent;
      } else {
        value *= power(x[p.variable], p.exponent);
      }
    }
    line[exponent] += value;
  }
  return line;
}

double Monomials::value(const Eigen::VectorXd& coefficients, const Eigen::VectorXd& x) const {
  double sum = 0;
  for (int m = 0; m < size(); ++m) sum += coefficients[m] * product(powers_[m], x);
  return sum;
}

Eigen::VectorXd Monomials::gradient(const Eigen::VectorXd& coefficients,
                                    const Eigen::VectorXd& x) const {
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(variables_);
  for (int m = 0; m < size(); ++m) {
    for (const Power& by : powers_[m]) {
      double value = coefficients[m] * by.exponent;
      for (const Power& p : powers_[m]) {
        value *= power(x[p.variable], p.variable == by.variable ? p.exponent - 1 : p.exponent);
      }
      gradient[by.variable] += value;
    }
  }
  return gradient;
}

double largest_at(const Eigen::VectorXd& coefficients, double low, double high) {
  double best =
      polynomial_value(coefficients, high) > polynomial_value(coefficients, low) ? high : low;
  const Eigen::Index degree = coefficients.size() - 1;
  if (degree < 1) return best;
  const Eigen::VectorXd slope = coefficients.tail(degree).cwiseProduct(
      Eigen::VectorXd::LinSpaced(degree, 1, static_cast<double>(degree)));
  for (const double x : roots(slope, low, high)) {
    if (polynomial_value(coefficients, x) > polynomial_value(coefficients, best)) best = x;
  }
  return best;
}

}  // namespace doetune::doe
