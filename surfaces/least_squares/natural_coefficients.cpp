#include "surfaces/least_squares/natural_coefficients.h"

namespace doetune::surfaces {
namespace {

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

}  // namespace

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

Monomial leading_monomial(const doe::Model& model, int column) {
  const doe::ModelColumn& of = model.columns()[column];
  std::vector<int> powers = model.terms()[of.term].powers;
  for (std::size_t f = 0; f < powers.size(); ++f) {
    if (model.factors()[f].is_categorical()) powers[f] = 0;
  }
  return {std::move(powers), of.contrasts};
}

}  // namespace doetune::surfaces
