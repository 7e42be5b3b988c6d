#include <Eigen/Dense>
#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.h"
#include "surfaces/distributions.h"
#include "surfaces/shape.h"

namespace doetune::surfaces {
namespace {

/// The columns that form the matrix of second-order coefficients, each with the two factors it
/// multiplies (for a square the same one twice).
struct SecondOrder {
  std::vector<int> columns;
  std::vector<std::pair<Eigen::Index, Eigen::Index>> factors;

  Eigen::MatrixXd matrix(const Eigen::VectorXd& b, Eigen::Index k) const {
    Eigen::MatrixXd second = Eigen::MatrixXd::Zero(k, k);
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const auto [f, g] = factors[i];
      second(f, g) += b[static_cast<Eigen::Index>(i)] / 2;
      second(g, f) += b[static_cast<Eigen::Index>(i)] / 2;
    }
    return second;
  }
};

SecondOrder second_order(const doe::Model& model) {
  SecondOrder found;
  for (int c = 0; c < model.column_count(); ++c) {
    const doe::Term& term = model.terms()[model.columns()[c].term];
    if (term.order() != 2) continue;
    std::vector<Eigen::Index> factors;
    for (std::size_t f = 0; f < term.powers.size(); ++f) {
      factors.insert(factors.end(), term.powers[f], static_cast<Eigen::Index>(f));
    }
    found.columns.push_back(c);
    found.factors.emplace_back(factors[0], factors[1]);
  }
  return found;
}

/// Variance of v'Bv for every eigenvector v: v'Bv = w'b with w the products of v's entries.
Eigen::VectorXd eigenvalue_errors(const Fit& fit, const SecondOrder& terms,
                                  const Eigen::MatrixXd& vectors) {
  const Eigen::MatrixXd covariance = fit.unscaled_covariance(terms.columns, terms.columns);
  Eigen::VectorXd errors(vectors.cols());
  for (Eigen::Index e = 0; e < vectors.cols(); ++e) {
    Eigen::VectorXd w(static_cast<Eigen::Index>(terms.factors.size()));
    for (std::size_t i = 0; i < terms.factors.size(); ++i) {
      const auto [f, g] = terms.factors[i];
      w[static_cast<Eigen::Index>(i)] = vectors(f, e) * vectors(g, e);
    }
    errors[e] = *fit.sigma * std::sqrt(w.dot(covariance * w));
  }
  return errors;
}

/// The fractions of positive and of negative definite matrices among draws of the coefficients.
struct Definite {
  double positive = 0, negative = 0;
};

Definite definite_fractions(const Fit& fit, const SecondOrder& terms, Eigen::Index k, int draws,
                            std::uint64_t seed) {
  const Eigen::MatrixXd covariance = fit.unscaled_covariance(terms.columns, terms.columns);
  const Eigen::MatrixXd root = Eigen::LLT<Eigen::MatrixXd>(covariance).matrixL();
  const Eigen::VectorXd estimate = fit.beta(terms.columns);
  RandomStream random(seed, 0);
  Definite fractions;
  Eigen::VectorXd normal(estimate.size());
  for (int draw = 0; draw < draws; ++draw) {
    for (double& u : normal) u = normal_draw(random.uniform());
    const double chi_squared = chi_squared_quantile(random.uniform(), fit.df_residual);
    const double scale = *fit.sigma * std::sqrt(fit.df_residual / chi_squared);
    const Eigen::VectorXd b = estimate + scale * (root * normal);
    const Eigen::MatrixXd second = terms.matrix(b, k);
    const auto definite = [](const Eigen::MatrixXd& matrix) {
      return Eigen::LLT<Eigen::MatrixXd>(matrix).info() == Eigen::Success;
    };
    if (definite(second)) fractions.positive += 1.0 / draws;
    if (definite(-second)) fractions.negative += 1.0 / draws;
  }
  return fractions;
}

}  // namespace

std::optional<ShapeCertainty> shape_certainty(const Fit& fit, int draws, std::uint64_t seed) {
  if (!fit.stationary_point || !fit.sigma || *fit.sigma == 0) return std::nullopt;
  const Eigen::Index k = fit.coded.cols();
  const SecondOrder terms = second_order(fit.model);
  ShapeCertainty certainty;
  certainty.eigenvalue_errors = eigenvalue_errors(fit, terms, fit.stationary_point->eigenvectors);
  const double t = t_quantile(0.95, fit.df_residual);
  for (Eigen::Index e = 0; e < k; ++e) {
    const double value = fit.stationary_point->eigenvalues[e];
    const double half = t * certainty.eigenvalue_errors[e];
    certainty.eigenvalue_intervals.push_back({value - half, value + half});
  }
  const Definite fractions = definite_fractions(fit, terms, k, draws, seed);
  certainty.maximum =
      fit.transform == Transform::kInverse ? fractions.positive : fractions.negative;
  certainty.minimum =
      fit.transform == Transform::kInverse ? fractions.negative : fractions.positive;
  certainty.saddle = std::max(0.0, 1 - fractions.positive - fractions.negative);
  return certainty;
}

}  // namespace doetune::surfaces
