// Nonparametric response surface: a Gaussian process with a polynomial mean.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "doe/model.h"
#include "surfaces/fit.h"
#include "surfaces/models/correlation.h"
#include "surfaces/surface.h"

namespace doetune::surfaces {

/// Covariance parameters of a Gaussian process, relative to its variance.
struct GaussianProcessParameters {
  /// One per factor: the length scale in coded units (l_k of Correlation), or for a categorical
  /// factor the correlation of two levels (rho_c).
  std::vector<double> correlations;
  double noise_ratio = 0;  ///< g: error variance of a run / process variance, > 0
  double nugget = 0;       ///< h: see Correlation; 0 unless estimated
};

struct GaussianProcessOptions {
  Transform transform = Transform::kNone;
  /// Whether a nugget is estimated: variation that neighbours do not share and replicates
  /// reproduce.
  bool with_nugget = false;
  int threads = 0;  ///< the result does not depend on it; 0: all hardware threads
  /// If given, used as they are instead of being estimated.
  std::optional<GaussianProcessParameters> parameters = {};
};

/// z = T(y) = f(x)'b + Z(x) + e: a mean with the columns f of `model`, a process Z of covariance
/// process_sigma^2 r (see Correlation), and independent errors e of variance sigma^2 = g
/// process_sigma^2. With a nugget, h > 0: neighbouring settings differ by more than the noise, as
/// those of real systems do; without runs at the same point the runs cannot tell h from g, and
/// the prior says how likely each is.
///
/// b is integrated out under a flat prior (universal kriging), process_sigma^2 under the prior 1 /
/// process_sigma^2, so that predictions follow Student's t with n - q degrees of freedom, q the
/// columns of the mean; intervals do not account for the estimation of the parameters of r and g.
/// Sources: Rasmussen & Williams (2006), ch. 2.7 and 5; O'Hagan (1978), JRSS B 40, 1; Santner,
/// Williams & Notz (2003), The Design and Analysis of Computer Experiments, 3.3.
struct GaussianProcess final : Surface {
  doe::Model model;  ///< of the mean
  Transform transform = Transform::kNone;
  int n = 0;
  GaussianProcessParameters parameters;
  double process_sigma = 0;  ///< scale of the fit, like everything below
  double sigma = 0;          ///< of a run about the surface
  int df = 0;                ///< n - q
  /// The logarithm of the restricted likelihood, maximised over process_sigma^2.
  double log_likelihood = 0;

  /// Leave-one-out residuals with the parameters unchanged: observed minus predicted, and the same
  /// divided by its standard deviation. Source: Dubrule (1983), Math. Geology 15, 687.
  Eigen::VectorXd loo_residuals, standardised_loo_residuals;
  std::optional<double> press, predicted_r2;  ///< from loo_residuals; empty for constant responses

  Eigen::MatrixXd coded;     ///< n x k points that were fitted
  Eigen::VectorXd observed;  ///< n responses, own unit

  // The mean at x is f(x)'beta + sum_j weights_j r(x, points_j).
  Correlation correlation;                ///< r
  Eigen::VectorXd beta;                   ///< q
  Eigen::MatrixXd points;                 ///< m x k distinct points
  Eigen::VectorXi runs_at;                ///< m: number of runs at each
  std::vector<int> point_of_run;          ///< n
  Eigen::VectorXd weights;                ///< m
  Eigen::LLT<Eigen::MatrixXd> root;       ///< L L' = R + g diag(1 / runs_at)
  Eigen::MatrixXd whitened_mean;          ///< L^-1 F, m x q
  Eigen::LLT<Eigen::MatrixXd> mean_root;  ///< of F' (L L')^-1 F

  /// The part of the surface that neighbours share, as the same runs show it: what lines and
  /// contours draw. With a nugget, the surface itself has a value of its own at each of `points`.
  GaussianProcess smooth() const;

  /// The fraction of runs that lie in their leave-one-out prediction interval.
  double loo_coverage(double level = 0.95) const;

  Prediction predict(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const override;
  double response(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const override;
  /// of_runs is the part due to the errors e of the runs, own the rest.
  MeanErrors mean_errors(const Eigen::MatrixXd& coded_points) const override;
};

/// Maximises the restricted likelihood times weak priors by L-BFGS (Ceres) from several starts:
///
///   ln l_k            ~ N(ln(2 sqrt(k)), 1.5^2)   k numeric factors, whose range is 2
///   ln(-ln rho_c)     ~ N(ln ln 2, 1.5^2)
///   ln(g + h)         ~ N(ln 0.01, 3^2)
///   ln(h / g)         ~ N(0, 2^2)                 with a nugget; else h = 0
///
/// The priors decide where the runs cannot: few runs, responses that do not vary with a factor, or
/// no replicates. Runs at the same point enter by their mean and scatter (Binois, Gramacy &
/// Ludkovski, 2018, J. Comput. Graph. Statist. 27, 808), so that the cost is cubic in the number of
/// points rather than of runs; they also provide a starting value for the noise.
///
/// model  of the mean, e.g. Model::parse({"1"}, factors)
/// coded  n x k points, one row per run     y  n responses, in the response's own unit
/// Throws FitError if a y is not finite or outside the transform's domain, a factor does not vary,
/// the mean alone explains the responses or is not determined by the runs, n < q + 2, or given
/// parameters are out of range.
GaussianProcess fit_gaussian_process(const doe::Model& model, const Eigen::MatrixXd& coded,
                                     const Eigen::VectorXd& y,
                                     const GaussianProcessOptions& options = {});

/// The same process with parameters drawn `count` times from their posterior, the likelihood times
/// the priors above, without leave-one-out residuals. Equal draws are equal processes. Sets
/// `log_marginal_likelihood`, if given, as GaussianProcessPosterior defines it.
std::vector<GaussianProcess> drawn_processes(const GaussianProcess& fit, int count, int threads = 0,
                                             double* log_marginal_likelihood = nullptr);

}  // namespace doetune::surfaces
