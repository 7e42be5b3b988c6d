// A coded polynomial written out in natural units.
//
// With u = x, log2(x) or log10(x) a coded factor is c = u m + a, so every coded term is a product
// of powers (u m + a)^k; expanded and collected in extended precision, since the sums cancel.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {
namespace {

/// Exponents of the natural variables, and the contrast of each categorical factor (-1: none).
using Monomial = std::pair<std::vector<int>, std::vector<int>>;
using Polynomial = std::map<Monomial, long double>;

long double natural_scaled(const doe::Factor& factor, double x) {
  switch (factor.scale) {
    case doe::Scale::kLog2:
      return std::log2(static_cast<long double>(x));
    case doe::Scale::kLog10:
      return std::log10(static_cast<long double>(x));
    case doe::Scale::kLinear:
      break;
  }
  return x;
}

/// Multiplies by (u m + a) of factor f.
Polynomial times_coded(const Polynomial& polynomial, const doe::Factor& factor, std::size_t f) {
  const long double low = natural_scaled(factor, factor.low);
  const long double high = natural_scaled(factor, factor.high);
  const long double slope = 2 / (high - low);
  const long double offset = -(high + low) / (high - low);
  Polynomial product;
  for (const auto& [monomial, value] : polynomial) {
    Monomial raised = monomial;
    ++raised.first[f];
    product[raised] += value * slope;
    product[monomial] += value * offset;
  }
  return product;
}

std::string variable(const doe::Factor& factor) {
  switch (factor.scale) {
    case doe::Scale::kLog2:
      return fmt::format("log2({})", factor.name);
    case doe::Scale::kLog10:
      return fmt::format("log10({})", factor.name);
    case doe::Scale::kLinear:
      break;
  }
  return factor.name;
}

std::string monomial_name(const Monomial& monomial, const std::vector<doe::Factor>& factors) {
  std::string name;
  const auto append = [&](const std::string& part) { name += name.empty() ? part : "*" + part; };
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const int contrast = monomial.second[f];
    if (contrast >= 0) {
      append(fmt::format("{}[{}]", factors[f].name, factors[f].level_names[contrast]));
    } else if (monomial.first[f] > 0) {
      append(variable(factors[f]) +
             (monomial.first[f] > 1 ? fmt::format("^{}", monomial.first[f]) : ""));
    }
  }
  return name.empty() ? "1" : name;
}

}  // namespace

std::vector<NaturalCoefficient> natural_coefficients(const Fit& fit) {
  const std::vector<doe::Factor>& factors = fit.model.factors();
  Polynomial sum;
  for (int c = 0; c < fit.model.column_count(); ++c) {
    const doe::ModelColumn& column = fit.model.columns()[c];
    const std::vector<int>& powers = fit.model.terms()[column.term].powers;
    Polynomial term{{{std::vector<int>(factors.size(), 0), column.contrasts}, fit.beta[c]}};
    for (std::size_t f = 0; f < factors.size(); ++f) {
      if (factors[f].is_categorical()) continue;
      for (int power = 0; power < powers[f]; ++power) term = times_coded(term, factors[f], f);
    }
    for (const auto& [monomial, value] : term) sum[monomial] += value;
  }
  // In the model's own order of terms, then what the expansion added.
  std::vector<NaturalCoefficient> result;
  for (const doe::ModelColumn& column : fit.model.columns()) {
    const Monomial monomial{[&] {
                              std::vector<int> powers = fit.model.terms()[column.term].powers;
                              for (std::size_t f = 0; f < factors.size(); ++f) {
                                if (factors[f].is_categorical()) powers[f] = 0;
                              }
                              return powers;
                            }(),
                            column.contrasts};
    const auto found = sum.find(monomial);
    if (found == sum.end()) continue;
    result.push_back({monomial_name(monomial, factors), static_cast<double>(found->second)});
    sum.erase(found);
  }
  for (const auto& [monomial, value] : sum) {
    result.push_back({monomial_name(monomial, factors), static_cast<double>(value)});
  }
  return result;
}

}  // namespace doetune::surfaces
