#include "surfaces/models/parametric_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "base/nearest_name.h"
#include "surfaces/distributions.h"
#include "surfaces/fit.h"
#include "surfaces/least_squares/fit_parts.h"
#include "surfaces/models/parametric_search.h"

namespace doetune::surfaces {
namespace {

int factor_named(const std::vector<doe::Factor>& factors, std::string_view name, bool categorical) {
  std::vector<std::string> names;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    names.push_back(factors[f].name);
    if (factors[f].name != name) continue;
    if (factors[f].is_categorical() == categorical) return static_cast<int>(f);
    throw std::invalid_argument(fmt::format(
        "a parametric model needs a {} factor here, but {} is {}",
        categorical ? "categorical" : "numeric", name, categorical ? "numeric" : "categorical"));
  }
  throw std::invalid_argument(
      fmt::format("there is no factor '{}'{}", name, did_you_mean_or_list(name, names)));
}

int level_count(const ParametricFit& fit) {
  return fit.by ? static_cast<int>(fit.factors[*fit.by].level_names.size()) : 1;
}

int level_of(const ParametricFit& fit, const Eigen::Ref<const Eigen::VectorXd>& point) {
  return fit.by ? static_cast<int>(std::lround(point[*fit.by])) : 0;
}

/// " of level fp16" if parameters differ by level.
std::string of_level(const ParametricFit& fit, int level) {
  return fit.by ? " of level " + fit.factors[*fit.by].level_names[level] : "";
}

/// The value of the model in the response's own unit.
double value_of(const ParametricFit& fit, const Eigen::Ref<const Eigen::VectorXd>& point) {
  const double x = fit.factors[fit.factor].to_natural(point[fit.factor]);
  return fit.model.value(x, fit.parameters.col(level_of(fit, point)), nullptr);
}

bool at_bound(const ModelParameter& parameter, double value) {
  return value == parameter.low || value == parameter.high;
}

/// The runs of one level, with their indices.
struct LevelRuns : ParametricRuns {
  std::vector<int> runs = {};
};

LevelRuns runs_of(const ParametricFit& fit, const Eigen::MatrixXd& coded, const Eigen::VectorXd& z,
                  int level) {
  LevelRuns result{{fit.model, fit.transform, {}, {}}};
  std::vector<double> x;
  for (int i = 0; i < fit.n; ++i) {
    if (level_of(fit, coded.row(i).transpose()) != level) continue;
    result.runs.push_back(i);
    x.push_back(fit.factors[fit.factor].to_natural(coded(i, fit.factor)));
  }
  result.x = Eigen::VectorXd::Map(x.data(), static_cast<Eigen::Index>(x.size()));
  result.z = z(result.runs);
  return result;
}

Eigen::Index different_values(const Eigen::VectorXd& x) {
  return static_cast<Eigen::Index>(std::set(x.begin(), x.end()).size());
}

void check_runs(const ParametricFit& fit, const LevelRuns& level, int number) {
  const auto p = static_cast<Eigen::Index>(fit.model.parameters.size());
  if (level.x.size() < p) {
    throw FitError(fmt::format("{} runs{} cannot determine the {} parameters of the model {}",
                               level.x.size(), of_level(fit, number), p, fit.model.name));
  }
  const Eigen::Index settings = different_values(level.x);
  if (settings < p) {
    throw FitError(fmt::format(
        "runs{} at {} settings of {} do not identify the {} parameters of the model {}: add runs "
        "at other settings",
        of_level(fit, number), settings, fit.factors[fit.factor].name, p, fit.model.name));
  }
  const Eigen::VectorXd halves = Eigen::VectorXd::Constant(p, 0.5);  // within all parameter ranges
  Eigen::VectorXd gradient;
  for (const double x : level.x) {
    if (std::isfinite(fit.model.value(x, halves, &gradient)) && gradient.allFinite()) continue;
    throw FitError(fmt::format("the model {} ({}) has no value at {} = {}", fit.model.name,
                               fit.model.equation, fit.factors[fit.factor].name, x));
  }
}

/// (J'J)^-1 J' over the parameters that are not at a bound, 0 for the others. Throws FitError if J
/// is rank-deficient.
Eigen::MatrixXd weights_of_level(const ParametricFit& fit, const LevelRuns& level, int number) {
  const Eigen::VectorXd theta = fit.parameters.col(number);
  std::vector<int> free;
  for (int j = 0; j < theta.size(); ++j) {
    if (!at_bound(fit.model.parameters[j], theta[j])) free.push_back(j);
  }
  Eigen::MatrixXd jacobian(level.x.size(), theta.size());
  Eigen::VectorXd gradient;
  for (Eigen::Index i = 0; i < level.x.size(); ++i) {
    model_on_scale(fit.model, fit.transform, level.x[i], theta, &gradient);
    jacobian.row(i) = gradient;
  }
  Eigen::MatrixXd scaled = jacobian(Eigen::all, free);
  const Eigen::RowVectorXd norms = scaled.colwise().norm();
  for (Eigen::Index j = 0; j < scaled.cols(); ++j) {
    if (norms[j] > 0) scaled.col(j) /= norms[j];
  }
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(scaled, Eigen::ComputeThinU | Eigen::ComputeThinV);
  std::vector<std::string> unknown;
  for (Eigen::Index j = 0; j < scaled.cols(); ++j) {
    const double fraction = (svd.singularValues().array() < 1e-8)
                                .select(svd.matrixV().row(j).transpose(), 0)
                                .matrix()
                                .norm();
    if (fraction > 1e-3) unknown.push_back(fit.model.parameters[free[j]].name);
  }
  if (!unknown.empty()) {
    throw FitError(fmt::format(
        "the runs{} do not identify {} of the model {} ({}): add runs at other settings of {}",
        of_level(fit, number), fmt::join(unknown, ", "), fit.model.name, fit.model.equation,
        fit.factors[fit.factor].name));
  }
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(theta.size(), level.x.size());
  weights(free, Eigen::all) = norms.cwiseInverse().asDiagonal() * svd.matrixV() *
                              svd.singularValues().cwiseInverse().asDiagonal() *
                              svd.matrixU().transpose();
  return weights;
}

void add_errors(const ParametricFit& fit, double unscaled_error, ParameterEstimate& row) {
  if (!fit.sigma) return;
  row.std_error = *fit.sigma * unscaled_error;
  if (*row.std_error > 0) row.t = row.estimate / *row.std_error;
  const double half_width = t_quantile(0.95, fit.df_residual) * *row.std_error;
  row.interval = Interval{row.estimate - half_width, row.estimate + half_width};
}

void describe_level(ParametricFit& fit, int level) {
  const auto p = static_cast<int>(fit.model.parameters.size());
  const Eigen::MatrixXd weights = fit.weights_of_runs.middleRows(level * p, p);
  const std::string name = fit.by ? fit.factors[*fit.by].level_names[level] : "";
  for (int j = 0; j < p; ++j) {
    const ModelParameter& parameter = fit.model.parameters[j];
    ParameterEstimate row{
        parameter.name, parameter.meaning, name, fit.parameters(j, level), false, {}, {}, {}};
    row.at_bound = at_bound(parameter, row.estimate);
    if (!row.at_bound) add_errors(fit, weights.row(j).norm(), row);
    if (row.at_bound) {
      fit.notes.push_back(fmt::format("{}{} lies at the end of its range, {:.6g}: {}",
                                      parameter.name, of_level(fit, level), row.estimate,
                                      parameter.meaning));
    }
    fit.estimates.push_back(std::move(row));
  }
  for (const DerivedQuantity& size : fit.model.sizes) {
    Eigen::VectorXd gradient;
    const double value = size.value(fit.parameters.col(level), &gradient);
    if (!std::isfinite(value) || !gradient.allFinite()) {
      fit.notes.push_back(
          fmt::format("there is no {}{}: {}", size.name, of_level(fit, level), size.meaning));
      continue;
    }
    ParameterEstimate row{size.name, size.meaning, name, value, false, {}, {}, {}};
    add_errors(fit, (gradient.transpose() * weights).norm(), row);
    fit.sizes.push_back(std::move(row));
  }
}

/// Each by a fit to the other runs that starts from the estimates.
std::optional<Eigen::VectorXd> left_out_residuals(const ParametricFit& fit, const LevelRuns& level,
                                                  int number) {
  const Eigen::Index count = level.x.size();
  Eigen::VectorXd residuals(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    std::vector<Eigen::Index> kept;
    for (Eigen::Index j = 0; j < count; ++j) {
      if (j != i) kept.push_back(j);
    }
    const ParametricRuns others{fit.model, fit.transform, level.x(kept), level.z(kept)};
    if (different_values(others.x) < fit.parameters.rows()) return std::nullopt;
    const Eigen::VectorXd theta = improved_parameters(others, fit.parameters.col(number));
    residuals[i] =
        level.z[i] - model_on_scale(fit.model, fit.transform, level.x[i], theta, nullptr);
  }
  return residuals;
}

void fit_level(ParametricFit& fit, const LevelRuns& level, int number) {
  const auto p = static_cast<Eigen::Index>(fit.model.parameters.size());
  check_runs(fit, level, number);
  const Eigen::VectorXd theta = best_parameters(level);
  if (theta.size() == 0) {
    throw FitError(fmt::format(
        "no parameters of the model {} ({}) were found for which transform '{}' is defined at all "
        "runs{}",
        fit.model.name, fit.model.equation, transform_name(fit.transform), of_level(fit, number)));
  }
  fit.parameters.col(number) = theta;
  fit.fitted(level.runs) = model_values(level, theta);
  const Eigen::MatrixXd weights = weights_of_level(fit, level, number);
  for (std::size_t i = 0; i < level.runs.size(); ++i) {
    fit.weights_of_runs.block(number * p, level.runs[i], p, 1) =
        weights.col(static_cast<Eigen::Index>(i));
  }
  const auto left_out = left_out_residuals(fit, level, number);
  if (!left_out) fit.loo_residuals.reset();
  if (fit.loo_residuals) (*fit.loo_residuals)(level.runs) = *left_out;
}

}  // namespace

ParametricFit fit_parametric_model(const ParametricModel& parametric,
                                   const std::vector<doe::Factor>& factors, std::string_view factor,
                                   const Eigen::MatrixXd& coded, const Eigen::VectorXd& y,
                                   std::string_view by, Transform transform) {
  const Eigen::VectorXd z = transformed_responses(y, transform);
  ParametricFit fit;
  fit.model = parametric;
  fit.factors = factors;
  fit.factor = factor_named(factors, factor, false);
  if (!by.empty()) fit.by = factor_named(factors, by, true);
  fit.transform = transform;
  fit.n = static_cast<int>(y.size());
  fit.observed = y;
  fit.fitted.resize(fit.n);
  const auto p = static_cast<Eigen::Index>(parametric.parameters.size());
  fit.parameters.resize(p, level_count(fit));
  fit.weights_of_runs = Eigen::MatrixXd::Zero(p * level_count(fit), fit.n);
  fit.loo_residuals = Eigen::VectorXd(fit.n);
  for (int level = 0; level < level_count(fit); ++level) {
    fit_level(fit, runs_of(fit, coded, z, level), level);
  }
  fit.residuals = z - fit.fitted;
  const double rss = fit.residuals.squaredNorm();
  const double total = (z.array() - z.mean()).square().sum();
  fit.r2 = total > 0 ? 1 - rss / total : 0;
  fit.df_residual = fit.n - static_cast<int>(p) * level_count(fit);
  if (fit.df_residual > 0) fit.sigma = std::sqrt(rss / fit.df_residual);
  for (int level = 0; level < level_count(fit); ++level) describe_level(fit, level);
  return fit;
}

double ParametricFit::response(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const {
  return back_transformed(transform, transformed_or_end(transform, value_of(*this, coded_point)));
}

Prediction ParametricFit::predict(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const {
  const double y = value_of(*this, coded_point);
  const MeanErrors errors = mean_errors(coded_point.transpose());
  const bool known = sigma && has_value(transform, y);
  return {transformed_or_end(transform, y), errors.of_runs.norm(), sigma.value_or(0),
          known ? static_cast<double>(df_residual) : 0, transform};
}

MeanErrors ParametricFit::mean_errors(const Eigen::MatrixXd& points) const {
  MeanErrors errors{Eigen::MatrixXd::Zero(points.rows(), n), Eigen::MatrixXd(points.rows(), 0)};
  Eigen::VectorXd gradient;
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    const int level = level_of(*this, points.row(i).transpose());
    const double x = factors[factor].to_natural(points(i, factor));
    const double z = model_on_scale(model, transform, x, parameters.col(level), &gradient);
    if (std::isnan(z)) continue;
    errors.of_runs.row(i) = sigma.value_or(0) * gradient.transpose() *
                            weights_of_runs.middleRows(level * gradient.size(), gradient.size());
  }
  return errors;
}

}  // namespace doetune::surfaces
