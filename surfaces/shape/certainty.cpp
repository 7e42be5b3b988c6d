#include <Eigen/Dense>
#include <algorithm>

#include "doe/random.h"
#include "surfaces/distributions.h"
#include "surfaces/shape.h"
#include "surfaces/shape/shape_parts.h"

namespace doetune::surfaces {
namespace {

/// The columns that make up the matrix of second-order coefficients.
struct SecondOrder {
  std::vector<int> columns;
  std::vector<QuadraticEntry> entries;
};

SecondOrder second_order(const Fit& fit, const Quadratic& quadratic) {
  const Eigen::VectorXd at = Eigen::VectorXd::Zero(fit.coded.cols());
  const auto entries = quadratic_entries(fit.model, at, quadratic.factors);
  SecondOrder found;
  for (std::size_t c = 0; c < entries.size(); ++c) {
    if (entries[c].variables.size() != 2) continue;
    found.columns.push_back(static_cast<int>(c));
    found.entries.push_back(entries[c]);
  }
  return found;
}

/// Variance of v'Bv for every eigenvector v: v'Bv = w'b with w the products of v's entries.
Eigen::VectorXd eigenvalue_errors(const Fit& fit, const SecondOrder& terms,
                                  const Eigen::MatrixXd& vectors) {
  const Eigen::MatrixXd covariance = fit.unscaled_covariance(terms.columns, terms.columns);
  Eigen::VectorXd errors(vectors.cols());
  for (Eigen::Index e = 0; e < vectors.cols(); ++e) {
    Eigen::VectorXd w(static_cast<Eigen::Index>(terms.entries.size()));
    for (std::size_t i = 0; i < terms.entries.size(); ++i) {
      const std::vector<Eigen::Index>& v = terms.entries[i].variables;
      w[static_cast<Eigen::Index>(i)] = vectors(v[0], e) * vectors(v[1], e);
    }
    errors[e] = *fit.sigma * std::sqrt(w.dot(covariance * w));
  }
  return errors;
}

/// The share of positive and of negative definite matrices among draws of the coefficients.
struct Definite {
  double positive = 0, negative = 0;
};

Definite definite_shares(const Fit& fit, const SecondOrder& terms, Eigen::Index k, int draws,
                         std::uint64_t seed) {
  const Eigen::MatrixXd covariance = fit.unscaled_covariance(terms.columns, terms.columns);
  const Eigen::MatrixXd root = Eigen::LLT<Eigen::MatrixXd>(covariance).matrixL();
  const Eigen::VectorXd estimate = fit.beta(terms.columns);
  doe::RandomStream random(seed, 0);
  Definite shares;
  Eigen::VectorXd normal(estimate.size());
  for (int draw = 0; draw < draws; ++draw) {
    for (double& u : normal) u = normal_draw(random.uniform());
    const double chi_squared = chi_squared_quantile(random.uniform(), fit.df_residual);
    const double scale = *fit.sigma * std::sqrt(fit.df_residual / chi_squared);
    const Eigen::VectorXd b = estimate + scale * (root * normal);
    Quadratic quadratic{{0, Eigen::VectorXd::Zero(k), Eigen::MatrixXd::Zero(k, k)}, {}};
    for (std::size_t i = 0; i < terms.entries.size(); ++i) {
      add_entry(terms.entries[i], b[static_cast<Eigen::Index>(i)], quadratic);
    }
    const auto definite = [](const Eigen::MatrixXd& matrix) {
      return Eigen::LLT<Eigen::MatrixXd>(matrix).info() == Eigen::Success;
    };
    if (definite(quadratic.second)) shares.positive += 1.0 / draws;
    if (definite(-quadratic.second)) shares.negative += 1.0 / draws;
  }
  return shares;
}

}  // namespace

std::optional<ShapeCertainty> shape_certainty(const Fit& fit, int draws, std::uint64_t seed) {
  if (!fit.stationary_point || !fit.sigma || *fit.sigma == 0) return std::nullopt;
  const Eigen::Index k = fit.coded.cols();
  const Quadratic quadratic = *quadratic_of(fit, Eigen::VectorXd::Zero(k));
  const SecondOrder terms = second_order(fit, quadratic);
  ShapeCertainty certainty;
  certainty.eigenvalue_errors = eigenvalue_errors(fit, terms, fit.stationary_point->eigenvectors);
  const double t = t_quantile(0.95, fit.df_residual);
  for (Eigen::Index e = 0; e < k; ++e) {
    const double value = fit.stationary_point->eigenvalues[e];
    const double half = t * certainty.eigenvalue_errors[e];
    certainty.eigenvalue_intervals.push_back({value - half, value + half});
  }
  const Definite shares = definite_shares(fit, terms, k, draws, seed);
  certainty.maximum = fit.transform == Transform::kInverse ? shares.positive : shares.negative;
  certainty.minimum = fit.transform == Transform::kInverse ? shares.negative : shares.positive;
  certainty.saddle = std::max(0.0, 1 - shares.positive - shares.negative);
  return certainty;
}

}  // namespace doetune::surfaces
