// Parametric models: response surfaces of known form in one factor, with interpretable parameters.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doe/factor.h"
#include "surfaces/surface.h"

namespace doetune::surfaces {

struct ModelParameter {
  std::string name, meaning;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  /// Starting values of searches, in units of the geometric mean of the positive x to the power
  /// x_power. The first parameter has none: the model is proportional to it or linear in all, and
  /// it starts at its least-squares value.
  std::vector<double> starts = {};
  double x_power = 0;
};

/// A quantity derived from the parameters. The function returns it, and its gradient if requested;
/// not finite if the quantity does not exist.
struct DerivedQuantity {
  std::string name, meaning;
  std::function<double(const Eigen::VectorXd& parameters, Eigen::VectorXd* gradient)> value;
};

struct ParametricModel {
  std::string name, equation;
  std::vector<ModelParameter> parameters;
  /// The response at x in natural units, and its gradient by the parameters if requested.
  std::function<double(double x, const Eigen::VectorXd& parameters, Eigen::VectorXd* gradient)>
      value;
  std::vector<DerivedQuantity> sizes = {};
};

/// name                   equation
/// amdahl                 y = c / ((1 - p) + p / x)
/// amdahl-time            y = t ((1 - p) + p / x)
/// universal-scalability  y = c x / (1 + a (x - 1) + b x (x - 1))
/// saturation             y = m x / (h + x)
/// exponential-approach   y = m (1 - exp(-r x))
/// fixed-plus-linear      y = f + s x
///
/// Sources: Amdahl (1967), AFIPS Conf. Proc. 30, 483; Gunther (2007), Guerrilla Capacity Planning,
/// ch. 4 to 6; Bates & Watts (1988), Nonlinear Regression Analysis, for saturation (the
/// Michaelis-Menten equation).
const std::vector<ParametricModel>& parametric_models();

/// Throws std::invalid_argument, suggesting the nearest valid name.
const ParametricModel& parametric_model_named(std::string_view name);

struct ParameterEstimate {
  std::string name, meaning;
  std::string level;  ///< of the factor that parameters differ by; empty if none
  double estimate = 0;
  bool at_bound = false;             ///< the estimate is at the end of its range
  std::optional<double> std_error;   ///< empty at a bound and without residual degrees of freedom
  std::optional<double> t;           ///< estimate / std_error
  std::optional<Interval> interval;  ///< estimate +- t quantile std_error, 95 %
};

/// z = T(y) = T(model(x; theta)) + e by nonlinear least squares: the parameters keep their meaning
/// and units under any transform T, which only defines the scale of constant error variance
/// (transform-both-sides). Standard errors are those of the linearised model, s^2 (J'J)^-1 with J =
/// T'(model) d model / d theta at the estimates, s^2 = RSS / (n - p); parameters at a bound count
/// as known. Sources: Bates & Watts (1988), Nonlinear Regression Analysis, ch. 2; Carroll & Ruppert
/// (1984), JASA 79, 321.
struct ParametricFit final : Surface {
  ParametricModel model;
  std::vector<doe::Factor> factors;
  int factor = 0;         ///< index of the factor whose natural setting is x
  std::optional<int> by;  ///< the categorical factor whose levels have separate parameters
  Transform transform = Transform::kNone;
  int n = 0;
  int df_residual = 0;
  std::optional<double> sigma;  ///< on the scale of the fit; empty if n = p
  /// 1 - RSS / total about the mean, on the scale of the fit; negative if the mean fits better.
  double r2 = 0;
  Eigen::MatrixXd parameters;                ///< p x levels (1 without `by`)
  std::vector<ParameterEstimate> estimates;  ///< of the parameters, level by level
  std::vector<ParameterEstimate> sizes;  ///< those that exist, standard errors by the delta method
  std::vector<std::string> notes;        ///< parameters at a bound, sizes that do not exist
  Eigen::VectorXd observed;              ///< n responses, own unit
  Eigen::VectorXd fitted, residuals;     ///< n, scale of the fit
  Eigen::MatrixXd weights_of_runs;       ///< (J'J)^-1 J', p levels x n, levels concatenated
  /// Leave-one-out residuals of each run, on the scale of the fit; empty if the other runs do not
  /// determine the model.
  std::optional<Eigen::VectorXd> loo_residuals;

  /// If the model is outside the domain of T, the end of its domain, without intervals.
  Prediction predict(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const override;
  double response(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const override;
  MeanErrors mean_errors(const Eigen::MatrixXd& points) const override;
};

/// Levenberg-Marquardt within the parameters' ranges (Ceres) from every combination of starts.
///
/// factor  name of the numeric factor x       by  name of a categorical factor, or empty
/// coded   n x k points, one row per run      y   n responses, in the response's own unit
/// Throws FitError if a y or the model at a run is not finite or outside the transform's domain, or
/// runs (of a level) do not identify the parameters, naming them; std::invalid_argument for a
/// factor of the wrong kind or an unknown factor.
ParametricFit fit_parametric_model(const ParametricModel& parametric,
                                   const std::vector<doe::Factor>& factors, std::string_view factor,
                                   const Eigen::MatrixXd& coded, const Eigen::VectorXd& y,
                                   std::string_view by = {},
                                   Transform transform = Transform::kNone);

}  // namespace doetune::surfaces
