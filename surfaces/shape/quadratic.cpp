#include <cmath>
#include <limits>

#include "surfaces/shape.h"
#include "surfaces/shape/shape_parts.h"

namespace doetune::surfaces {
namespace {

/// The value of a column's categorical contrasts at the levels of a point; 1 without any.
double contrast_at(const doe::Model& model, const doe::ModelColumn& column,
                   const Eigen::VectorXd& at) {
  double value = 1;
  for (std::size_t f = 0; f < column.contrasts.size(); ++f) {
    if (column.contrasts[f] < 0) continue;
    const auto level = static_cast<int>(at[static_cast<Eigen::Index>(f)]);
    const auto last = static_cast<int>(model.factors()[f].level_names.size()) - 1;
    value *= level == column.contrasts[f] ? 1 : level == last ? -1 : 0;
  }
  return value;
}

}  // namespace

double coefficient_of(const Fit& fit, int column) {
  constexpr double kRounding = 100 * std::numeric_limits<double>::epsilon();
  const double size = std::hypot(fit.fitted.norm(), fit.residuals.norm());
  const double root = std::sqrt(fit.unscaled_covariance(column, column));
  return std::abs(fit.beta[column]) > kRounding * size * root ? fit.beta[column] : 0;
}

std::vector<QuadraticEntry> quadratic_entries(const doe::Model& model, const Eigen::VectorXd& at,
                                              const std::vector<int>& numeric) {
  std::vector<QuadraticEntry> entries;
  for (int c = 0; c < model.column_count(); ++c) {
    const doe::ModelColumn& column = model.columns()[c];
    const doe::Term& term = model.terms()[column.term];
    QuadraticEntry entry{{}, contrast_at(model, column, at)};
    for (std::size_t i = 0; i < numeric.size(); ++i) {
      const int power = term.powers[static_cast<std::size_t>(numeric[i])];
      entry.variables.insert(entry.variables.end(), power, static_cast<Eigen::Index>(i));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

void add_entry(const QuadraticEntry& entry, double coefficient, Quadratic& quadratic) {
  const double value = coefficient * entry.contrast;
  if (entry.variables.empty()) quadratic.constant += value;
  if (entry.variables.size() == 1) quadratic.linear[entry.variables[0]] += value;
  if (entry.variables.size() != 2) return;
  quadratic.second(entry.variables[0], entry.variables[1]) += value / 2;
  quadratic.second(entry.variables[1], entry.variables[0]) += value / 2;
}

std::optional<Quadratic> quadratic_of(const Fit& fit, const Eigen::VectorXd& at) {
  Quadratic quadratic;
  const std::vector<doe::Factor>& factors = fit.model.factors();
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (!factors[f].is_categorical()) quadratic.factors.push_back(static_cast<int>(f));
  }
  const auto k = static_cast<Eigen::Index>(quadratic.factors.size());
  if (k == 0) return std::nullopt;
  quadratic.linear = Eigen::VectorXd::Zero(k);
  quadratic.second = Eigen::MatrixXd::Zero(k, k);
  const std::vector<QuadraticEntry> entries = quadratic_entries(fit.model, at, quadratic.factors);
  for (std::size_t c = 0; c < entries.size(); ++c) {
    if (entries[c].variables.size() > 2) return std::nullopt;
    add_entry(entries[c], coefficient_of(fit, static_cast<int>(c)), quadratic);
  }
  return quadratic;
}

}  // namespace doetune::surfaces
