// Expansion of a coded polynomial in natural units.
//
// With u = x, log2(x) or log10(x) a coded factor is c = u m + a, so every coded term is a product
// of powers (u m + a)^k. The sums suffer cancellation, so they use the precision of the solution.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "doe/model.h"

namespace doetune::surfaces {

/// The value s(x) on the factor's scale.
template <typename Real>
Real on_scale(const doe::Factor& factor, double x) {
  using std::log10, std::log2;
  switch (factor.scale) {
    case doe::Scale::kLog2:
      return log2(Real(x));
    case doe::Scale::kLog10:
      return log10(Real(x));
    case doe::Scale::kLinear:
      break;
  }
  return Real(x);
}

/// A term of the polynomial in natural units: exponents of the natural variables, and the contrast
/// of each categorical factor (-1: none), which keeps its coded form, "precision[fp32]".
using Monomial = std::pair<std::vector<int>, std::vector<int>>;

/// A natural coefficient as a linear combination of coded ones: (column, factor) pairs.
template <typename Real>
using Contributions = std::vector<std::pair<int, Real>>;

std::string monomial_name(const Monomial& monomial, const std::vector<doe::Factor>& factors);

/// The monomial of highest degree of a model column.
Monomial leading_monomial(const doe::Model& model, int column);

/// Expands one coded column into monomials with their factors.
template <typename Real>
std::map<Monomial, Real> expanded(const doe::Model& model, int column) {
  const std::vector<doe::Factor>& factors = model.factors();
  const std::vector<int> powers = leading_monomial(model, column).first;
  std::map<Monomial, Real> polynomial{
      {{std::vector<int>(factors.size(), 0), model.columns()[column].contrasts}, Real(1)}};
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (powers[f] == 0) continue;
    const Real low = on_scale<Real>(factors[f], factors[f].low);
    const Real high = on_scale<Real>(factors[f], factors[f].high);
    const Real slope = 2 / (high - low), offset = -(high + low) / (high - low);
    for (int power = 0; power < powers[f]; ++power) {
      std::map<Monomial, Real> product;
      for (const auto& [monomial, value] : polynomial) {
        Monomial raised = monomial;
        ++raised.first[f];
        product[raised] += value * slope;
        product[monomial] += value * offset;
      }
      polynomial = std::move(product);
    }
  }
  return polynomial;
}

/// Every natural coefficient as a linear combination of the coded ones: first in the model's own
/// order of terms, then the terms added by the expansion.
template <typename Real>
std::vector<std::pair<std::string, Contributions<Real>>> natural_terms(const doe::Model& model) {
  std::map<Monomial, Contributions<Real>> all;
  for (int c = 0; c < model.column_count(); ++c) {
    for (const auto& [monomial, weight] : expanded<Real>(model, c)) {
      if (weight != 0) all[monomial].emplace_back(c, weight);
    }
  }
  std::vector<std::pair<std::string, Contributions<Real>>> terms;
  const auto take = [&](const Monomial& monomial, Contributions<Real> contributions) {
    terms.emplace_back(monomial_name(monomial, model.factors()), std::move(contributions));
  };
  for (int c = 0; c < model.column_count(); ++c) {
    auto node = all.extract(leading_monomial(model, c));
    take(node.key(), std::move(node.mapped()));
  }
  for (auto& [monomial, contributions] : all) take(monomial, std::move(contributions));
  return terms;
}

}  // namespace doetune::surfaces
