// Least-squares fit of a polynomial response surface and its statistics.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "doe/model.h"
#include "doe/response.h"
#include "surfaces/split_plot.h"
#include "surfaces/surface.h"
#include "surfaces/variance_model.h"

namespace doetune::surfaces {

inline constexpr double kSignificant = 0.05;  ///< significance level of the tests

/// One coefficient in coded units. Values that need an error estimate are empty if there is none.
struct Coefficient {
  std::string term;  ///< a column of the model matrix, "1", "a", "a*b", "precision[fp32]"
  double estimate = 0;
  std::optional<double> std_error = {}, t = {}, p = {};
  /// Variance relative to that with orthogonal columns, blocks included; none for "1". A term of m
  /// columns (categorical factors) has a single value, GVIF^(1/m), which does not depend on the
  /// choice of contrasts. Source: Fox & Monette (1992), JASA 87, 178.
  std::optional<double> vif = {};
  std::optional<double> df = {};  ///< of t; fractional for runs in whole plots
};

struct NaturalCoefficient {
  std::string term;  ///< in natural units; a log-scaled factor appears as "log2(a)"
  double estimate = 0;
  std::optional<double> std_error;
};

/// A row of the analysis of variance. Sources: "blocks" if there are any, "model" and its parts
/// "first order", "two-way interactions", "pure quadratic", "third order and above" (sequential
/// sums of squares), "residual" and its parts "lack of fit" and "pure error", "total" (about the
/// mean; about zero for a model without the term 1). Runs are weighted. Sums of squares within the
/// rounding of the responses are 0, and nothing is tested against an error of 0.
struct AnovaRow {
  std::string source;
  int df = 0;
  double sum_of_squares = 0;
  std::optional<double> mean_square, f, p;
};

/// Lack of fit against pure error from replicated points: f = (SS_lof / df) / (SS_pe / df_pure).
struct LackOfFit {
  int df = 0;
  int df_pure_error = 0;
  double f = 0;
  double p = 0;
};

/// The stationary point of a quadratic and the shape there (numeric factors only). Source: Myers,
/// Montgomery & Anderson-Cook, Response Surface Methodology, ch. 6.
struct StationaryPoint {
  Eigen::VectorXd coded;
  std::vector<double> settings;  ///< natural units, not snapped
  double value = 0;              ///< predicted response there
  std::string kind;              ///< of the response: maximum, minimum, saddle or ridge
  /// Eigenvalues of the matrix of second-order coefficients, ascending, on the scale of the fit:
  /// with transform inverse they are positive at a maximum of the response.
  Eigen::VectorXd eigenvalues;
  Eigen::MatrixXd eigenvectors;  ///< columns, in the order of the eigenvalues
  bool inside_region = false;    ///< within the coded cube
};

using doe::Loss;

/// A fit of z = T(y) by z = X b + e, X in coded units. b minimises RSS = sum w (z - X b)^2 with the
/// weights w of the runs (1 unless given); s^2 = RSS / (n - p) is the variance of a run of weight
/// 1, s^2 / w_i that of run i. With blocks, X also has their contrasts: fitted values include the
/// block effect, predictions are for the average block, and R2 is relative to the variation within
/// blocks. Without the term 1, R2 is relative to the sum of squares about zero.
///
/// With whole plots there are two errors (split_plot), and b minimises (z - X b)' H^-1 (z - X b).
/// Then sigma is that of a run in a new whole plot, sqrt(s_w^2 + s^2); standard errors, sigma^2
/// times unscaled_covariance and df are Kenward & Roger's; AICc is 2K + 2K(K+1)/(n-K-1) minus twice
/// the log likelihood (full, at its own maximum), K = p+2; r2 is that of the fixed effects.
/// Statistics that need a single error are empty: analysis of variance, lack of fit, adjusted_r2,
/// PRESS, adequate precision.
struct Fit final : Surface {
  doe::Model model;
  Transform transform = Transform::kNone;
  int n = 0;
  int df_residual = 0;          ///< n - p
  std::optional<double> sigma;  ///< empty when n == p
  double r2 = 0;                ///< on the scale of the fit, like everything below
  std::optional<double> adjusted_r2;
  /// sum w (e / (1 - leverage))^2; empty if a run has leverage 1.
  std::optional<double> press, predicted_r2;
  /// n ln(2 pi RSS/n) + n - sum ln w + 2K + 2K(K+1)/(n-K-1), K = p+1.
  std::optional<double> aicc;
  std::optional<double> adequate_precision;  ///< range of fitted values / their mean standard error
  std::vector<Coefficient> coefficients;     ///< one per column of the model
  std::vector<Coefficient> block_effects;    ///< "block[2]": relative to the average block; all but
                                             ///< the first
  std::vector<NaturalCoefficient> natural_coefficients;
  std::vector<AnovaRow> anova;
  std::optional<LackOfFit> lack_of_fit;
  /// Why lack of fit cannot be tested: "no replicated runs", "replicated runs agree exactly", "no
  /// residual freedom beyond replicated runs" or "not tested with whole plots"; empty if it is
  /// tested.
  std::string lack_of_fit_problem;
  std::optional<StationaryPoint> stationary_point;
  std::optional<SplitPlot> split_plot;  ///< of runs in whole plots
  std::vector<std::string> notes;       ///< warnings for the reader, "all responses are equal: ..."

  Eigen::VectorXd beta;                   ///< p estimates
  Eigen::MatrixXd unscaled_covariance;    ///< (X'WX)^-1; covariance of b is s^2 times it
  Eigen::MatrixXd weights_of_runs;        ///< p x n: b = weights_of_runs z
  Eigen::MatrixXd coded;                  ///< n x k points that were fitted
  std::vector<int> blocks;                ///< n block numbers; empty without blocks
  Eigen::VectorXd weights;                ///< n; empty: all 1
  std::optional<VarianceModel> variance;  ///< sigma^2 times it is the variance of a future run
  Loss loss = Loss::kSquares;
  Eigen::VectorXd counts;     ///< n, robust: the fraction of its weight that each run keeps
  Eigen::VectorXd observed;   ///< n responses, own unit
  Eigen::VectorXd fitted;     ///< n, scale of the fit
  Eigen::VectorXd residuals;  ///< n, scale of the fit
  Eigen::VectorXd leverage;   ///< n, diagonal of the hat matrix
  Eigen::VectorXd studentised_residuals;  ///< n, e sqrt(w) / (s sqrt(1 - leverage)); 0: undefined

  Prediction predict(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const override;
  double response(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const override;
  /// For runs in whole plots e are the whitened errors H^-1/2 (Zu + e) / s, one per run; the
  /// Kenward-Roger term for the estimated variances is in `own`.
  MeanErrors mean_errors(const Eigen::MatrixXd& points) const override;
  Eigen::VectorXd responses(const Eigen::MatrixXd& points) const override;
  std::vector<Prediction> predictions(const Eigen::MatrixXd& points) const override;
  Eigen::VectorXd run_residuals() const override { return residuals; }
  std::optional<QuadraticForm> quadratic(
      const Eigen::Ref<const Eigen::VectorXd>& coded_point) const override;

  /// Whether the model has the term 1.
  bool has_intercept() const;
};

/// Thrown if the runs cannot support the fit; the message names the aliased terms or the value.
struct FitError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Options of a fit besides model, points and responses.
struct FitOptions {
  Transform transform = Transform::kNone;
  std::vector<int> blocks = {};  ///< n block numbers; empty: a single block
  /// n numbers: runs with the same number share a whole-plot error; empty: all are independent.
  std::vector<int> whole_plots = {};
  /// n, > 0: run i has the variance sigma^2 / weight. Empty: all 1.
  Eigen::VectorXd weights = {};
  /// The relative variance of a run at each point (times sigma^2): weights are divided by it, and
  /// the sigma of a prediction depends on the point.
  std::optional<VarianceModel> variance = {};
  Loss loss = Loss::kSquares;
  /// n x k settings in natural units that `coded` represents. If given, the points are coded again
  /// in extended precision, without which coefficients far below the error lose digits.
  Eigen::MatrixXd settings = {};
};

/// QR decomposition of the coded columns, centred if the model has the term 1, with a
/// column-pivoted QR for the rank; in extended precision if the problem is small or
/// ill-conditioned.
///
/// coded  n x k points, one row per run     y  n responses, in the response's own unit
/// Throws FitError if X has rank below p or n < p (naming each aliased term and what it is aliased
/// with, a factor that never varies, or blocks), a y is not finite or outside the domain of the
/// transform, a weight is not positive, or a robust loss finds no scale; with whole plots also if
/// there are no degrees of freedom for the error between or within them.
Fit fit_least_squares(const doe::Model& model, const Eigen::MatrixXd& coded,
                      const Eigen::VectorXd& y, const FitOptions& options = {});

}  // namespace doetune::surfaces
